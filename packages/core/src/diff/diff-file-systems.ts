import { checkFileSystem } from '../check-file-system.js';
import { signalIn } from '../engine/arguments.js';
import type { Cursor } from '../engine/cursor.js';
import { isLoading } from '../engine/function-files.js';
import { trustedApi, trustedSyncApi } from '../engine/internals.js';
import { infoOf } from '../engine/operations/read.js';
import { collectItems, inSlices, Yielder } from '../engine/scheduling/time-slice.js';
import { loadedIfPending } from '../engine/view/contents.js';
import type { View } from '../engine/view.js';
import { directoryAt, mapped, TreeWalk } from '../engine/walk.js';
import type { EntryInfo } from '../entry.js';
import { FsError } from '../errors.js';
import type { CallOptions, FileSystem, SyncFileSystem } from '../file-system.js';
import { comparePaths } from '../paths.js';
import { FILE } from '../tree/node.js';
import {
  type AddedOrRemoved,
  type Changed,
  DiffCursor,
  type DiffEntry,
  type DiffOptions,
  type FileSystemDiff,
  withContents,
} from './diff.js';

/**
 * Returns the changes that lead from one filesystem to another, as `diff` returns them: from a parent to its fork, from
 * `at(checkpoint)` to a fork, or between any two. An entry that a side's layers hide counts as missing there.
 *
 * Two synchronous filesystems are compared as they are at the call. Parts that they share are mostly skipped, as a
 * filesystem in memory shares parts with its forks and checkpoints. If a filesystem is asynchronous, all entries of
 * both are listed, then links and files of equal size are read: nothing should write during the call.
 *
 * @throws FsError as reading the filesystems does, such as EFBIG for a file of 2 GiB or more whose content is read
 * @example
 * ```ts
 * import { createFileSystem } from 'scratchfs';
 * import { diffFileSystems } from 'scratchfs/diff';
 *
 * const fs = createFileSystem({ files: { '/a.txt': 'one' } });
 * const attempt = await fs.fork();
 * await attempt.writeFile('/b.txt', 'two');
 * console.log((await diffFileSystems(fs, attempt)).added.map(({ path }) => path)); // → [ '/b.txt' ]
 * ```
 */
export async function diffFileSystems(
  before: FileSystem,
  after: FileSystem,
  options?: DiffOptions & CallOptions,
): Promise<FileSystemDiff> {
  checkBoth(before, after);
  const contents = withContents(options);
  const signal = signalIn(options);
  signal?.throwIfAborted();
  if (before.kind === 'async' || after.kind === 'async') return diffEntries(before, after, contents, signal);
  const cursor = cursorOver(before as SyncFileSystem, after as SyncFileSystem, contents);
  return (await collectItems(inSlices(cursor, signal))).at(-1) as FileSystemDiff;
}

/**
 * Like {@link diffFileSystems}, for two synchronous filesystems.
 *
 * @throws FsError also EAGAIN for a file whose asynchronous function has not returned its content yet
 */
export function diffFileSystemsSync(
  before: SyncFileSystem,
  after: SyncFileSystem,
  options?: DiffOptions,
): FileSystemDiff {
  checkBoth(before, after);
  const cursor = cursorOver(before, after, withContents(options));
  for (;;) {
    const found = cursor.next();
    if (found) return found;
  }
}

function checkBoth(before: FileSystem, after: FileSystem): void {
  checkFileSystem(before, 'before');
  checkFileSystem(after, 'after');
}

/** Returns a cursor that can be continued after an EAGAIN, once the missing content is loaded. */
function cursorOver(before: SyncFileSystem, after: SyncFileSystem, contents: boolean): Cursor<FileSystemDiff | null> {
  const [a, b] = [trustedSyncApi(before, 'diffFileSystemsSync'), trustedSyncApi(after, 'diffFileSystemsSync')];
  const items = a.iterateSync((left) =>
    asCursor(b.iterateSync((right) => loadingAsItem(new DiffCursor(left, right, contents)))),
  );
  return {
    next() {
      const item = items.next().value as FileSystemDiff | null | FsError | undefined;
      if (item instanceof FsError) throw item;
      return item;
    },
  };
}

function asCursor<T>(items: IterableIterator<T>): Cursor<T> {
  return { next: () => items.next().value as T | undefined };
}

/** Turns an error about content that is not loaded into an item, because a generator that throws has ended. */
function loadingAsItem<T>(cursor: Cursor<T>): Cursor<T | FsError> {
  return {
    next() {
      try {
        return cursor.next();
      } catch (error) {
        if (isLoading(error)) return error;
        throw error;
      }
    },
  };
}

/** Compares any two filesystems by their entries. */
async function diffEntries(
  before: FileSystem,
  after: FileSystem,
  contents: boolean,
  signal: AbortSignal | undefined,
): Promise<FileSystemDiff> {
  const [left, right] = await Promise.all([new Entries(before, signal).load(), new Entries(after, signal).load()]);
  const added: AddedOrRemoved[] = [];
  const removed: AddedOrRemoved[] = [];
  const changed: Changed[] = [];
  const yielder = new Yielder(signal);
  for (const path of [...new Set([...left.paths, ...right.paths])].sort(comparePaths)) {
    await yielder.pauseIfDue();
    const [a, b] = await Promise.all([left.entry(path), right.entry(path)]);
    const content = a === undefined || b === undefined || !(await haveSameContent(left, right, path, a, b));
    if (!content && a.mode === b.mode && a.uid === b.uid && a.gid === b.gid) continue;
    const [one, two] = contents ? [await left.withData(path, a), await right.withData(path, b)] : [a, b];
    if (one === undefined) added.push({ path, ...(two as DiffEntry) });
    else if (two === undefined) removed.push({ path, ...one });
    else changed.push({ path, before: one, after: two, content });
  }
  return { added, removed, changed };
}

/** Walks all entries. A file whose content a function returns is loaded if its size is not given, or given as 0. */
class SizedWalk implements Cursor<EntryInfo> {
  #walk: Cursor<EntryInfo> | undefined;

  constructor(readonly view: View) {}

  next(): EntryInfo | undefined {
    const { view } = this;
    this.#walk ??= mapped(new TreeWalk(view, directoryAt(view, '/')), ({ path, name, entry, node }) => {
      const info = infoOf(view, path, name, entry);
      return node.kind === FILE && info.size === 0 ? { ...info, size: loadedIfPending(view, node).size } : info;
    });
    return this.#walk.next();
  }
}

/** The entries of one filesystem, by path. */
class Entries {
  readonly #fileSystem: FileSystem;
  readonly #signal: AbortSignal | undefined;
  #infos: ReadonlyMap<string, EntryInfo> = new Map();

  constructor(fileSystem: FileSystem, signal: AbortSignal | undefined) {
    this.#fileSystem = fileSystem;
    this.#signal = signal;
  }

  async load(): Promise<this> {
    const signal = this.#signal;
    const infos = await trustedApi(this.#fileSystem).collect((view) => new SizedWalk(view), { signal });
    this.#infos = new Map(infos.map((info) => [info.path, info]));
    return this;
  }

  get paths(): Iterable<string> {
    return this.#infos.keys();
  }

  async entry(path: string): Promise<DiffEntry | undefined> {
    const info = this.#infos.get(path);
    if (info === undefined) return undefined;
    const { kind, size, mode, uid, gid } = info;
    const entry = { kind, size: kind === 'directory' ? 0 : size, mode, uid, gid };
    if (kind !== 'symlink') return entry;
    return { ...entry, target: await this.#fileSystem.readlink(path, { signal: this.#signal }) };
  }

  async withData(path: string, entry: DiffEntry | undefined): Promise<DiffEntry | undefined> {
    return entry?.kind === 'file' ? { ...entry, data: await this.bytes(path) } : entry;
  }

  bytes(path: string): Promise<Uint8Array> {
    return this.#fileSystem.readFile(path, { signal: this.#signal });
  }
}

async function haveSameContent(
  left: Entries,
  right: Entries,
  path: string,
  a: DiffEntry,
  b: DiffEntry,
): Promise<boolean> {
  if (a.kind !== b.kind || a.size !== b.size || a.target !== b.target) return false;
  if (a.kind !== 'file' || a.size === 0) return true;
  const [one, two] = await Promise.all([left.bytes(path), right.bytes(path)]);
  return one.length === two.length && one.every((byte, i) => byte === two[i]);
}
