import { lstatSync } from 'node:fs';
import { type FileSystem, openInMemory, type SyncFileSystem } from '@scratchfs/core';
import { checkFileSystem, checkInteger, checkOptions, setMany } from '@scratchfs/core/internal';
import { compileGlob } from '@scratchfs/core/search';
import { recoverDirectory } from '../apply/apply-changes.js';
import { JOURNAL } from '../apply/journal.js';
import { ConfinedRoot } from '../confined-root.js';
import { givenPath } from '../given-path.js';
import { hostError } from '../host-error.js';
import { ignoredInRepository, ignoredPaths } from '../versions/ignored-paths.js';
import { DirectoryLoad, type LeftOut, type LoadedEntry } from './directory-load.js';

/** Progress of a load. The numbers are totals so far. */
export interface LoadProgress {
  readonly files: number;
  /** Bytes of contents. */
  readonly bytes: number;
  /** Path stored last; `/` if none was stored since the previous call. */
  readonly path: string;
}

export interface LoadOptions {
  /**
   * Filesystem to fill. Existing files are replaced; the entries that a failed call has stored stay. Default: a new one
   * in memory.
   */
  readonly into?: FileSystem | undefined;
  /**
   * Glob patterns of paths to leave out, relative to the directory, in the syntax of `compileGlob`; wildcards match
   * leading dots. A directory is left out with everything in it. Example: `['**\/node_modules', '**\/*.log']`.
   */
  readonly ignore?: string | readonly string[] | undefined;
  /**
   * Leave out what git ignores: by `.gitignore` files on all levels, and in a repository also by those above the
   * directory, `.git/info/exclude` and the user's own ignore file. Tracked files are not ignored. Needs git; the
   * directory need not be a repository. Default false.
   */
  readonly gitignore?: boolean | undefined;
  /** Maximum number of files, links and directories to load. Default 1,000,000. */
  readonly maxEntries?: number | undefined;
  /** Maximum number of bytes of contents to load. Default 1 GiB. */
  readonly maxBytes?: number | undefined;
  /** Called from time to time, and at the end. If it throws, so does the call. */
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface LoadResult<F extends FileSystem = FileSystem> {
  readonly fileSystem: F;
  readonly files: number;
  readonly directories: number;
  readonly symlinks: number;
  /** Bytes of contents. */
  readonly bytes: number;
  /** Paths in the directory that were not loaded, by reason. */
  readonly leftOut: LeftOut;
}

const MAX_ENTRIES = 1_000_000;
const MAX_BYTES = 2 ** 30;

/** Numbers of entries and of bytes of contents at which a batch is stored. */
const BATCH_ENTRIES = 512;
const BATCH_BYTES = 4 * 2 ** 20;

/**
 * Copies a directory of the host into a filesystem: files, directories and symlinks with modes and modification times.
 * Links are copied, never followed; absolute links into the directory become links into the filesystem. Hard links
 * become separate files. `.git` is never loaded, and owners are not. The way back is `diff` with `contents: true`, then
 * `applyChanges`.
 *
 * The copy does not see later changes of the directory. A file that changes during the call may be read before, during
 * or after its change. If an `applyChanges` on the directory was killed, it is first undone or completed, as by
 * `recoverDirectory`.
 *
 * @throws TypeError, RangeError for options of a wrong kind; FsError ENOENT, ENOTDIR for the directory, EFBIG with
 *   `limit` if `maxEntries` or `maxBytes` is exceeded, and what the host or `into` refuses; what {@link
 *   recoverDirectory} throws; Error, GitError if `gitignore` is set and git is missing or fails; the reason of the
 *   signal
 * @example
 * ```ts no-run
 * import { loadDirectory } from '@scratchfs/host';
 *
 * const { fileSystem, files, leftOut } = await loadDirectory('./project', { gitignore: true });
 * console.log(`${files} files, ${leftOut.ignored.count} ignored`);
 * fileSystem.writeFileSync('/notes.md', 'The project on the disk stays as it is.\n');
 * ```
 */
export function loadDirectory<F extends FileSystem>(
  directory: string,
  options: LoadOptions & { readonly into: F },
): Promise<LoadResult<F>>;
export function loadDirectory(
  directory: string,
  options?: LoadOptions & { readonly into?: undefined },
): Promise<LoadResult<SyncFileSystem>>;
export function loadDirectory(directory: string, options?: LoadOptions): Promise<LoadResult>;
export async function loadDirectory(directory: string, options: LoadOptions = {}): Promise<LoadResult> {
  const known = ['into', 'ignore', 'gitignore', 'maxEntries', 'maxBytes', 'onProgress'];
  const given = checkOptions<LoadOptions>(options, known, 'loadDirectory');
  const { gitignore = false, onProgress, signal } = given;
  if (typeof gitignore !== 'boolean') throw new TypeError('gitignore must be true or false');
  if (onProgress !== undefined && typeof onProgress !== 'function')
    throw new TypeError('onProgress must be a function');
  const maxEntries = checkInteger(given.maxEntries ?? MAX_ENTRIES, 'maxEntries');
  const maxBytes = checkInteger(given.maxBytes ?? MAX_BYTES, 'maxBytes');
  const isMatched = matcherOf(given.ignore ?? []);
  if (typeof directory !== 'string' || directory.includes('\0'))
    throw new TypeError('The path of the directory must be a string without NUL');
  const fileSystem = given.into === undefined ? openInMemory() : checkFileSystem(given.into, 'into');
  const path = givenPath(directory);
  signal?.throwIfAborted();
  let root: ConfinedRoot;
  try {
    root = new ConfinedRoot(path);
  } catch (error) {
    throw hostError(error, 'open', '/');
  }
  try {
    if (lstatSync(root.child(JOURNAL), { throwIfNoEntry: false }) !== undefined) await recoverDirectory(path);
    const load = new DirectoryLoad(root, {
      isMatched,
      ignoredAt: gitignore ? ignoredAt : undefined,
      maxEntries,
      maxBytes,
      signal,
    });
    let batch: LoadedEntry[] = [];
    let batchBytes = 0;
    const store = async (): Promise<void> => {
      const { path: last } = batch.at(-1) ?? { path: '/' };
      if (batch.length > 0) await fileSystem.run(setMany, [batch], { signal });
      batch = [];
      batchBytes = 0;
      onProgress?.({ files: load.files, bytes: load.bytes, path: last });
    };
    for await (const entry of load.entries()) {
      batch.push(entry);
      batchBytes += entry.content?.length ?? 0;
      if (batch.length >= BATCH_ENTRIES || batchBytes >= BATCH_BYTES) await store();
    }
    await store();
    const { files, directories, symlinks, bytes, leftOut } = load;
    return { fileSystem, files, directories, symlinks, bytes, leftOut };
  } finally {
    root.close();
  }

  async function ignoredAt(place: string, isTop: boolean): Promise<((path: string) => boolean) | undefined> {
    return (await ignoredInRepository(place, signal)) ?? (isTop ? await ignoredPaths(place, signal) : undefined);
  }
}

function matcherOf(patterns: string | readonly string[]): (path: string, isDirectory: boolean) => boolean {
  const list = typeof patterns === 'string' ? [patterns] : patterns;
  if (!Array.isArray(list)) throw new TypeError('ignore must be a glob pattern or a list of them');
  const globs = list.map((pattern) =>
    compileGlob(typeof pattern === 'string' ? pattern.replace(/^\/+/, '') : pattern, { dot: true }),
  );
  return (path, isDirectory) => globs.some((glob) => glob.matches(path, isDirectory));
}
