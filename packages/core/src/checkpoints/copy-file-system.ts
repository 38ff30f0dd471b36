import { checkFileSystem } from '../check-file-system.js';
import { checkBoolean, checkOptions } from '../engine/arguments.js';
import { setMany } from '../engine/operations/entries.js';
import type { EntryInfo, NewEntry } from '../entry.js';
import { FsError, isFsError } from '../errors.js';
import type { CallOptions, Checkpoint, FileSystem } from '../file-system.js';
import { parentPath } from '../paths.js';

/** Numbers of entries and of bytes of content at which a batch is stored. */
const BATCH_ENTRIES = 256;
const BATCH_BYTES = 4 * 2 ** 20;
/** Larger files are copied in pieces of this size, so that they need not fit into memory. */
const PIECE_BYTES = 4 * 2 ** 20;
/** Blocks of this size in large files become holes if they contain only zeros. */
const BLOCK_BYTES = 64 * 2 ** 10;
/**
 * Name of the checkpoint that marks an unfinished copy; on a target without checkpoints, a file of that name marks it.
 */
const MARK = '.unfinished-copy-of-scratchfs';
/** Permissions that a directory needs while entries are created in it. */
const OWNER_ALL = 0o700;

/** Counts of what has been copied so far. A file counts again for each state in which it has changed, per name. */
export interface CopyProgress {
  files: number;
  directories: number;
  symlinks: number;
  bytes: number;
  checkpoints: number;
}

export interface CopyFileSystemOptions extends CallOptions {
  /** Copy the checkpoints too, if both sides have them. Default true. */
  readonly checkpoints?: boolean | undefined;
  /**
   * Called when the target is marked as an unfinished copy, and after each step. The object is the same each time. If
   * the copy fails before the first call, it has copied nothing.
   */
  readonly progress?: ((copied: Readonly<CopyProgress>) => void) | undefined;
}

export interface CopiedFileSystem extends Readonly<CopyProgress> {
  /** Checkpoints of the source with their copies in the target, oldest first. */
  readonly mapped: readonly { readonly from: Checkpoint; readonly to: Checkpoint }[];
}

/**
 * Copies a whole filesystem into an empty one, on any storage: contents, kinds, modes, owners, times and hard links;
 * and checkpoints, if both sides have them, in their order and with their names. In files larger than 4 MiB, blocks of
 * zeros become holes. A checkpoint gets a new id and the time of the copy. What does not change from one checkpoint to
 * the next is written once.
 *
 * The target must be empty. A copy that was interrupted leaves a mark in it, and the next one starts again. Nothing
 * should write to either side during the call: after each state its counts are compared with those of the target, and
 * at the end the versions of the source's files and links are checked again. On a target with checkpoints the mark is
 * a checkpoint, for which `maxCheckpoints` must have room during the copy.
 *
 * The `changedAt` of symbolic links with several names and of files larger than 4 MiB is the time of the copy. A host
 * directory keeps what its disk can keep. If the target does not allow changes of owners, as a host directory does not
 * unless the user is root, entries keep the owners that the target gives them.
 *
 * @throws FsError as reading the source and writing to the target do, such as ENOSPC and EFBIG at the target's limits
 *   (at `maxCheckpoints` before anything is copied); ENOTEMPTY if the target is not empty; EBUSY if the source is an
 *   unfinished copy; EIO if a write during the call was detected
 * @example
 * ```ts
 * import { createFileSystem } from 'scratchfs';
 * import { copyFileSystem } from 'scratchfs/checkpoints';
 *
 * const from = createFileSystem({ files: { '/a.txt': 'one' } });
 * await from.checkpoint('before');
 * await from.writeFile('/a.txt', 'two');
 * const to = createFileSystem(); // or one on a server
 * const { mapped } = await copyFileSystem(from, to);
 * console.log(await to.readText('/a.txt'), mapped.map(({ to }) => to.name)); // → two [ 'before' ]
 * ```
 */
export async function copyFileSystem(
  from: FileSystem,
  to: FileSystem,
  options?: CopyFileSystemOptions,
): Promise<CopiedFileSystem> {
  checkFileSystem(from, 'from');
  checkFileSystem(to, 'to');
  const known = ['checkpoints', 'progress'];
  const { progress, signal, ...given } = checkOptions<CopyFileSystemOptions>(options, known, 'copyFileSystem');
  const isWanted = given.checkpoints === undefined || checkBoolean(given.checkpoints, 'checkpoints');
  if (progress !== undefined && typeof progress !== 'function') throw new TypeError('progress must be a function');
  signal?.throwIfAborted();
  const call = { signal };
  const isMarked = await startAgain(to, call);
  const withCheckpoints =
    isWanted && from.capabilities.checkpoints && from.capabilities.at && to.capabilities.checkpoints;
  const checkpoints = withCheckpoints ? await from.checkpoints(call) : [];
  if (checkpoints.some(({ name }) => name === MARK) || (await from.exists(`/${MARK}`, call)))
    throw new FsError('EBUSY', { syscall: 'copy', path: '/', hint: 'The source is itself an unfinished copy' });
  checkRoom(to, checkpoints.length);
  if (!isMarked) await setMark(to, call);
  const copied: CopyProgress = { files: 0, directories: 0, symlinks: 0, bytes: 0, checkpoints: 0 };
  progress?.(copied);
  const copier = new StateCopier(to, copied, () => progress?.(copied), signal);
  const mapped: { from: Checkpoint; to: Checkpoint }[] = [];
  for (const checkpoint of checkpoints) {
    const state = await from.at(checkpoint, call);
    try {
      await copier.copy(state);
    } finally {
      await state.close();
    }
    mapped.push({ from: checkpoint, to: await to.checkpoint(checkpoint.name, call) });
    copied.checkpoints++;
    progress?.(copied);
  }
  await copier.copy(from);
  await copier.checkUnchanged(from);
  signal?.throwIfAborted();
  // Without the mark the copy counts as complete, so the signal no longer counts.
  await removeMark(to);
  await copier.restoreRoot();
  return { ...copied, mapped };
}

/**
 * Empties a target in which an earlier copy was interrupted. Returns true if it has the mark of such a copy.
 * @throws FsError ENOTEMPTY for any other target that is not empty
 */
async function startAgain(to: FileSystem, call: CallOptions): Promise<boolean> {
  const checkpoints = to.capabilities.checkpoints ? await to.checkpoints(call) : [];
  const names = await to.readdir('/', call);
  const mark = checkpoints.find(({ name }) => name === MARK);
  if (mark === undefined && !names.includes(MARK)) {
    if (names.length === 0 && checkpoints.length === 0) return false;
    const hint = 'A filesystem is copied into an empty one only';
    throw new FsError('ENOTEMPTY', { syscall: 'copy', path: '/', hint });
  }
  for (const checkpoint of checkpoints) if (checkpoint !== mark) await to.drop(checkpoint, call);
  for (const name of names) if (name !== MARK) await removeTree(to, `/${name}`, call);
  return true;
}

/** Removes a tree, even one with directories that their owner may not change. */
async function removeTree(to: FileSystem, path: string, call: CallOptions): Promise<void> {
  try {
    await to.rm(path, { recursive: true, ...call });
  } catch (error) {
    if (!isFsError(error, 'EACCES')) throw error;
    await unlock(to, path, call);
    await to.rm(path, { recursive: true, ...call });
  }
}

async function unlock(to: FileSystem, path: string, call: CallOptions): Promise<void> {
  const { kind, mode } = await to.lstat(path, call);
  if (kind !== 'directory') return;
  if (isClosed(mode)) await to.chmod(path, mode | OWNER_ALL, call);
  for (const name of await to.readdir(path, call)) await unlock(to, `${path}/${name}`, call);
}

/** @throws FsError ENOSPC if the target's `maxCheckpoints` has no room for a number of checkpoints and the mark */
function checkRoom(to: FileSystem, checkpoints: number): void {
  const { maxCheckpoints: allowed } = to.limits;
  const requested = checkpoints + 1;
  if (!to.capabilities.checkpoints || allowed === undefined || requested <= allowed) return;
  const terms = { syscall: 'copy', path: '/', limit: 'maxCheckpoints', used: 0, requested, allowed };
  const hint = `The target may have ${allowed} checkpoints: ${checkpoints} are copied, and the copy needs one more while it runs. Set its limit maxCheckpoints to ${requested} or more, which may be undone afterwards`;
  throw new FsError('ENOSPC', { ...terms, hint });
}

async function setMark(to: FileSystem, call: CallOptions): Promise<void> {
  if (to.capabilities.checkpoints) await to.checkpoint(MARK, call);
  else await to.writeFile(`/${MARK}`, 'This filesystem is incomplete: a copy into it was interrupted.\n', call);
}

async function removeMark(to: FileSystem): Promise<void> {
  if (to.capabilities.checkpoints) await to.drop(MARK);
  else await to.rm(`/${MARK}`);
}

/** An entry of a state. `version` and `ino` are those of the source; empty and 0 for a directory. */
interface Seen {
  readonly info: EntryInfo;
  readonly ino: number;
  readonly version: string;
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Brings the target from one state of the source to the next. */
class StateCopier {
  readonly #to: FileSystem;
  readonly #copied: CopyProgress;
  readonly #report: () => void;
  readonly #signal: AbortSignal | undefined;
  /** The state that the target has, by path. */
  #before = new Map<string, Seen>();
  #root: EntryInfo | undefined;
  /** Owners that the target gives to new entries. Undefined until it has refused those of the source. */
  #owners: { readonly root: Owner; readonly others: Owner } | undefined;
  #batch: NewEntry[] = [];
  #batchBytes = 0;

  constructor(to: FileSystem, copied: CopyProgress, report: () => void, signal: AbortSignal | undefined) {
    this.#to = to;
    this.#copied = copied;
    this.#report = report;
    this.#signal = signal;
  }

  async copy(from: FileSystem): Promise<void> {
    const after = await this.#look(from);
    /** Directories whose metadata must be set again: they are new or changed, or entries in them have changed. */
    const touched = new Set<string>();
    await this.#remove(after, touched);
    const homes = new Map<number, string>();
    for (const [path, { info, ino }] of after)
      if (info.links > 1 && this.#before.has(path) && !homes.has(ino)) homes.set(ino, path);
    const linked = new Map<string, Seen>();
    for (const [path, seen] of after) {
      const { info, ino } = seen;
      const before = this.#before.get(path);
      if (info.kind === 'directory') {
        if (before === undefined || !isSameInfo(info, before.info)) {
          if (before === undefined) this.#copied.directories++;
          touched.add(path);
          if (before === undefined) await this.#add(openEntryOf(info), 0);
        }
        continue;
      }
      const home = info.links > 1 ? homes.get(ino) : undefined;
      if (before === undefined && home !== undefined) {
        await this.#store();
        await this.#to.link(home, path, { signal: this.#signal });
        touched.add(parentPath(path));
        linked.set(home, after.get(home) as Seen);
      } else if (before === undefined || before.version !== seen.version || !isSameInfo(info, before.info)) {
        await this.#put(from, info);
        touched.add(parentPath(path));
        if (info.links > 1) homes.set(ino, path);
      }
    }
    // Set again, because a new name has changed the file's own times.
    for (const { info } of linked.values()) if (info.kind === 'file') await this.#put(from, info, false);
    const directories = [...touched].flatMap((path) => after.get(path)?.info ?? []);
    for (const info of directories) await this.#add(openEntryOf(info), 0);
    this.#root = await from.getEntry('/', { signal: this.#signal });
    // The mark of a target without checkpoints is a file, which is removed from the root later.
    await this.#add(this.#to.capabilities.checkpoints ? entryOf(this.#root) : openEntryOf(this.#root), 0);
    await this.#store();
    await this.#compare(after);
    const closed = directories.filter(({ mode }) => isClosed(mode));
    // Deepest first and one by one: what is in a closed directory cannot be changed.
    for (const info of closed.sort((a, b) => b.path.length - a.path.length)) {
      await this.#add(entryOf(info), 0);
      await this.#store();
    }
    this.#before = after;
  }

  /** @throws FsError EIO if names, files or links of the source differ from the state that was copied last */
  async checkUnchanged(from: FileSystem): Promise<void> {
    const now = await this.#look(from);
    const isSame = ([path, { info, ino, version }]: [string, Seen]): boolean => {
      const found = now.get(path);
      return found?.info.kind === info.kind && found.ino === ino && found.version === version;
    };
    if (now.size !== this.#before.size || ![...this.#before].every(isSame)) throw changedDuringCopy();
  }

  /** Sets the metadata of the root once more, because removing the mark may have changed its times. */
  async restoreRoot(): Promise<void> {
    if (this.#root === undefined) return;
    await this.#withOwners([entryOf(this.#root)], (entries) => this.#to.run(setMany, [entries]));
  }

  async #look(from: FileSystem): Promise<Map<string, Seen>> {
    const signal = this.#signal;
    const found = new Map<string, Seen>();
    for await (const info of from.walk('/', { signal })) {
      const { ino, version } =
        info.kind === 'directory' ? { ino: 0, version: '' } : await from.lstat(info.path, { signal });
      found.set(info.path, { info, ino, version });
    }
    return found;
  }

  /** Removes the entries that the next state does not have, or whose names lead to other nodes there. */
  async #remove(after: ReadonlyMap<string, Seen>, touched: Set<string>): Promise<void> {
    let removed: string | undefined;
    for (const [path, { info, ino }] of this.#before) {
      if (removed !== undefined && path.startsWith(`${removed}/`)) {
        this.#before.delete(path);
        continue;
      }
      const next = after.get(path);
      if (next !== undefined && next.info.kind === info.kind && next.ino === ino) continue;
      await this.#to.rm(path, { recursive: true, signal: this.#signal });
      touched.add(parentPath(path));
      this.#before.delete(path);
      removed = path;
    }
  }

  async #put(from: FileSystem, info: EntryInfo, isCounted = true): Promise<void> {
    const signal = this.#signal;
    if (info.kind === 'symlink') {
      if (isCounted) this.#copied.symlinks++;
      return this.#add({ ...entryOf(info), target: info.target ?? '' }, 0);
    }
    if (isCounted) {
      this.#copied.files++;
      this.#copied.bytes += info.size;
    }
    if (info.size <= PIECE_BYTES) {
      const content = (await from.readFile(info.path, { signal })) as Uint8Array;
      return this.#add({ ...entryOf(info), content }, info.size);
    }
    if (!isCounted) return;
    await this.#add(openEntryOf(info), 0);
    await this.#store();
    await this.#putInPieces(from, info);
  }

  /** Copies a large file. Blocks of zeros become holes. */
  async #putInPieces(from: FileSystem, info: EntryInfo): Promise<void> {
    const { path, size } = info;
    const call = { signal: this.#signal };
    const source = await from.open(path, 'r', call);
    try {
      const target = await this.#to.open(path, 'r+', call);
      try {
        for (let at = 0; at < size; ) {
          const piece = new Uint8Array(Math.min(PIECE_BYTES, size - at));
          const bytes = piece.subarray(0, await source.read(piece, at, call));
          if (bytes.length === 0) break;
          for (const { start, end } of contentIn(bytes))
            await target.write(bytes.subarray(start, end), at + start, call);
          at += bytes.length;
          this.#report();
          this.#signal?.throwIfAborted();
        }
        await target.truncate(size, call);
      } finally {
        await target.close();
      }
    } finally {
      await source.close();
    }
    await this.#withOwners([info], async ([owner = info]) => this.#to.chown(info.path, owner.uid, owner.gid, call));
    await this.#to.chmod(path, info.mode, call);
    await this.#to.utimes(path, info.accessedAt / 1_000, info.modifiedAt / 1_000, call);
  }

  async #add(entry: NewEntry, bytes: number): Promise<void> {
    // A path may occur in a batch only once.
    if (this.#batch.some(({ path }) => path === entry.path)) await this.#store();
    this.#batch.push(entry);
    this.#batchBytes += bytes;
    if (this.#batch.length >= BATCH_ENTRIES || this.#batchBytes >= BATCH_BYTES) await this.#store();
  }

  async #store(): Promise<void> {
    this.#signal?.throwIfAborted();
    if (this.#batch.length > 0)
      await this.#withOwners(this.#batch, (entries) => this.#to.run(setMany, [entries], { signal: this.#signal }));
    this.#batch = [];
    this.#batchBytes = 0;
    this.#report();
  }

  /**
   * Makes a change with the owners of the source. If the target refuses those, makes it, and all later ones, with the
   * owners that the target gives to new entries.
   */
  async #withOwners<T extends NewEntry>(given: readonly T[], change: (entries: T[]) => Promise<void>): Promise<void> {
    if (this.#owners === undefined)
      try {
        return await change([...given]);
      } catch (error) {
        if (!isFsError(error, 'EPERM')) throw error;
        const root = await this.#ownerOf('/');
        // The mark of a target without checkpoints is a file that a copy has created, so its owner is the one that new
        // entries get.
        const others = this.#to.capabilities.checkpoints ? root : await this.#ownerOf(`/${MARK}`);
        this.#owners = { root, others };
      }
    const { root, others } = this.#owners;
    await change(given.map((entry) => ({ ...entry, ...(entry.path === '/' ? root : others) })));
  }

  async #ownerOf(path: string): Promise<Owner> {
    const { uid, gid } = await this.#to.lstat(path, { signal: this.#signal });
    return { uid, gid };
  }

  /** @throws FsError EIO if the target has other counts than the state that was copied */
  async #compare(after: ReadonlyMap<string, Seen>): Promise<void> {
    const found = await this.#to.stats({ signal: this.#signal });
    let [files, directories, size] = [0, 0, 0];
    const counted = new Set<number>();
    for (const { info, ino } of after.values()) {
      if (info.kind === 'directory') directories++;
      else files++;
      if (info.links === 1 || !counted.has(ino)) size += info.size;
      if (info.links > 1) counted.add(ino);
    }
    // The mark of a target without checkpoints.
    const mark = this.#to.capabilities.checkpoints ? undefined : await this.#to.lstat(`/${MARK}`);
    const expected = [files + (mark ? 1 : 0), directories, size + (mark?.size ?? 0)];
    if ([found.fileCount, found.directoryCount, found.totalSize].every((count, i) => count === expected[i])) return;
    throw changedDuringCopy();
  }
}

function changedDuringCopy(): FsError {
  const hint = 'The copy differs from its source: something has written to one of them during the call';
  return new FsError('EIO', { syscall: 'copy', path: '/', hint });
}

function entryOf({ path, kind, mode, uid, gid, ...times }: EntryInfo): NewEntry {
  const { createdAt, modifiedAt, changedAt, accessedAt } = times;
  return { path, kind, mode, uid, gid, createdAt, modifiedAt, changedAt, accessedAt };
}

/** Like {@link entryOf}, with a mode that lets the owner change the entry until it is complete. */
function openEntryOf(info: EntryInfo): NewEntry {
  return { ...entryOf(info), mode: info.mode | (info.kind === 'directory' ? OWNER_ALL : 0o600) };
}

function isClosed(mode: number): boolean {
  return (mode & OWNER_ALL) !== OWNER_ALL;
}

const KEPT = ['kind', 'mode', 'uid', 'gid', 'createdAt', 'modifiedAt', 'changedAt', 'accessedAt'] as const;

function isSameInfo(a: EntryInfo, b: EntryInfo): boolean {
  return a.size === b.size && a.links === b.links && KEPT.every((key) => a[key] === b[key]);
}

/** Returns the ranges of a piece that are not whole blocks of zeros. */
function contentIn(bytes: Uint8Array): { readonly start: number; readonly end: number }[] {
  const found: { start: number; end: number }[] = [];
  for (let start = 0; start < bytes.length; start += BLOCK_BYTES) {
    const end = Math.min(start + BLOCK_BYTES, bytes.length);
    if (bytes.subarray(start, end).every((byte) => byte === 0)) continue;
    const last = found.at(-1);
    if (last?.end === start) last.end = end;
    else found.push({ start, end });
  }
  return found;
}
