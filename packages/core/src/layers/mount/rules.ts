import { checkCheckpointName } from '../../async-file-system.js';
import { checkListing, listed } from '../../engine/operations/read.js';
import { fixedLimits } from '../../engine/quota.js';
import { Dirent, type EntryInfo, type FileEntry, type Stats } from '../../entry.js';
import { FsError, isFsError } from '../../errors.js';
import type { Checkpoint, EntriesOptions, ReaddirOptions } from '../../file-system.js';
import type { FileSystemStats } from '../../limits.js';
import { baseName, compareNames, joinPath, normalizePath, parentPath } from '../../paths.js';
import { type CallSequence, invoke, withFilterFor } from '../call-sequence.js';
import type { Own } from '../intercept.js';
import { METHODS, type MethodName, type PathUse } from '../method-table.js';
import { withPaths } from '../with-paths.js';
import type { Checkpoints } from './checkpoints.js';
import { copyAcross, copyFileAcross } from './copy.js';
import { translateHandle } from './handle.js';
import type { Namespace } from './namespace.js';
import { type Place, placeOf } from './resolve.js';
import type { RuleOf } from './rule.js';
import { translateError, translateStats } from './translate.js';

type Args = readonly unknown[];
type Answer = (result: never, place: Place) => unknown;

/** Methods and properties that the mount implements itself, over the whole namespace. */
export type OwnMethod =
  | 'kind'
  | 'capabilities'
  | 'limits'
  | 'walk'
  | 'watch'
  | 'iterate'
  | 'run'
  | 'compare'
  | 'at'
  | 'fork'
  | 'transaction'
  | 'toJSON'
  | Own
  | 'close';

/** Returns the rules of a mount, one per method of the table that is not an {@link OwnMethod}. */
export function mountRules(space: Namespace, checkpoints: Checkpoints): Record<Exclude<MethodName, OwnMethod>, RuleOf> {
  const keep: Answer = (result) => result;

  function* places(name: MethodName, args: Args): CallSequence<Place[]> {
    const { paths, syscall } = METHODS[name];
    const recursive = (args[1] as { recursive?: unknown } | null | undefined)?.recursive === true;
    const found: Place[] = [];
    for (const [i, use] of paths(args).entries()) {
      const makesParents = (name === 'mkdir' && recursive) || (name === 'cp' && i === 1);
      found.push(yield* placeOf(space, use, syscall, makesParents));
    }
    const good = found.find(({ isBad }) => isBad !== true);
    return found.map((place) =>
      place.isBad === true && good !== undefined ? { ...place, mounted: good.mounted } : place,
    );
  }

  function* forward(name: MethodName, args: Args, found: readonly Place[], answer: Answer): CallSequence<unknown> {
    const uses: readonly PathUse[] = METHODS[name].paths(args);
    const [first] = found as [Place];
    const inner = [...args];
    uses.forEach(({ at }, i) => {
      inner[at] = (found[i] as Place).inner;
    });
    try {
      return answer((yield { fileSystem: first.mounted.fileSystem, name, args: inner }) as never, first);
    } catch (error) {
      throw translateError(error, space, found);
    }
  }

  const at = (name: MethodName, answer: Answer = keep): RuleOf =>
    function* (args) {
      return yield* forward(name, args, yield* places(name, args), answer);
    };

  /** Returns the rule of a method that returns false instead of an FsError, except EBADF: the filesystem is closed. */
  const asked = (name: MethodName): RuleOf =>
    function* (args) {
      try {
        return yield* at(name)(args);
      } catch (error) {
        if (isFsError(error) && error.code !== 'EBADF') return false;
        throw error;
      }
    };

  const within = (name: MethodName): RuleOf =>
    function* (args) {
      const found = (yield* places(name, args)) as [Place, Place];
      const [from, to] = found;
      const details = { syscall: METHODS[name].syscall, path: from.given, dest: to.given };
      if (name === 'rename' && (isHeld(space, from) || isHeld(space, to))) throw busy(details);
      if (from.mounted !== to.mounted) {
        const hint = 'The two paths lie in different filesystems: copy, then remove';
        throw new FsError('EXDEV', { ...details, hint });
      }
      return yield* forward(name, args, found, keep);
    };

  const outer: (path: string, place: Place) => string = (path, place) => space.outside(place.mounted, path);
  const entry = <E extends EntryInfo>(info: E, place: Place): E => {
    const path = outer(info.path, place);
    return { ...info, path, name: baseName(path) };
  };

  /** Lists a directory; names that lead to mount points are looked up by `lead`. */
  const listing = <E extends string | Dirent | EntryInfo>(
    name: 'readdir' | 'entries',
    convert: (item: E, place: Place) => E,
    lead: (path: string, options: unknown) => CallSequence<E>,
  ): ((args: Args) => CallSequence<E[]>) =>
    function* (args) {
      const [place] = (yield* places(name, args)) as [Place];
      const found = (yield* forward(name, args, [place], keep)) as E[];
      const leads = space.leads(place.path);
      if (leads.length === 0) return found.map((item) => convert(item, place));
      const all = found.filter((item) => !leads.includes(nameOf(item))).map((item) => convert(item, place));
      for (const each of leads) all.push(yield* lead(joinPath(place.path, each), args[1]));
      return all.sort((a, b) => compareNames(nameOf(a), nameOf(b)));
    };

  // biome-ignore lint/correctness/useYield: nothing has to be looked up
  function* leadName(path: string): CallSequence<string> {
    return baseName(path);
  }

  function* leadEntry(path: string, options: unknown): CallSequence<EntryInfo> {
    const { content, ...info } = (yield* rules.getEntry([path])) as FileEntry;
    return (options as EntriesOptions | undefined)?.content === true ? Object.assign(info, { content }) : info;
  }

  function* leadDirent(path: string): CallSequence<Dirent> {
    return new Dirent(baseName(path), '', ((yield* rules.lstat([path])) as Stats).kind);
  }

  const names = listing<string>('readdir', (name) => name, leadName);
  const dirents = listing<Dirent>('readdir', (item) => item, leadDirent);

  /** Lists a directory; with `recursive` also everything under its subdirectories, parents first. */
  function* readdir([path, options, ...rest]: Args): CallSequence<unknown> {
    const { isTyped, isRecursive, call } = checkListing(options as ReaddirOptions | undefined);
    if (!isTyped && !isRecursive) return yield* names([path, options, ...rest]);
    const given = path as string;
    const typed = { ...call, recursive: false, withFileTypes: true };
    const found: (string | Dirent)[] = [];
    const pending = (yield* dirents([path, typed, ...rest])).map((item) => ({ item, beneath: item.name })).reverse();
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const { item, beneath } = next;
      found.push(listed(given, beneath, item.name, item.kind, isTyped));
      if (!isRecursive || item.kind !== 'directory') continue;
      const under = yield* dirents([joinPath(normalizePath(given, 'scandir', false), beneath), typed]);
      for (const each of under.reverse()) pending.push({ item: each, beneath: `${beneath}/${each.name}` });
    }
    return found;
  }

  const rules: Record<Exclude<MethodName, OwnMethod>, RuleOf> = {
    exists: asked('exists'),
    isFile: asked('isFile'),
    isDirectory: asked('isDirectory'),
    getEntry: at('getEntry', (result: FileEntry, place) => entry(result, place)),
    stat: at('stat', (result: Stats, place) => translateStats(result, place.mounted)),
    lstat: at('lstat', (result: Stats, place) => translateStats(result, place.mounted)),
    access: at('access'),
    realpath: at('realpath', outer),
    readlink: at('readlink'),
    readdir,
    entries: listing<EntryInfo>('entries', entry, leadEntry),
    readFile: at('readFile'),
    readText: at('readText'),
    readLines: at('readLines'),
    mkdir: at('mkdir', firstMade),
    *mkdtemp(args) {
      // Resolved with stand-ins for the random characters, because the prefix alone may end in a slash.
      const [prefix, ...rest] = args;
      if (typeof prefix !== 'string') return yield* at('mkdtemp')(args);
      const [place] = (yield* places('mkdtemp', [`${prefix}${RANDOM_PART}`])) as [Place];
      const inner = { ...place, given: prefix, inner: place.inner.slice(0, -RANDOM_PART.length) };
      return yield* forward('mkdtemp', [prefix, ...rest], [inner], outer);
    },
    writeFile: at('writeFile'),
    writeLines: at('writeLines'),
    appendFile: at('appendFile'),
    editFile: at('editFile'),
    truncate: at('truncate'),
    open: at('open', translateHandle),
    *rm(args) {
      const found = (yield* places('rm', args)) as [Place];
      const recursive = (args[1] as { recursive?: unknown } | null | undefined)?.recursive === true;
      if (recursive && isHeld(space, found[0])) throw busy({ syscall: 'rm', path: found[0].given });
      return yield* forward('rm', args, found, keep);
    },
    unlink: at('unlink'),
    *rmdir(args) {
      const found = (yield* places('rmdir', args)) as [Place];
      const { path, given } = found[0];
      if (space.isWay(path) && !space.isPoint(path) && path !== '/')
        throw new FsError('ENOTEMPTY', { syscall: 'rmdir', path: given, hint: BUSY_HINT });
      return yield* forward('rmdir', args, found, keep);
    },
    *cp(args) {
      const [source, destination] = METHODS.cp.paths(args) as [PathUse, PathUse];
      // Resolved for reading only, because the copy itself creates missing directories.
      const from = yield* placeOf(space, source, 'cp');
      const to = yield* placeOf(space, { ...destination, access: 'look' }, 'cp');
      if (from.mounted === to.mounted && !isHeld(space, from) && !isHeld(space, to))
        return yield* at('cp')([args[0], args[1], withFilterFor(args[2], from, to), ...args.slice(3)]);
      return yield* named('cp', from, to, copyAcross(rules, from, to, args[2]));
    },
    *copyFile(args) {
      const found = (yield* places('copyFile', args)) as [Place, Place];
      if (found[0].mounted === found[1].mounted) return yield* forward('copyFile', args, found, keep);
      return yield* named('copyfile', ...found, copyFileAcross(rules, found[0], found[1], args[2]));
    },
    rename: within('rename'),
    symlink: at('symlink'),
    link: within('link'),
    chmod: at('chmod'),
    chown: at('chown'),
    lchown: at('lchown'),
    utimes: at('utimes'),
    lutimes: at('lutimes'),
    *stats() {
      const sum = { totalSize: 0, fileCount: 0, directoryCount: 0, nodeCount: 0 };
      for (const fileSystem of space.fileSystems) {
        const part = yield* invoke<FileSystemStats>(fileSystem, 'stats', []);
        for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += part[key];
      }
      return sum;
    },
    setLimits: () => {
      throw fixedLimits();
    },
    checkpoint: ([name]) => checkpoints.create(checkCheckpointName(name as string | undefined)),
    checkpoints: () => checkpoints.list(),
    rollback: ([which]) => checkpoints.rollback(which as Checkpoint | string),
    drop: ([which]) => checkpoints.drop(which as Checkpoint | string),
  };
  return rules;
}

/** Returns the first directory that `mkdir` created, as a part of the given path. */
function firstMade(first: string | undefined, place: Place): string | undefined {
  if (first === undefined) return undefined;
  let path = normalizePath(place.given, 'mkdir', false);
  for (let inner = place.inner; inner !== first && inner !== '/'; inner = parentPath(inner)) path = parentPath(path);
  return path;
}

/** Reports errors during a copy with the paths of the whole copy. */
function* named(syscall: string, from: Place, to: Place, rule: CallSequence<unknown>): CallSequence<unknown> {
  try {
    return yield* rule;
  } catch (error) {
    if (!isFsError(error) || error.syscall === syscall) throw error;
    throw withPaths(error, from.given, to.given, syscall);
  }
}

/** Stands for the random characters that `mkdtemp` appends. */
const RANDOM_PART = 'XXXXXX';
const BUSY_HINT = 'A filesystem is mounted at or under this path';

export function busy(details: { syscall: string; path: string; dest?: string }): FsError {
  return new FsError('EBUSY', { ...details, hint: BUSY_HINT });
}

/** Reports whether a path is a mount point, or contains one. */
export function isHeld(space: Namespace, { path }: Place): boolean {
  return space.isPoint(path) || space.isWay(path);
}

const nameOf = (item: string | Dirent | EntryInfo): string => (typeof item === 'string' ? item : item.name);
