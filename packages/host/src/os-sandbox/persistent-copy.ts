import { execFile } from 'node:child_process';
import {
  type BigIntStats,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  futimesSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type FileSystem, FsError, isFsError, type Stats } from '@scratchfs/core';
import { isTurnDue, nextTurn } from '../event-loop.js';
import { isCode } from '../host-error.js';
import { acquireProcessLock } from '../merge/process-lock.js';
import { NOBODY } from './bubblewrap.js';
import { CopyIndex, type GivenEntry } from './copy-index.js';
import { INSIDE } from './link-targets.js';
import { reasonAgainst } from './reason-against.js';
import { DirectoryCache, type DiskEntry, walkDisk } from './walk-disk.js';

/**
 * `visible`: copied, and changes are taken. `hidden`: neither shown nor taken. `ignored`: private to the copy, so not
 * taken.
 */
export type Visibility = 'visible' | 'hidden' | 'ignored';

/** Files that a command is given: a directory of the host, and what differs from it. */
export interface CopySource {
  /** Real path of the directory. */
  readonly directory: string;
  /** Returns the treatment of a path, relative to the directory. Not called for `.git`. */
  readonly visibilityOf: (path: string, isDirectory: boolean) => Visibility | Promise<Visibility>;
  /** Holds what differs from the directory. */
  readonly fileSystem: FileSystem;
  /** Relative paths at and under which the filesystem counts, not the directory. */
  readonly differing: readonly string[];
}

export interface UpdateOptions {
  /** Copy dependency directories, so that a command can change them. They stay private from then on. */
  readonly install: boolean;
  /** Maximum number of bytes of all visible files. */
  readonly maxBytes: number;
  readonly signal: AbortSignal | undefined;
}

/** Paths of the directory to mount in the copy, which has an empty entry at each. */
export interface MountPoints {
  /** Directories with dependencies. */
  readonly dependencies: readonly string[];
  /** Directories and files called `.git`. */
  readonly repositories: readonly string[];
}

/** Names of ignored directories that hold dependencies. */
const DEPENDENCIES: ReadonlySet<string> = new Set([
  'node_modules',
  'bower_components',
  'jspm_packages',
  '.venv',
  'venv',
  'vendor',
  'Pods',
  'Carthage',
  '.bundle',
  'deps',
  'elm-stuff',
  '.pnpm-store',
  '__pypackages__',
  '.tox',
  '.nox',
]);

/** Reports whether an ignored directory of this path holds dependencies. */
export function isDependency(path: string): boolean {
  return DEPENDENCIES.has(basename(path));
}

/**
 * Maximum numbers of entries and of bytes of an ignored path that a command gets a copy of. Of a larger directory it
 * gets an empty one, of a larger file nothing.
 */
const MAX_OWN_FILES = 20_000;
const MAX_OWN_BYTES = 256 * 2 ** 20;
/** A file that changed less than this long ago may change again without its times showing it. */
const RACY_MS = 2_000;
/** Longest time in which two changes of a file may get the same times. */
const TICK_MS = 20;

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;

/** Codes of errors for which the copy leaves out an entry of the filesystem. */
const LEFT_OUT: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EACCES']);

type Kind = GivenEntry['kind'];
type Planned =
  | { readonly from: 'disk'; readonly kind: Kind; readonly stat: BigIntStats }
  | { readonly from: 'fileSystem'; readonly kind: Kind; readonly stat: Stats };

/** State of an entry, read for the copy. */
interface Read {
  readonly kind: Kind;
  readonly mode: number;
  readonly source: string;
  readonly stat: string;
  /** Modification time in seconds since the epoch. */
  readonly modifiedAt: number;
  readonly body: Uint8Array;
}

/**
 * Copy of a directory and its changes, on which commands run one after the other. It stays on disk between commands and
 * is brought up to date by stat. Only its owner can reach the files: the user of this process, or nobody if that is
 * root.
 */
export class PersistentCopy implements Disposable {
  readonly #owner: number | undefined = process.getuid?.() === 0 ? NOBODY : undefined;

  private constructor(
    readonly directory: string,
    readonly index: CopyIndex,
    readonly lock: string,
    /** False if the last command did not end in order, so that the copy may hold anything. */
    readonly isClean: boolean,
  ) {}

  /**
   * Opens the first copy in `parent` that no other command uses, or makes one. `parent` is created if it is missing.
   */
  static async open(parent: string): Promise<PersistentCopy> {
    for (let number = 0; ; number++) {
      const directory = join(parent, String(number));
      mkdirSync(directory, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
      const lock = await acquireProcessLock(directory, 'run');
      if (lock === undefined) continue;
      const isClean = !existsSync(join(directory, IN_USE));
      writeFileSync(join(directory, IN_USE), '');
      let index = CopyIndex.open(directory);
      if (index === undefined || index.isWasteful) {
        index?.close();
        await removeAll(join(directory, 'copy'));
        index = CopyIndex.create(directory);
      }
      const copy = new PersistentCopy(directory, index, lock, isClean);
      copy.#prepare();
      return copy;
    }
  }

  /** Path of the copied files. */
  get files(): string {
    return join(this.directory, 'copy', 'files');
  }

  #prepare(): void {
    mkdirSync(this.files, { recursive: true, mode: 0o700 });
    // The command runs as nobody, who must reach the copy.
    if (this.#owner !== undefined)
      for (const path of [dirname(this.files), this.files]) chownSync(path, this.#owner, this.#owner);
  }

  /** Gives the copy back. Unless {@link keep} was called before, the copy is not clean when it is opened again. */
  [Symbol.dispose](): void {
    this.index.close();
    rmSync(join(this.directory, this.lock), { force: true });
  }

  /** Records the state of the copy for the next command. */
  keep(): void {
    this.index.save();
    rmSync(join(this.directory, IN_USE), { force: true });
  }

  /**
   * Brings the copy up to date. Links are not followed on either side. What the process may not read is left out.
   * @throws FsError EFBIG for more than `maxBytes`, what the filesystem and the host throw, the reason of the signal
   */
  async update(source: CopySource, options: UpdateOptions): Promise<MountPoints> {
    const { signal } = options;
    const now = this.#now();
    const plan = new Map<string, Planned>();
    const seen = new Set<string>();
    const ignored: { readonly path: string; readonly isDirectory: boolean }[] = [];
    const repositories: string[] = [];
    let bytes = 0;
    const notice = (path: string, planned: Planned): void => {
      seen.add(path);
      if (planned.kind === 'file') bytes += Number(planned.stat.size);
      if (bytes > options.maxBytes) throw tooMuch(options.maxBytes, bytes);
      const entry = this.index.entries.get(path);
      if (entry?.source !== sourceOf(planned) || entry.source === '' || entry.kind !== planned.kind)
        plan.set(path, planned);
    };
    const differing = new Set(outermost(source.differing));
    await walkDisk(
      source.directory,
      async ({ path, name, stat }) => {
        const kind = kindOf(stat);
        if (differing.has(path) || kind === undefined || reasonAgainst(name, path, kind) !== undefined) return false;
        if (name === '.git') {
          repositories.push(path);
          return false;
        }
        const visibility = await source.visibilityOf(path, kind === 'directory');
        if (visibility === 'ignored') ignored.push({ path, isDirectory: kind === 'directory' });
        if (visibility !== 'visible') return false;
        notice(path, { from: 'disk', kind, stat });
        return true;
      },
      { onUnreadable: ignore, signal },
    );
    for (const path of differing) await noticeUnder(source, path, notice, signal);
    this.#removeUnseen(seen, plan);
    await this.#write(source, plan, now, signal);
    const dependencies = await this.#addIgnored(source, ignored, options);
    this.#removeMountPoints([...repositories, ...dependencies]);
    for (const path of repositories) this.#addMountPoint(path, lstatSync(join(source.directory, path)).isDirectory());
    for (const path of dependencies) this.#addMountPoint(path, true);
    this.index.save();
    // A change in the same tick of the clock as the copying would not show.
    if (plan.size > 0) await setTimeout(TICK_MS);
    return { dependencies, repositories };
  }

  /**
   * Reports whether the directory of the host still holds exactly what the copy was given at and under a path, and
   * whether all of that came from the directory. False also if the directory holds something that the copy does not,
   * such as hidden files.
   */
  async isSourceAsGiven(
    { directory, visibilityOf }: Pick<CopySource, 'directory' | 'visibilityOf'>,
    path: string,
    given: ReadonlyMap<string, GivenEntry>,
    signal?: AbortSignal,
  ): Promise<boolean> {
    let left = 0;
    for (const { source } of given.values()) {
      if (!source.startsWith('d ')) return false;
      left++;
    }
    let isSame = true;
    const check = async (path: string, stat: BigIntStats): Promise<boolean> => {
      const kind = kindOf(stat);
      const entry = given.get(path);
      left--;
      isSame &&=
        kind !== undefined &&
        entry?.source === sourceOf({ from: 'disk', kind, stat }) &&
        (await visibilityOf(path, kind === 'directory')) === 'visible';
      return isSame;
    };
    using directories = new DirectoryCache(directory);
    const top = directories.above(path)?.stat(basename(path));
    if (top === undefined || !(await check(path, top))) return false;
    const onUnreadable = (): void => {
      isSame = false;
    };
    const visit = (entry: DiskEntry) => isSame && check(entry.path, entry.stat);
    await walkDisk(directory, visit, { within: path, onUnreadable, signal });
    return isSame && left === 0;
  }

  /** Removes the entries that the source does not have any more, or has as another kind. */
  #removeUnseen(seen: ReadonlySet<string>, plan: ReadonlyMap<string, Planned>): void {
    const { entries, own } = this.index;
    using directories = new DirectoryCache(this.files, true);
    const gone: string[] = [];
    for (const [path, { kind }] of entries)
      if (!seen.has(path) || (plan.get(path)?.kind ?? kind) !== kind) gone.push(path);
    // Parents come first in the order of insertion, and removing one removes what is under it.
    for (const path of gone) {
      const entry = entries.get(path);
      if (entry === undefined) continue;
      directories.above(path)?.remove(basename(path));
      entries.delete(path);
      if (entry.kind !== 'directory') continue;
      directories[Symbol.dispose]();
      for (const list of [entries, own])
        for (const one of list.keys()) if (one.startsWith(`${path}/`)) list.delete(one);
    }
  }

  async #write(
    source: CopySource,
    plan: ReadonlyMap<string, Planned>,
    now: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    using sources = new DirectoryCache(source.directory);
    using targets = new DirectoryCache(this.files, true);
    for (const [path, planned] of plan) {
      if (isTurnDue()) {
        await nextTurn();
        signal?.throwIfAborted();
      }
      const read =
        planned.from === 'disk'
          ? readFromDisk(source.directory, sources, path, planned, now)
          : await readFrom(source, path, planned);
      const above = targets.above(path);
      if (above === undefined) continue;
      if (read !== undefined) this.#put(above.child(basename(path)), path, read);
      // Removed since the walk, replaced by another kind, or not readable any more.
      else if (planned.kind !== 'directory' && this.index.entries.delete(path)) above.remove(basename(path));
    }
  }

  /** Writes an entry unless the copy has it already. */
  #put(place: string, path: string, { kind, mode, source, stat, modifiedAt, body }: Read): void {
    const { entries } = this.index;
    const before = entries.get(path);
    const target = kind === 'symlink' ? Buffer.from(body).toString('utf8') : undefined;
    if (before !== undefined && before.kind === kind && before.mode === mode && this.#has(before, body)) {
      entries.set(path, { ...before, source, stat });
      return;
    }
    if (kind === 'directory') {
      if (before === undefined) makeDirectory(place, mode | 0o700);
      // The umask may have removed bits of a new directory, and the mode of an existing one has changed.
      if (lstatSync(place, { throwIfNoEntry: false })?.isDirectory()) chmodSync(place, mode | 0o700);
      if (this.#owner !== undefined) lchownSync(place, this.#owner, this.#owner);
      entries.set(path, { kind, mode, size: 0, source, stat, copy: '' });
      return;
    }
    // An entry of the copy may be missing from the index if a command was interrupted.
    rmSync(place, { force: true, recursive: before === undefined });
    let copy: BigIntStats;
    if (target !== undefined) {
      symlinkSync(target, place);
      if (this.#owner !== undefined) lchownSync(place, this.#owner, this.#owner);
      copy = lstatSync(place, { bigint: true });
    } else copy = writeNew(place, body, mode, modifiedAt, this.#owner);
    const at = kind === 'file' ? this.index.keep(body) : undefined;
    entries.set(path, { kind, mode, size: body.length, source, stat, copy: copyStateOf(copy), target, at });
  }

  #has(entry: GivenEntry, body: Uint8Array): boolean {
    if (entry.kind === 'directory') return true;
    if (entry.kind === 'file' && entry.size !== body.length) return false;
    const kept = this.index.contentOf(entry);
    return kept !== undefined && Buffer.compare(kept, body) === 0;
  }

  /**
   * Copies ignored entries that the copy does not have yet. They are private to it: later changes of the directory do
   * not show, and those of commands stay. Returns the dependency directories that have to be mounted instead.
   */
  async #addIgnored(
    source: CopySource,
    ignored: readonly { readonly path: string; readonly isDirectory: boolean }[],
    { install, signal }: UpdateOptions,
  ): Promise<string[]> {
    const { own } = this.index;
    const dependencies: string[] = [];
    using targets = new DirectoryCache(this.files, true);
    for (const { path, isDirectory } of ignored) {
      if (own.has(path)) continue;
      const above = targets.above(path);
      if (above === undefined) continue;
      const hasDependencies = isDirectory && isDependency(path);
      if (hasDependencies && !install) {
        dependencies.push(path);
        continue;
      }
      // An empty mount point, or the rest of an interrupted copying, may be there.
      above.remove(basename(path));
      if (hasDependencies) await this.#copyWhole(join(source.directory, path), join(this.files, path), signal);
      else await this.#copyOwn(source, path, signal);
      own.add(path);
    }
    return dependencies;
  }

  async #copyWhole(from: string, to: string, signal: AbortSignal | undefined): Promise<void> {
    const run = promisify(execFile);
    await run('/bin/cp', ['-a', '--reflink=auto', '--', from, to], { signal });
    if (this.#owner !== undefined)
      await run('/bin/chown', ['-hR', `${this.#owner}:${this.#owner}`, '--', to], { signal });
  }

  /**
   * Copies an ignored file or directory without what is hidden in it. A directory that is too large is only created,
   * and a file that is too large is left out.
   */
  async #copyOwn(source: CopySource, top: string, signal: AbortSignal | undefined): Promise<void> {
    const copied: { readonly path: string; readonly kind: Kind; readonly stat: BigIntStats }[] = [];
    let bytes = 0;
    using sources = new DirectoryCache(source.directory);
    const first = sources.above(top)?.stat(basename(top));
    const firstKind = first && kindOf(first);
    if (first === undefined || firstKind === undefined) return;
    copied.push({ path: top, kind: firstKind, stat: first });
    bytes += Number(first.size);
    if (firstKind === 'directory') {
      const start = join(source.directory, top);
      await walkDisk(
        start,
        async (entry) => {
          const path = `${top}/${entry.path}`;
          const kind = kindOf(entry.stat);
          if (kind === undefined || typeof entry.name !== 'string' || entry.name === '.git') return false;
          if ((await source.visibilityOf(path, kind === 'directory')) === 'hidden') return false;
          copied.push({ path, kind, stat: entry.stat });
          bytes += kind === 'file' ? Number(entry.stat.size) : 0;
          return copied.length <= MAX_OWN_FILES && bytes <= MAX_OWN_BYTES;
        },
        { onUnreadable: ignore, signal },
      );
    }
    const isTooLarge = copied.length > MAX_OWN_FILES || bytes > MAX_OWN_BYTES;
    using targets = new DirectoryCache(this.files, true);
    for (const { path, kind, stat } of isTooLarge ? copied.slice(0, firstKind === 'directory' ? 1 : 0) : copied) {
      if (isTurnDue()) await nextTurn();
      const read = readFromDisk(source.directory, sources, path, { from: 'disk', kind, stat }, 0);
      const above = targets.above(path);
      if (read === undefined || above === undefined) continue;
      const place = above.child(basename(path));
      if (kind === 'directory') mkdirSync(place, { mode: read.mode | 0o700 });
      else if (kind === 'symlink') symlinkSync(Buffer.from(read.body), place);
      else writeNew(place, read.body, read.mode, read.modifiedAt, this.#owner);
      if (this.#owner !== undefined) lchownSync(place, this.#owner, this.#owner);
    }
  }

  /** Removes the mount points that are not needed any more. */
  #removeMountPoints(needed: readonly string[]): void {
    const { mounts, own } = this.index;
    using targets = new DirectoryCache(this.files, true);
    for (const path of mounts) {
      if (needed.includes(path)) continue;
      mounts.delete(path);
      if (!own.has(path)) targets.above(path)?.remove(basename(path));
    }
  }

  #addMountPoint(path: string, isDirectory: boolean): void {
    using targets = new DirectoryCache(this.files, true);
    const above = targets.above(path);
    if (above === undefined) return;
    this.index.mounts.add(path);
    const name = basename(path);
    const stat = above.stat(name);
    if (stat !== undefined && stat.isDirectory() === isDirectory && !stat.isSymbolicLink()) return;
    above.remove(name);
    if (isDirectory) mkdirSync(above.child(name), { mode: 0o755 });
    else writeFileSync(above.child(name), '', { flag: 'wx' });
    if (this.#owner !== undefined) lchownSync(above.child(name), this.#owner, this.#owner);
  }

  /** Returns the time of the disk in epoch milliseconds, by which the times of files have to be judged. */
  #now(): number {
    const place = join(this.directory, IN_USE);
    utimesSync(place, 0, 0);
    return Number(lstatSync(place, { bigint: true }).ctimeMs);
  }
}

/** File that marks a copy as possibly changed since the index was saved. */
const IN_USE = 'in-use';

async function noticeUnder(
  source: CopySource,
  path: string,
  notice: (path: string, planned: Planned) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { fileSystem } = source;
  const stat = await fileSystem.lstat(`/${path}`, { signal }).catch(leaveOut);
  if (stat === undefined) return;
  const isDirectory = stat.isDirectory();
  if (basename(path) === '.git' || (await source.visibilityOf(path, isDirectory)) !== 'visible') return;
  notice(path, { from: 'fileSystem', kind: stat.kind, stat });
  if (!isDirectory) return;
  const names = await fileSystem.readdir(`/${path}`, { signal }).catch(leaveOut);
  for (const name of names ?? []) await noticeUnder(source, `${path}/${name}`, notice, signal);
}

async function readFrom(source: CopySource, path: string, planned: Planned): Promise<Read | undefined> {
  const { fileSystem, directory } = source;
  const place = `/${path}`;
  try {
    const stat = await fileSystem.lstat(place);
    if (stat.kind !== planned.kind) return undefined;
    const body =
      stat.kind === 'file'
        ? await fileSystem.readFile(place)
        : Buffer.from(stat.kind === 'symlink' ? targetInCopy(directory, await fileSystem.readlink(place)) : '');
    return {
      kind: stat.kind,
      mode: modeOf(stat.kind, stat.mode),
      source: sourceOf({ from: 'fileSystem', kind: stat.kind, stat }),
      stat: statText(stat),
      modifiedAt: stat.mtimeMs / 1_000,
      body,
    };
  } catch (error) {
    return leaveOut(error);
  }
}

/** Returns undefined for an error by which the filesystem lacks an entry, or may not read it. @throws other errors */
function leaveOut(error: unknown): undefined {
  if (!isFsError(error) || !LEFT_OUT.has(error.code)) throw error;
}

function readFromDisk(
  directory: string,
  sources: DirectoryCache,
  path: string,
  { kind, stat }: Planned & { from: 'disk' },
  now: number,
): Read | undefined {
  const name = basename(path);
  const read = kind === 'file' ? readable(() => sources.above(path)?.read(name)) : undefined;
  const target = kind === 'symlink' ? sources.above(path)?.readLink(name) : undefined;
  if ((kind === 'file' && read === undefined) || (kind === 'symlink' && target === undefined)) return undefined;
  const state = read?.stat ?? stat;
  const isRacy = kind !== 'directory' && Number(state.ctimeMs) > now - RACY_MS;
  return {
    kind,
    mode: modeOf(kind, Number(state.mode)),
    source: isRacy ? '' : sourceOf({ from: 'disk', kind, stat: state }),
    stat: statText(state),
    modifiedAt: Number(state.mtimeMs) / 1_000,
    body: read?.bytes ?? Buffer.from(target === undefined ? '' : targetInCopy(directory, target.toString('utf8'))),
  };
}

/** Returns what `read` returns, or undefined if the process may not read it. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isCode(error, 'EACCES')) return undefined;
    throw error;
  }
}

function ignore(): void {}

/** Creates a file. The path must be free, and no link may be on it. */
function writeNew(
  place: string,
  body: Uint8Array,
  mode: number,
  modifiedAt: number,
  owner: number | undefined,
): BigIntStats {
  const file = openSync(place, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    for (let done = 0; done < body.length; ) done += writeSync(file, body, done);
    if (owner !== undefined) fchownSync(file, owner, owner);
    fchmodSync(file, mode);
    futimesSync(file, modifiedAt, modifiedAt);
    return fstatSync(file, { bigint: true });
  } finally {
    closeSync(file);
  }
}

/** Returns a link's target as a command has to read it: what lies in the directory lies in {@link INSIDE}. */
export function targetInCopy(directory: string, target: string): string {
  return target === directory || target.startsWith(`${directory}/`)
    ? `${INSIDE}${target.slice(directory.length)}`
    : target;
}

/** Returns a text that identifies the state of an entry of the copy. */
export function copyStateOf({ ino, size, mode, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${ino} ${size} ${mode} ${mtimeNs} ${ctimeNs}`;
}

function sourceOf({ from, kind, stat }: Planned): string {
  if (from === 'fileSystem') return stat.version === '' ? '' : `v ${stat.version}`;
  // The times of a directory change with its names, which are listed anyway.
  if (kind === 'directory') return `d ${stat.dev} ${stat.ino} ${stat.mode}`;
  return `d ${stat.dev} ${stat.ino} ${stat.size} ${stat.mode} ${stat.mtimeNs} ${stat.ctimeNs}`;
}

/** Returns size, mode and times of an entry, the same for an entry of the host and for that of a filesystem on it. */
export function statText({ size, mode, mtimeMs, ctimeMs }: BigIntStats | Stats): string {
  return `${size} ${Number(mode) & 0o7777} ${Math.trunc(Number(mtimeMs))} ${Math.trunc(Number(ctimeMs))}`;
}

function modeOf(kind: Kind, mode: number): number {
  return kind === 'symlink' ? 0 : mode & 0o777;
}

export function kindOf(stat: BigIntStats): Kind | undefined {
  if (stat.isFile()) return 'file';
  if (stat.isDirectory()) return 'directory';
  return stat.isSymbolicLink() ? 'symlink' : undefined;
}

/** Returns the paths that are not under another one of them. */
function outermost(paths: readonly string[]): string[] {
  const all = new Set(paths);
  return [...all].filter((path) => {
    for (let at = dirname(path); at !== '.'; at = dirname(at)) if (all.has(at)) return false;
    return true;
  });
}

/** Removes a directory, whatever modes a command has left in it. Links are not followed. */
async function removeAll(directory: string): Promise<void> {
  if (!existsSync(directory)) return;
  await promisify(execFile)('/bin/chmod', ['-Rf', 'u+rwX', directory]).catch(() => undefined);
  rmSync(directory, { recursive: true, force: true });
}

function tooMuch(allowed: number, requested: number): FsError {
  const limit = 'copyInBytes';
  return new FsError('EFBIG', { syscall: 'copy', hint: `More than limits.${limit} allows`, limit, allowed, requested });
}

/**
 * Creates a directory. An entry that is there but not in the index, such as private build output that is ignored no
 * longer, is removed.
 */
function makeDirectory(place: string, mode: number): void {
  try {
    mkdirSync(place, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    rmSync(place, { force: true, recursive: true });
    mkdirSync(place, { mode });
  }
}
