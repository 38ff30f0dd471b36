import { baseName, type FileSystem, isFsError, parentPath } from '@scratchfs/core';
import { hostFileSystem } from '@scratchfs/host';
import { hashOf } from '../log/contents.js';
import type { EntryState } from '../operation.js';
import { MODE_BITS } from './attempt-change.js';

/** State of the disk at a path. */
export interface DiskEntry {
  readonly state: EntryState | null;
  /** Content of a file. */
  readonly content?: Uint8Array | undefined;
  /** `parent`: a file or link is in place of a directory above; `case`: the disk has the name in another case. */
  readonly problem?: 'parent' | 'case' | undefined;
}

/** Reads entries that changes are compared with. */
export interface EntryReader {
  /** @param isNew true if the attempt creates the path, so that the disk must not have its name in another case */
  read(path: string, isNew: boolean): Promise<DiskEntry>;
}

export const ABSENT: DiskEntry = { state: null };

/** Reads entries of a directory of the disk. No link is followed, and repositories are hidden. */
export class DiskReader implements EntryReader, AsyncDisposable {
  readonly #directories = new Map<string, Promise<'directory' | 'absent' | 'other'>>([
    ['/', Promise.resolve('directory')],
  ]);

  constructor(
    readonly fileSystem: FileSystem,
    readonly signal?: AbortSignal,
  ) {}

  static open(directory: string, signal?: AbortSignal): DiskReader {
    return new DiskReader(hostFileSystem(directory, { readonly: true, git: 'hidden' }), signal);
  }

  async read(path: string, isNew: boolean): Promise<DiskEntry> {
    const parent = await this.#kindOf(parentPath(path));
    if (parent === 'absent') return ABSENT;
    if (parent === 'other') return { state: null, problem: 'parent' };
    const { fileSystem, signal } = this;
    try {
      const { kind, mode, size } = await fileSystem.lstat(path, { signal });
      if (isNew && !(await this.#hasName(path))) return { state: null, problem: 'case' };
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

  /** Reports whether the disk spells a name as the path does. A disk that ignores case finds other spellings too. */
  async #hasName(path: string): Promise<boolean> {
    const names = await this.fileSystem.readdir(parentPath(path), { signal: this.signal });
    return names.includes(baseName(path));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.fileSystem.close();
  }
}
