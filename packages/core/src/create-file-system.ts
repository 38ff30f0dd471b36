import { AsyncFileSystem } from './async-file-system.js';
import { checkBoolean, checkOptions, contentBytes, copyBytes, describe, isBytes } from './engine/arguments.js';
import { checkPlainObject } from './engine/check-plain-object.js';
import { type Context, type ContextOptions, makeContext } from './engine/context.js';
import { rootMeta, systemClock } from './engine/defaults.js';
import type { Executor, SyncExecutor } from './engine/executor.js';
import { executorOf } from './engine/executor-of.js';
import { functionFiles } from './engine/function-files.js';
import { MemoryExecutor } from './engine/memory/memory-executor.js';
import { setMany } from './engine/operations/entries.js';
import type { NewEntry } from './entry.js';
import { isStorageError, quote } from './errors.js';
import type { Content, FileSystem, SyncFileSystem } from './file-system.js';
import { givenLimits, type Limits } from './limits.js';
import { MemoryFileSystem } from './memory-file-system.js';
import { compareNames, normalizePath, parentPath } from './paths.js';
import type { AsyncStorage, Storage, SyncStorage } from './storage.js';
import { type FileRecord, fromBase64 } from './to-record.js';

/**
 * Returns the content of a file. Called when the content is first needed; called again if that failed or there was no
 * room for the content.
 */
export type FileFunction = () => Content | Promise<Content>;

/**
 * A file whose content a function returns. With `size`, in bytes, the size is known from the start, and a content of
 * another size is EIO.
 */
export interface FunctionFile {
  readonly load: FileFunction;
  readonly size?: number | undefined;
}

export type InitialFile = FileRecord | Content | FileFunction | FunctionFile;

/**
 * Initial files by path: text, bytes, a {@link FileRecord} as `toJSON` returns it, or, without `storage`, a function or
 * a {@link FunctionFile} that gives the content at the first read.
 */
export type InitialFiles =
  | Readonly<Record<string, InitialFile>>
  | Iterable<readonly [path: string, content: InitialFile]>;

export interface FileSystemOptions extends ContextOptions {
  /**
   * Created together with the filesystem, with missing parents; they count against the limits.
   *
   * A function returns its file's content at the first read; it needs `import 'scratchfs/function-files'`.
   * Opening, appending, editing and copying the file load it too, and `stat` if no size is given; `readdir`, `walk`,
   * `entries` without contents, `rename`, `link`, `chmod`, `rm`, checkpoints, forks and a write of the whole file do
   * not. Before that, listings show the given size or 0. Reading takes a promise method if the function is
   * asynchronous: a synchronous one fails with EAGAIN until the content is loaded. If the function fails, the read
   * fails with EIO, whose `cause` is the error, and the next read calls it again. The loaded size counts against the
   * limits (ENOSPC, EFBIG). Functions need a filesystem in a memory of its own, without `storage`.
   *
   * A call that waits for a function takes effect after that. A later call may not have to wait and then takes effect
   * first, even on the same file: if the order matters, await each call.
   */
  readonly files?: InitialFiles | undefined;
  /** Let `close()` close the storage too, for a storage that only this filesystem uses. Default false. */
  readonly closesStorage?: boolean | undefined;
}

/**
 * Opens a filesystem on a storage. Several on one storage share the same state and limits. If `files` are refused,
 * limits that this call stored are removed again, even if another client has relied on them since.
 * @throws TypeError, RangeError for options of a wrong kind; FsError if `files` cannot be created, such as ENOSPC and
 *   EFBIG for limits and EEXIST for an entry of another kind, and EINVAL if the filesystem is stored with other limits;
 *   StorageError if the storage fails
 */
export function openFileSystem(storage: SyncStorage, options?: FileSystemOptions): SyncFileSystem;
export function openFileSystem(storage: AsyncStorage, options?: FileSystemOptions): Promise<FileSystem>;
export function openFileSystem(storage: Storage, options?: FileSystemOptions): SyncFileSystem | Promise<FileSystem>;
export function openFileSystem(
  storage: Storage,
  options: FileSystemOptions = {},
): SyncFileSystem | Promise<FileSystem> {
  const executor: Executor = executorOf(storage);
  const { closes, ...opening } = prepare(executor, options);
  const [lazy] = opening.functions.keys();
  if (lazy !== undefined)
    throw new TypeError(`The content of ${quote(lazy)} is a function, which needs a filesystem without a storage`);
  const onClose = closes ? async () => storage.close() : undefined;
  return executor.kind === 'sync'
    ? openSync(executor as SyncExecutor, opening, onClose)
    : openAsync(executor, opening, onClose);
}

/**
 * Like {@link openFileSystem}, on a new state in memory that no other filesystem shares. A bundle with only this
 * function contains no code of storages.
 * @throws TypeError, RangeError for options of a wrong kind; FsError if `files` cannot be created, such as ENOSPC and
 *   EFBIG for limits
 */
export function openInMemory(options: FileSystemOptions = {}): SyncFileSystem {
  // A value that is not a function is refused with the other options.
  const clock = typeof options?.clock === 'function' ? options.clock : systemClock;
  const executor = MemoryExecutor.create(rootMeta(clock()));
  const { closes, ...opening } = prepare(executor, options);
  return openSync(executor, opening, closes ? () => executor.close() : undefined);
}

/** Names of the options in {@link FileSystemOptions}. */
export const FILE_SYSTEM_OPTIONS = ['files', 'closesStorage', 'limits', 'clock', 'random'] as const;

/** Checked options of a filesystem to open. */
interface Opening {
  readonly context: Context;
  readonly limits: Limits;
  readonly entries: readonly NewEntry[];
  readonly functions: ReadonlyMap<string, InitialFile>;
}

function prepare(executor: Executor, options: FileSystemOptions): Opening & { readonly closes: boolean | undefined } {
  const given = checkOptions(options, FILE_SYSTEM_OPTIONS, 'createFileSystem', false);
  checkPlainObject(options, 'The options of createFileSystem');
  const context = makeContext(given, executor);
  const limits = givenLimits(given.limits);
  const closes = checkBoolean(given.closesStorage, 'closesStorage');
  const functions = new Map<string, InitialFile>();
  const entries = given.files === undefined ? [] : initialEntries(given.files, functions);
  return { context, limits, closes, entries, functions };
}

function openSync(
  executor: SyncExecutor,
  { context, limits, entries, functions }: Opening,
  onClose: (() => Promise<void>) | undefined,
): SyncFileSystem {
  executor.quota.open(limits);
  try {
    if (entries.length > 0)
      executor.runSync(context, (view) => {
        setMany(view, entries);
        for (const [path, content] of functions) functionFiles().set(view, path, content);
      });
  } catch (error) {
    executor.quota.withdraw(limits);
    throw error;
  }
  return new MemoryFileSystem(executor, context, { onClose, setsLimits: true });
}

type SettingOptions = Omit<ContextOptions, 'limits'>;

/**
 * Returns a filesystem on a storage synchronously: {@link openFileSystem} without initial files, under the stored
 * limits. On an asynchronous storage, these are learned with the first write.
 */
export function fileSystemOn(storage: SyncStorage, options?: SettingOptions): SyncFileSystem;
export function fileSystemOn(storage: Storage, options?: SettingOptions): FileSystem;
export function fileSystemOn(storage: Storage, options: SettingOptions = {}): FileSystem {
  const given = checkOptions(options, ['clock', 'random'], 'fileSystemOn', false);
  const executor: Executor = executorOf(storage);
  const context = makeContext(given, executor);
  return executor.kind === 'sync'
    ? new MemoryFileSystem(executor as SyncExecutor, context, { setsLimits: true })
    : new AsyncFileSystem(executor, context, { setsLimits: true });
}

async function openAsync(
  executor: Executor,
  { context, limits, entries }: Opening,
  onClose: (() => Promise<void>) | undefined,
): Promise<FileSystem> {
  await executor.quota.open(limits);
  try {
    if (entries.length > 0) await executor.run(context, (view) => setMany(view, entries));
  } catch (error) {
    // After a failure of the storage the files may be stored, so the limits stay too. The same call can be repeated.
    if (!isStorageError(error)) await Promise.resolve(executor.quota.withdraw(limits)).catch(() => {});
    throw error;
  }
  return new AsyncFileSystem(executor, context, { onClose, setsLimits: true });
}

function initialEntries(files: InitialFiles, functions: Map<string, InitialFile>): NewEntry[] {
  if (typeof files !== 'object' || files === null)
    throw new TypeError(`files must be a record or an iterable of pairs, not ${describe(files)}`);
  const pairs = Symbol.iterator in files ? [...files] : Object.entries(files);
  const entries = new Map<string, NewEntry>();
  for (const pair of pairs) {
    if (!Array.isArray(pair) || pair.length !== 2) throw new TypeError('files must be pairs of path and content');
    const path = normalizePath(pair[0] as string);
    if (entries.has(path)) throw new TypeError(`files names ${quote(path)} twice`);
    const content = pair[1] as InitialFile;
    const isLazy = path !== '/' && isFunction(content);
    if (isLazy) {
      functionFiles().check(content, path);
      functions.set(path, content);
    }
    entries.set(path, { path, ...(isLazy ? EMPTY_FILE : contentOf(content as FileRecord | Content, path)) });
  }
  for (const path of [...entries.keys()].sort(compareNames)) {
    for (let parent = parentPath(path); parent !== '/' && !entries.has(parent); parent = parentPath(parent)) {
      entries.set(parent, { path: parent, kind: 'directory' });
    }
  }
  return [...entries.values()].filter((entry) => entry.path !== '/');
}

const EMPTY_FILE = { kind: 'file', content: '' } as const;

/** Reports whether the content of a file is a function, or an object with one. */
function isFunction(content: InitialFile): boolean {
  return typeof content === 'function' || (typeof content === 'object' && content !== null && 'load' in content);
}

function contentOf(content: FileRecord | Content, path: string): Omit<NewEntry, 'path'> {
  if (content === null) return { kind: 'directory' };
  if (path === '/') throw new TypeError('The root is a directory: its content in files can only be null');
  if (typeof content === 'string') return { kind: 'file', content };
  if (isBytes(content)) return { kind: 'file', content: copyBytes(contentBytes(content)) };
  if (typeof content === 'object' && 'symlink' in content) return { kind: 'symlink', target: content.symlink };
  if (typeof content === 'object' && 'base64' in content) return { kind: 'file', content: fromBase64(content.base64) };
  throw new TypeError(
    `The content of ${quote(path)} must be text, bytes, null, { base64 }, { symlink }, a function or { load, size }, not ${describe(content)}`,
  );
}
