import { asyncStorage, type FileSystem, fileSystemOn, isFsError, parentPath } from '@scratchfs/core';
import { hostReadBackend } from '@scratchfs/host/internal-read';
import { hashOf } from '../log/contents.js';
import type { EntryState } from '../operation.js';
import { MODE_BITS } from './attempt-change.js';

/** State of the disk at a path. */
export interface DiskEntry {
  readonly state: EntryState | null;
  /** Content of a file. */
  readonly content?: Uint8Array | undefined;
  /** `parent`: a file or link is in place of a directory above. */
  readonly problem?: 'parent' | undefined;
}

/** Reads entries that changes are compared with. */
export interface EntryReader {
  read(path: string): Promise<DiskEntry>;
}

export const ABSENT: DiskEntry = { state: null };

/** Deadline of a read in milliseconds. Giving up early on a slow disk gains nothing. */
const TIMEOUT_MS = 3_600_000;

/**
 * Reads entries of a directory of the disk. No link is followed, repositories are hidden, and a name that the disk has in
 * another case does not exist.
 */
export class DiskReader implements EntryReader, AsyncDisposable {
  readonly #directories = new Map<string, Promise<'directory' | 'absent' | 'other'>>([
    ['/', Promise.resolve('directory')],
  ]);

  constructor(
    readonly fileSystem: FileSystem,
    readonly signal?: AbortSignal,
    readonly closeStorage?: () => Promise<void>,
  ) {}

  static open(directory: string, signal?: AbortSignal): DiskReader {
    const storage = asyncStorage(hostReadBackend(directory), { timeoutMs: TIMEOUT_MS, retries: 0 });
    return new DiskReader(fileSystemOn(storage), signal, () => storage.close());
  }

  async read(path: string): Promise<DiskEntry> {
    const parent = await this.#kindOf(parentPath(path));
    if (parent === 'absent') return ABSENT;
    if (parent === 'other') return { state: null, problem: 'parent' };
    const { fileSystem, signal } = this;
    try {
      const { kind, mode, size } = await fileSystem.lstat(path, { signal });
      const common = { kind, mode: mode & MODE_BITS };
      if (kind === 'directory') return { state: { ...common, size: 0 } };
      if (kind === 'symlink')
        return { state: { ...common, size, target: await fileSystem.readlink(path, { signal }) } };
      const content = await fileSystem.readFile(path, { signal });
      return { state: { ...common, size: content.length, hash: hashOf(content) }, content };
    } catch (error) {
      if (isFsError(error, 'ENOENT')) return ABSENT;
      throw error;
    }
  }

  async #kindOf(path: string): Promise<'directory' | 'absent' | 'other'> {
    let kind = this.#directories.get(path);
    if (kind === undefined) this.#directories.set(path, (kind = this.#lookUp(path)));
    return kind;
  }

  async #lookUp(path: string): Promise<'directory' | 'absent' | 'other'> {
    const parent = await this.#kindOf(parentPath(path));
    if (parent !== 'directory') return parent;
    const { fileSystem, signal } = this;
    try {
      const { kind } = await fileSystem.lstat(path, { signal });
      return kind === 'directory' ? 'directory' : 'other';
    } catch (error) {
      if (isFsError(error, 'ENOENT')) return 'absent';
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.fileSystem.close();
    await this.closeStorage?.();
  }
}
