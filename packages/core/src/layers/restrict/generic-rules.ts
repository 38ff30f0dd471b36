import { checkBoolean, checkInteger, checkOptions } from '../../engine/arguments.js';
import type { Aim } from '../../engine/composed-guard.js';
import type { Access } from '../../engine/guard.js';
import { checkListing, listed, listedAll } from '../../engine/operations/read.js';
import { noCheckpoint, wantedCheckpoint } from '../../engine/wanted-checkpoint.js';
import type { Dirent, EntryInfo, FileEntry, Stats } from '../../entry.js';
import { FsError, isFsError } from '../../errors.js';
import type {
  Checkpoint,
  EntriesOptions,
  FileSystem,
  ForkOptions,
  OpenHow,
  ReaddirOptions,
  VersionOptions,
  WalkOptions,
} from '../../file-system.js';
import type { FileSystemStats } from '../../limits.js';
import { joinPath, normalizePath, parentPath } from '../../paths.js';
import { type CallSequence, invoke, withFilterFor } from '../call-sequence.js';
import type { Call } from '../intercept.js';
import type { MethodName, PathUse } from '../method-table.js';
import { type Arrival, arrive, askAbout } from './generic-path.js';
import { type GuardChain, REFUSED } from './guard-chain.js';

/** A rule's result: forward the call with rewritten arguments, or return a value directly. */
export type Outcome =
  | {
      readonly args: readonly unknown[];
      readonly places: readonly Place[];
      readonly answer?: (result: unknown) => unknown;
    }
  | { readonly value: unknown };

/** A path as given, and its resolved end. */
export interface Place extends Arrival {
  readonly given: string;
}

export type FileSystemCall = Extract<Call, { on: 'fileSystem' }>;
type RuleOf = (call: FileSystemCall) => CallSequence<Outcome>;

/**
 * Reports whether nothing has to be checked: the call only looks or reads, no guard hides anything, and all of them
 * allow its accesses on every path.
 */
export function isFree({ spec, args, name }: FileSystemCall, guards: GuardChain): boolean {
  if (guards.hides || spec.whole !== 'nothing' || spec.answers !== 'plain') return false;
  const uses = spec.paths(args);
  const isSimple = uses.every(({ access }) => access === 'look' || access === 'read') && name !== 'access';
  return isSimple && uses.every(({ access }) => guards.permits(access, spec.syscall));
}

/**
 * Guards the methods of any filesystem. Paths are resolved here, so that the lower filesystem has no links to follow. A
 * method without its own rule uses the method table; one that does more than access paths is refused.
 */
export class GenericRules {
  readonly #guards: GuardChain;
  /** Ids of the checkpoints made through the restricted filesystem. */
  readonly #own: Set<string>;
  readonly #rules: Readonly<Partial<Record<MethodName, RuleOf>>>;

  constructor(guards: GuardChain, own: Set<string>) {
    this.#guards = guards;
    this.#own = own;
    const rules: Partial<Record<MethodName, RuleOf>> = {
      exists: (call) => this.#asked(call),
      isFile: (call) => this.#asked(call),
      isDirectory: (call) => this.#asked(call),
      access: (call) => this.#access(call),
      readdir: (call) => this.#readdir(call),
      entries: (call) => this.#entries(call),
      mkdir: (call) => this.#mkdir(call),
      mkdtemp: (call) => this.#mkdtemp(call),
      editFile: (call) => this.#also(call, 'read'),
      open: (call) => (readsToo(call.args[1]) ? this.#also(call, 'read') : this.#plain(call)),
      rm: (call) => this.#rm(call),
      rename: (call) => this.#pair(call),
      link: (call) => this.#pair(call),
      cp: (call) => this.#cp(call),
      stats: (call) => this.#stats(call),
      checkpoint: (call) => this.#checkpoint(call),
      checkpoints: (call) => this.#checkpoints(call),
      rollback: (call) => this.#rollback(call),
      drop: (call) => this.#drop(call),
      at: (call) => this.#ofCheckpoint(call, call.args[0] as Checkpoint | string),
      fork: (call) => this.#ofCheckpoint(call, (call.args[0] as ForkOptions | undefined)?.from),
      transaction: (call) => pass(call),
      run: (call) => pass(call),
      iterate: (call) => pass(call),
      compare: (call) => pass(call),
    };
    this.#rules = rules;
  }

  *of(call: FileSystemCall): CallSequence<Outcome> {
    const rule = this.#rules[call.name];
    if (rule !== undefined) return this.#withVersion(call, yield* rule(call));
    if (call.spec.whole === 'nothing') return this.#withVersion(call, yield* this.#plain(call));
    throw new FsError('ENOTSUP', { syscall: call.spec.syscall, hint: 'A restricted filesystem does not have it' });
  }

  /**
   * Asks the guards for the access `look` too if the call has `ifVersion`: its outcome depends on the entry's version.
   */
  #withVersion(call: FileSystemCall, outcome: Outcome): Outcome {
    const { ifVersion } = Object(call.args.at(-1)) as VersionOptions;
    if (ifVersion !== undefined && 'places' in outcome) this.#ask(call, outcome.places[0] as Place, 'look');
    return outcome;
  }

  *#place(call: FileSystemCall, use: PathUse, makesParents = false, guards = this.#guards): CallSequence<Place> {
    const { follow, path, access, makes } = use;
    const aim = { access, syscall: call.spec.syscall, given: path, makes };
    const place = yield* arrive(call.target, guards, path, { follow, makesParents }, aim);
    askAbout(guards, place.path, aim, place.stats);
    return { ...place, given: path };
  }

  *#plain(call: FileSystemCall): CallSequence<{ args: unknown[]; places: Place[] }> {
    const args = [...call.args];
    const places: Place[] = [];
    for (const use of call.spec.paths(call.args)) {
      const place = yield* this.#place(call, use);
      args[use.at] = place.path;
      places.push(place);
    }
    return { args, places };
  }

  /** Runs the common rule, and also checks another access to the entry that the call's first path leads to. */
  *#also(call: FileSystemCall, access: Access): CallSequence<Outcome> {
    const outcome = yield* this.#plain(call);
    this.#ask(call, outcome.places[0] as Place, access);
    return outcome;
  }

  #ask(call: FileSystemCall, place: Place, access: Access): void {
    const [use] = call.spec.paths(call.args);
    const aim: Aim = { access, syscall: call.spec.syscall, given: place.given, makes: use?.makes };
    askAbout(this.#guards, place.path, aim, place.stats);
  }

  /** Checks a method that returns false for a path that leads nowhere or that the guards refuse. */
  *#asked(call: FileSystemCall): CallSequence<Outcome> {
    const [use] = call.spec.paths(call.args) as [PathUse];
    try {
      const place = yield* this.#place(call, use, false, this.#guards.quiet());
      return { args: [place.path, ...call.args.slice(1)], places: [place] };
    } catch (error) {
      if (error === REFUSED || isFsError(error)) return { value: false };
      throw error;
    }
  }

  *#access(call: FileSystemCall): CallSequence<Outcome> {
    const outcome = yield* this.#plain(call);
    const [place] = outcome.places as [Place];
    if (place.stats !== undefined && (Number(call.args[1] ?? 0) & 2) !== 0) this.#ask(call, place, 'write');
    return outcome;
  }

  *#readdir(call: FileSystemCall): CallSequence<Outcome> {
    const { args, places } = yield* this.#plain(call);
    const [{ path, given }] = places as [Place];
    const { isTyped, isRecursive } = checkListing(args[1] as ReaddirOptions | undefined);
    if (isRecursive) return { value: listedAll(given, yield* this.walk(call.target, path), isTyped) };
    const dirents = yield* invoke<Dirent[]>(call.target, 'readdir', [path], { withFileTypes: true });
    return { value: this.#visible(path, dirents).map(({ name, kind }) => listed(given, name, name, kind, isTyped)) };
  }

  *#entries(call: FileSystemCall): CallSequence<Outcome> {
    const { args, places } = yield* this.#plain(call);
    const [{ path, given }] = places as [Place];
    const { content } = checkOptions(args[1] as EntriesOptions | undefined, ['content'], 'entries');
    const withContent = checkBoolean(content, 'content');
    const infos = this.#visible(path, yield* invoke<EntryInfo[]>(call.target, 'entries', [path]));
    return { value: withContent ? yield* this.#contents(call, infos, given) : infos };
  }

  #visible<E extends Dirent | EntryInfo>(path: string, listed: readonly E[]): E[] {
    return listed.filter(({ name, kind }) => this.#guards.isKindVisible(joinPath(path, name), kind));
  }

  *#contents(call: FileSystemCall, infos: readonly EntryInfo[], given: string): CallSequence<FileEntry[]> {
    for (const { path, kind, size } of infos) {
      if (kind === 'file') this.#guards.ask({ path, access: 'read', kind, size, syscall: 'open', given });
    }
    const entries: FileEntry[] = [];
    for (const { path } of infos) entries.push(yield* invoke<FileEntry>(call.target, 'getEntry', [path]));
    return entries;
  }

  *#mkdir(call: FileSystemCall): CallSequence<Outcome> {
    const [use] = call.spec.paths(call.args) as [PathUse];
    const isRecursive = use.follow;
    if (!isRecursive) return yield* this.#plain(call);
    const { path: given } = use;
    const aim: Aim = { access: 'write', syscall: 'mkdir', given, makes: 'directory' };
    const place = yield* arrive(call.target, this.#guards, given, { follow: true, makesParents: true }, aim);
    if (place.stats?.kind === 'directory') askAbout(this.#guards, place.path, { ...aim, access: 'look' }, place.stats);
    else for (const path of [...place.missing, place.path]) askAbout(this.#guards, path, aim, undefined);
    const args = [place.path, ...call.args.slice(1)];
    const answer = (first: unknown): unknown =>
      first === undefined ? undefined : above(normalizePath(given), place.missing.length);
    return { args, places: [{ ...place, given }], answer };
  }

  /** Checks `mkdtemp`, with stand-ins for the random characters, because the prefix alone may end in a slash. */
  *#mkdtemp(call: FileSystemCall): CallSequence<Outcome> {
    const [use] = call.spec.paths(call.args) as [PathUse];
    if (typeof use.path !== 'string') return { args: call.args, places: [] };
    const place = yield* this.#place(call, { ...use, path: `${use.path}${RANDOM_PART}` });
    const prefix = place.path.slice(0, -RANDOM_PART.length);
    return { args: [prefix, ...call.args.slice(1)], places: [{ ...place, path: prefix, given: use.path }] };
  }

  *#rm(call: FileSystemCall): CallSequence<Outcome> {
    const [use] = call.spec.paths(call.args) as [PathUse];
    const { recursive, force } = (call.args[1] ?? {}) as { recursive?: unknown; force?: unknown };
    let place: Place;
    try {
      place = yield* this.#place(call, force === true ? { ...use, access: 'look' } : use);
    } catch (error) {
      if (force === true && isFsError(error, 'ENOENT') && error.constructor === FsError) return { value: undefined };
      throw error;
    }
    if (force === true && place.stats !== undefined) this.#ask(call, place, 'remove');
    if (recursive === true) yield* this.#tree(call, place, 'remove', place);
    return { args: [place.path, ...call.args.slice(1)], places: [place] };
  }

  /** Checks `rename` and `link`, whose second path will lead to the node of the first. */
  *#pair(call: FileSystemCall): CallSequence<Outcome> {
    const [one, two] = call.spec.paths(call.args) as [PathUse, PathUse];
    const from = yield* this.#place(call, one);
    const to = yield* this.#place(call, { ...two, makes: from.stats?.kind });
    if (call.name === 'rename') {
      if (to.stats !== undefined && to.path !== from.path) this.#ask(call, to, 'remove');
      yield* this.#tree(call, from, 'remove', from);
      yield* this.#tree(call, from, 'write', to);
    }
    return { args: [from.path, to.path, ...call.args.slice(2)], places: [from, to] };
  }

  *#cp(call: FileSystemCall): CallSequence<Outcome> {
    const [one, two] = call.spec.paths(call.args) as [PathUse, PathUse];
    const from = yield* this.#place(call, one);
    const to = yield* this.#place(call, { ...two, makes: from.stats?.kind }, true);
    const aim: Aim = { access: 'write', syscall: 'cp', given: to.given, makes: 'directory' };
    for (const path of to.missing) askAbout(this.#guards, path, aim, undefined);
    yield* this.#tree(call, from, 'read', from);
    yield* this.#tree(call, from, 'write', to);
    const [, , options, ...rest] = call.args;
    const given = withFilterFor(options, { ...from, inner: from.path }, { ...to, inner: to.path });
    return { args: [from.path, to.path, given, ...rest], places: [from, to] };
  }

  /** Checks everything under a directory, at its current or future place. */
  *#tree(call: FileSystemCall, top: Place, access: Access, at: Place): CallSequence<void> {
    if (top.stats?.kind !== 'directory' || this.#guards.covers(at.path, access)) return;
    const { syscall } = call.spec;
    const { given } = at;
    for (const info of yield* everything(call.target, top.path)) {
      const { kind } = info;
      const path = joinPath(at.path, info.path.slice(top.path === '/' ? 1 : top.path.length + 1));
      const size = kind === 'file' && at === top ? info.size : undefined;
      this.#guards.ask({ path, access, kind, size, syscall, given });
    }
  }

  *#stats(call: FileSystemCall): CallSequence<Outcome> {
    if (!this.#guards.hides) return pass0(call);
    const sum = { totalSize: 0, fileCount: 0, directoryCount: 0 };
    const seen = new Set<string>();
    for (const { path, kind, size, links } of yield* this.walk(call.target, '/')) {
      if (kind === 'directory') sum.directoryCount += 1;
      else sum.fileCount += 1;
      if (kind !== 'directory' && links > 1) {
        const { dev, ino } = yield* invoke<Stats>(call.target, 'lstat', [path]);
        if (seen.has(`${dev}:${ino}`)) continue;
        seen.add(`${dev}:${ino}`);
      }
      sum.totalSize += size;
    }
    const value: FileSystemStats = { ...sum, nodeCount: sum.fileCount + sum.directoryCount };
    return { value };
  }

  /** Returns the visible entries under a checked path. */
  *walk(target: FileSystem, start: string, maxDepth = Number.POSITIVE_INFINITY): CallSequence<EntryInfo[]> {
    return yield* everything(target, start, maxDepth, (path, kind) => this.#guards.isKindVisible(path, kind));
  }

  *walkFrom(call: FileSystemCall): CallSequence<EntryInfo[]> {
    const [use] = call.spec.paths(call.args) as [PathUse];
    const { maxDepth } = checkOptions(call.args[1] as WalkOptions | undefined, ['maxDepth'], 'walk');
    const depth = maxDepth === undefined ? undefined : checkInteger(maxDepth, 'maxDepth', 1);
    const { path, stats } = yield* this.#place(call, use);
    const details = { syscall: call.spec.syscall, path: use.path };
    if (stats === undefined) throw new FsError('ENOENT', details);
    if (stats.kind !== 'directory') throw new FsError('ENOTDIR', details);
    return yield* this.walk(call.target, path, depth);
  }

  *#checkpoint(call: FileSystemCall): CallSequence<Outcome> {
    this.#guards.checkState('checkpoint');
    const answer = (result: unknown): unknown => {
      this.#own.add((result as Checkpoint).id);
      return result;
    };
    return { args: call.args, places: [], answer };
  }

  *#checkpoints(call: FileSystemCall): CallSequence<Outcome> {
    if (!this.#guards.hides) return pass0(call);
    const answer = (result: unknown): unknown => (result as Checkpoint[]).filter(({ id }) => this.#own.has(id));
    return { args: call.args, places: [], answer };
  }

  // biome-ignore lint/correctness/useYield: nothing has to be found out
  *#rollback(call: FileSystemCall): CallSequence<Outcome> {
    this.#guards.checkState('rollback');
    if (this.#guards.isFree()) return pass0(call);
    const hint = 'Roll back the lower filesystem: here, writable entries cannot be distinguished from the others';
    throw new FsError('ENOTSUP', { syscall: 'rollback', hint });
  }

  *#drop(call: FileSystemCall): CallSequence<Outcome> {
    this.#guards.checkState('drop');
    if (this.#guards.isFree()) return pass0(call);
    return yield* this.#requireOwn(call, call.args[0] as Checkpoint | string);
  }

  /** Checks a method that shows the state of a checkpoint, or for undefined the current one. */
  *#ofCheckpoint(call: FileSystemCall, which: Checkpoint | string | undefined): CallSequence<Outcome> {
    return this.#guards.hides && which !== undefined ? yield* this.#requireOwn(call, which) : pass0(call);
  }

  *#requireOwn(call: FileSystemCall, which: Checkpoint | string): CallSequence<Outcome> {
    const wanted = wantedCheckpoint(which);
    const held = yield* invoke<Checkpoint[]>(call.target, 'checkpoints', []);
    const known = held.find(({ id, name }) => id === wanted || (which === wanted && name === wanted));
    if (known === undefined || !this.#own.has(known.id)) throw noCheckpoint(call.spec.syscall, wanted);
    return pass0(call);
  }
}

/** Stands for the random characters that `mkdtemp` appends. */
const RANDOM_PART = 'XXXXXX';

function pass0(call: FileSystemCall): Outcome {
  return { args: call.args, places: [] };
}

// biome-ignore lint/correctness/useYield: nothing has to be found out
function* pass(call: FileSystemCall): CallSequence<Outcome> {
  return pass0(call);
}

function above(path: string, levels: number): string {
  let at = path;
  for (let i = 0; i < levels; i++) at = parentPath(at);
  return at;
}

/** Returns what is under a directory and visible, parents first, by its listings. */
function* everything(
  target: FileSystem,
  start: string,
  maxDepth = Number.POSITIVE_INFINITY,
  isVisible?: (path: string, kind: EntryInfo['kind']) => boolean,
): CallSequence<EntryInfo[]> {
  const found: EntryInfo[] = [];
  const pending: { readonly info: EntryInfo; readonly depth: number }[] = [];
  const list = function* (path: string, depth: number): CallSequence<void> {
    const infos = yield* listing(target, path, isVisible !== undefined);
    const shown = infos.filter(({ name, kind }) => isVisible?.(joinPath(path, name), kind) ?? true);
    for (const info of shown.reverse()) pending.push({ info, depth });
  };
  yield* list(start, 1);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { info, depth } = next;
    found.push(info);
    if (info.kind === 'directory' && depth < maxDepth) yield* list(info.path, depth + 1);
  }
  return found;
}

/** Returns a listing. With `isForgiving`, a directory that cannot be read counts as empty. */
function* listing(target: FileSystem, path: string, isForgiving: boolean): CallSequence<EntryInfo[]> {
  try {
    return yield* invoke<EntryInfo[]>(target, 'entries', [path]);
  } catch (error) {
    if (isForgiving && isFsError(error, 'EACCES')) return [];
    throw error;
  }
}

/** Reports whether `open` also asks to read, by flags that end with `+` or the option `read`. */
function readsToo(flags: unknown): boolean {
  if (typeof flags !== 'object' || flags === null) return String(flags).endsWith('+');
  return (flags as OpenHow).read === true;
}
