import { type CallOptions, type FileSystem, FsError, isFsError, joinPath } from '@scratchfs/core';
import { learnLimits, Yielder } from '@scratchfs/core/internal';
import { archiveError } from './archive-error.js';
import { checkOptions } from './options.js';
import { type ArchiveEntry, readArchive } from './read-archive.js';
import { streamOf } from './stream-of.js';
import { asUtime } from './times.js';

export interface UnpackOptions extends CallOptions {
  /** Leading names to remove from every path; entries without more names are skipped. Default 0. */
  readonly strip?: number | undefined;
}

/**
 * Unpacks a tar archive (ustar, pax, GNU; also one compressed with gzip) under a directory, which is created if it is
 * missing: files, directories, symlinks, hard links, with their modes, owners and times. Existing files and links are
 * replaced; existing directories are kept, with what else is in them. All or nothing: the archive is read and checked
 * first, then unpacked in one transaction. Every name is accepted as it is or refused (`..`, absolute paths,
 * backslashes), and no entry is written through a link.
 *
 * The limits of the filesystem hold for the unpacked bytes while the archive is read, so that a small archive cannot
 * take much memory. Without `maxNodeCount`, an archive may have 1,000,000 entries.
 *
 * An array of at most 16 MiB may be changed right after the call. A larger one is copied in pieces, so as not to block
 * the event loop: it must not change before the call has ended.
 *
 * @throws TypeError, RangeError for invalid arguments; FsError EINVAL for a damaged archive, a forbidden name, a
 *   device, a sparse file; ENOSPC, EFBIG at a limit; ENOTDIR, EISDIR if an existing entry is in the way; ENOTSUP if the
 *   filesystem has no transactions
 * @throws StorageError if the storage fails, `conflict` if other writers kept interfering
 */
export async function unpackTar(
  fileSystem: FileSystem,
  tar: Uint8Array | ReadableStream<Uint8Array>,
  path = '/',
  options?: UnpackOptions,
): Promise<void> {
  checkOptions(options, ['signal', 'strip'], 'unpackTar');
  if (!(tar instanceof Uint8Array) && !(tar instanceof ReadableStream)) {
    throw new TypeError('An archive must be a Uint8Array or a ReadableStream of such');
  }
  const { signal, strip = 0 } = options ?? {};
  if (!Number.isSafeInteger(strip) || strip < 0) throw new RangeError(`strip must be an integer ≥ 0, not ${strip}`);
  signal?.throwIfAborted();
  const entries = await readArchive(tar instanceof Uint8Array ? streamOf(tar) : tar, {
    strip,
    limits: await learnLimits(fileSystem, signal),
    signal,
  });
  await fileSystem.transaction(
    async (inside) => {
      await inside.mkdir(path, { recursive: true });
      await new Unpacking(inside, await inside.realpath(path), signal).all(entries);
    },
    { signal },
  );
}

class Unpacking {
  /** Directories known to exist without a link on the way. */
  readonly #directories: Set<string>;
  readonly #top: string;
  readonly #yielder: Yielder;

  constructor(
    readonly fileSystem: FileSystem,
    top: string,
    signal: AbortSignal | undefined,
  ) {
    this.#yielder = new Yielder(signal);
    this.#top = top;
    this.#directories = new Set([top]);
  }

  async all(entries: readonly ArchiveEntry[]): Promise<void> {
    const directories = new Map<string, ArchiveEntry>();
    for (const entry of entries) {
      const path = await this.#place(entry.names, entry);
      if (entry.kind === 'directory') {
        await this.#directory(path);
        directories.set(path, entry);
      } else await this.#leaf(path, entry);
      await this.#yielder.pauseIfDue();
    }
    // Directory times last: every new entry changes them.
    for (const [path, entry] of directories) {
      await this.#metadata(path, entry);
      await this.#yielder.pauseIfDue();
    }
  }

  /** Returns the path of an entry, creating missing parents. */
  async #place(names: readonly string[], entry: ArchiveEntry): Promise<string> {
    let path = this.#top;
    for (const [at, name] of names.entries()) {
      if (at > 0) await this.#parent(path, entry);
      path = joinPath(path, name);
    }
    return path;
  }

  async #parent(path: string, entry: ArchiveEntry): Promise<void> {
    if (this.#directories.has(path)) return;
    const kind = await this.#kindAt(path);
    if (kind === 'other') {
      throw new FsError('ENOTDIR', {
        syscall: 'untar',
        path: entry.names.join('/'),
        hint: 'Its parent is a file or a link. Nothing was unpacked',
      });
    }
    if (kind === undefined) await this.fileSystem.mkdir(path);
    this.#directories.add(path);
  }

  async #directory(path: string): Promise<void> {
    if (this.#directories.has(path)) return;
    const kind = await this.#kindAt(path);
    if (kind === 'other') await this.fileSystem.unlink(path);
    if (kind !== 'directory') await this.fileSystem.mkdir(path);
    this.#directories.add(path);
  }

  async #leaf(path: string, entry: ArchiveEntry): Promise<void> {
    const { fileSystem } = this;
    const kind = await this.#kindAt(path);
    if (kind === 'directory') {
      const hint = 'A directory is in the way. Nothing was unpacked';
      throw new FsError('EISDIR', { syscall: 'untar', path: entry.names.join('/'), hint });
    }
    if (entry.kind === 'link') {
      await this.#link(path, entry, kind !== undefined);
      return;
    }
    if (kind !== undefined) await fileSystem.unlink(path);
    if (entry.kind === 'symlink') await fileSystem.symlink(entry.target, path);
    else await fileSystem.writeFile(path, entry.content, { flag: 'wx', mode: entry.mode });
    await this.#metadata(path, entry);
  }

  async #link(path: string, entry: ArchiveEntry, exists: boolean): Promise<void> {
    const first = await this.#place(entry.first, entry);
    if (first === path) return;
    if ((await this.#kindAt(first)) !== 'other') {
      throw archiveError(
        entry.names.join('/'),
        'It is a hard link to a file that the archive does not contain before it',
      );
    }
    if (exists) await this.fileSystem.unlink(path);
    await this.fileSystem.link(first, path);
  }

  async #metadata(path: string, { kind, mode, uid, gid, mtime }: ArchiveEntry): Promise<void> {
    const { fileSystem } = this;
    const time = asUtime(mtime);
    if (kind === 'directory') await fileSystem.chmod(path, mode);
    if (uid !== 0 || gid !== 0 || kind === 'directory') await fileSystem.lchown(path, uid, gid);
    await fileSystem.lutimes(path, time, time);
  }

  async #kindAt(path: string): Promise<'directory' | 'other' | undefined> {
    try {
      return (await this.fileSystem.lstat(path)).isDirectory() ? 'directory' : 'other';
    } catch (error) {
      if (isFsError(error, 'ENOENT')) return undefined;
      throw error;
    }
  }
}
