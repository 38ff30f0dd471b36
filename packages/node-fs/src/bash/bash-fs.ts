import { type FileSystem, FsError, isFsError, openFileSystem, type Stats, type SyncFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import type { ByteString, CpOptions, FileContent, FsStat, IFileSystem, MkdirOptions, RmOptions } from 'just-bash';
import { directoryOf, resolvePath, toLookAt, toMake } from './bash-paths.js';
import { deviceStat, isDevice, isSink } from './devices.js';
import { charactersOf, toBytes, toText } from './encodings.js';
import { type Outside, outside } from './outside.js';

type DirentEntry = Awaited<ReturnType<NonNullable<IFileSystem['readdirWithFileTypes']>>>[number];
type ReadOptions = Parameters<IFileSystem['readFile']>[1];
type WriteOptions = Parameters<IFileSystem['writeFile']>[2];

/** The filesystem interface of just-bash over a scratchfs filesystem. */
export class BashFs implements IFileSystem {
  readonly #fs: FileSystem;
  /** Files that the shell keeps under names of devices. They appear in no listing and no checkpoint. */
  readonly #devices: FileSystem;
  readonly #outside: Outside = outside();

  constructor(fileSystem: FileSystem) {
    this.#fs = fileSystem;
    this.#devices = openFileSystem(new MemoryStorage(), { limits: fileSystem.limits });
  }

  resolvePath(base: string, path: string): string {
    return resolvePath(base, path);
  }

  getAllPaths(): string[] {
    if (this.#fs.kind !== 'sync') return [];
    return this.#outside(() => ['/', ...Array.from((this.#fs as SyncFileSystem).walkSync(), ({ path }) => path)]);
  }

  readFile(path: string, options?: ReadOptions): Promise<string> {
    const encoding = typeof options === 'string' ? options : options?.encoding;
    return this.#outside(async () => toText(await this.#read(path), encoding));
  }

  readFileBytes(path: string): Promise<ByteString> {
    return this.#outside(async () => charactersOf(await this.#read(path)) as unknown as ByteString);
  }

  readFileBuffer(path: string): Promise<Uint8Array> {
    return this.#outside(() => this.#read(path));
  }

  writeFile(path: string, content: FileContent, options?: WriteOptions): Promise<void> {
    return this.#outside(() => this.#write(path, content, options, 'w'));
  }

  appendFile(path: string, content: FileContent, options?: WriteOptions): Promise<void> {
    return this.#outside(() => this.#write(path, content, options, 'a'));
  }

  exists(path: string): Promise<boolean> {
    return this.#outside(async () => {
      if (path.includes('\\')) return false;
      const at = resolvePath('/', path);
      return isSink(at) || this.#at(at).exists(at);
    });
  }

  stat(path: string): Promise<FsStat> {
    return this.#outside(async () => {
      const at = toLookAt(path, 'stat');
      return isSink(at) ? deviceStat(at) : bashStat(await this.#at(at).stat(at));
    });
  }

  lstat(path: string): Promise<FsStat> {
    return this.#outside(async () => {
      const at = toLookAt(path, 'lstat');
      return isSink(at) ? deviceStat(at) : bashStat(await this.#at(at).lstat(at));
    });
  }

  realpath(path: string): Promise<string> {
    return this.#outside(async () => {
      const at = toLookAt(path, 'realpath');
      return isSink(at) ? at : this.#at(at).realpath(at);
    });
  }

  readlink(path: string): Promise<string> {
    return this.#outside(async () => {
      const at = toLookAt(path, 'readlink');
      if (isDevice(at)) throw new FsError('EINVAL', { syscall: 'readlink', path });
      return this.#fs.readlink(at);
    });
  }

  readdir(path: string): Promise<string[]> {
    return this.#outside(async () => this.#fs.readdir(this.#directory(path)));
  }

  readdirWithFileTypes(path: string): Promise<DirentEntry[]> {
    return this.#outside(async () => {
      const entries = await this.#fs.readdir(this.#directory(path), { withFileTypes: true });
      return entries.map(({ name, kind }) => ({
        name,
        isFile: kind === 'file',
        isDirectory: kind === 'directory',
        isSymbolicLink: kind === 'symlink',
      }));
    });
  }

  mkdir(path: string, options?: MkdirOptions): Promise<void> {
    return this.#outside(async () => {
      const at = this.#newName(path, 'mkdir');
      await this.#fs.mkdir(at, { recursive: options?.recursive === true });
    });
  }

  /**
   * Removes a name. Without `recursive` an empty directory is removed too: the shell's `rmdir` and `find -delete` rely
   * on it.
   */
  rm(path: string, options?: RmOptions): Promise<void> {
    return this.#outside(async () => {
      const at = toLookAt(path, 'rm');
      if (isSink(at)) throw new FsError('EACCES', { syscall: 'rm', path });
      try {
        if (options?.recursive === true) await this.#at(at).rm(at, { recursive: true });
        else await this.#removeOne(at);
      } catch (error) {
        if (options?.force !== true || !isFsError(error, 'ENOENT')) throw error;
      }
    });
  }

  /**
   * Copies. A single file that is copied onto an existing one is written through links, and the existing mode stays, as
   * with the `cp` command.
   */
  cp(src: string, dest: string, options?: CpOptions): Promise<void> {
    return this.#outside(async () => {
      const from = toLookAt(src, 'cp');
      const to = toMake(dest, 'cp');
      if (isDevice(from) || isDevice(to)) {
        await this.#write(to, await this.#read(from), undefined, 'w');
        return;
      }
      const { isFile, isDirectory } = bashStat(await this.#fs.lstat(from));
      if (isFile || (options?.recursive !== true && !isDirectory)) {
        await this.#copyFile(from, to);
        return;
      }
      await this.#fs.stat(directoryOf(to));
      await this.#fs.cp(from, to, { recursive: options?.recursive === true });
    });
  }

  /** Renames; to another filesystem, copies and then removes the source. */
  mv(src: string, dest: string): Promise<void> {
    return this.#outside(async () => {
      const from = this.#name(src, 'rename');
      const to = this.#name(toMake(dest, 'rename'), 'rename');
      try {
        await this.#fs.rename(from, to);
      } catch (error) {
        if (!isFsError(error, 'EXDEV')) throw error;
        await this.#moveAcross(from, to);
      }
    });
  }

  chmod(path: string, mode: number): Promise<void> {
    return this.#outside(async () => this.#fs.chmod(this.#name(path, 'chmod'), mode & 0o7777));
  }

  utimes(path: string, atime: Date, mtime: Date): Promise<void> {
    return this.#outside(async () => {
      const at = toLookAt(path, 'utime');
      if (!isSink(at)) await this.#at(at).utimes(at, atime, mtime);
    });
  }

  symlink(target: string, linkPath: string): Promise<void> {
    return this.#outside(async () => this.#fs.symlink(target, this.#newName(linkPath, 'symlink')));
  }

  link(existingPath: string, newPath: string): Promise<void> {
    return this.#outside(async () => this.#fs.link(this.#name(existingPath, 'link'), this.#newName(newPath, 'link')));
  }

  #at(path: string): FileSystem {
    return isDevice(path) ? this.#devices : this.#fs;
  }

  async #read(path: string): Promise<Uint8Array> {
    const at = toLookAt(path, 'open');
    return isSink(at) ? new Uint8Array(0) : this.#at(at).readFile(at);
  }

  async #write(path: string, content: FileContent, options: WriteOptions, flag: 'w' | 'a'): Promise<void> {
    const at = toMake(path, 'open');
    if (isSink(at)) return;
    const fs = this.#at(at);
    const bytes = toBytes(content, typeof options === 'string' ? options : options?.encoding);
    try {
      await fs.writeFile(at, bytes, { flag });
    } catch (error) {
      if (!isFsError(error, 'ENOENT')) throw error;
      await fs.mkdir(directoryOf(at), { recursive: true });
      await fs.writeFile(at, bytes, { flag });
    }
  }

  async #removeOne(path: string): Promise<void> {
    const fs = this.#at(path);
    try {
      await fs.unlink(path);
    } catch (error) {
      if (!isFsError(error, 'EISDIR') && !isFsError(error, 'EPERM')) throw error;
      await fs.rmdir(path);
    }
  }

  async #copyFile(from: string, to: string): Promise<void> {
    const before = await this.#fs.stat(to).catch((error: unknown) => {
      if (isFsError(error, 'ENOENT')) return undefined;
      throw error;
    });
    await this.#fs.copyFile(from, to);
    if (before !== undefined) await this.#fs.chmod(to, before.mode & 0o7777);
  }

  async #moveAcross(from: string, to: string): Promise<void> {
    const source = await this.#fs.lstat(from);
    if (source.isDirectory()) {
      // A rename would refuse a target that is not an empty directory; the copy would merge into it.
      await this.#fs.rmdir(to).catch((error: unknown) => {
        if (!isFsError(error, 'ENOENT')) throw error;
      });
    }
    await this.#fs.cp(from, to, { recursive: true, preserveTimestamps: true });
    await this.#fs.rm(from, { recursive: true });
  }

  #directory(path: string): string {
    const at = toLookAt(path, 'scandir');
    if (isDevice(at)) throw new FsError('ENOTDIR', { syscall: 'scandir', path });
    return at;
  }

  /** Returns the path of a name to change. The shell may not change a device. */
  #name(path: string, syscall: string): string {
    const at = toLookAt(path, syscall);
    if (isDevice(at)) throw new FsError('EACCES', { syscall, path });
    return at;
  }

  #newName(path: string, syscall: string): string {
    const at = toMake(path, syscall);
    if (isDevice(at)) throw new FsError('EEXIST', { syscall, path });
    return at;
  }
}

function bashStat(stats: Stats): FsStat {
  return {
    isFile: stats.isFile(),
    isDirectory: stats.isDirectory(),
    isSymbolicLink: stats.isSymbolicLink(),
    mode: stats.mode & 0o7777,
    size: stats.size,
    mtime: stats.mtime,
    dev: stats.dev,
    ino: stats.ino,
  };
}
