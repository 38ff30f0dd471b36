import { realpathSync, statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { type FileSystem, FsError, isFsError } from '@scratchfs/core';
import { glob } from '@scratchfs/core/search';
import { PathNotInSandboxError } from '@scratchfs/sandbox';
import { checkOptions } from './check-options.js';
import { climbs } from './confined-root.js';
import { hostFileSystem } from './host-file-system.js';

export interface ReadTextOptions {
  /** Maximum size in bytes. Larger files are refused before they are read. Default 2,000,000. */
  readonly maxBytes?: number | undefined;
}

const DEFAULT_MAX_BYTES = 2_000_000;

/**
 * Read-only access to a directory of the host: every path, relative or absolute, must lie under the root with all links
 * resolved. An absolute path may lead to the root through links. Nothing on the host is written. Instances are frozen.
 */
export class ReadOnlySandboxFS {
  /** Canonical root: `~` expanded, links resolved, absolute. */
  readonly rootDir: string;
  /**
   * The root as the caller wrote it, absolute and with `~` expanded. Undefined if that text does not lead to the root.
   */
  readonly #givenRoot: string | undefined;
  readonly #fileSystem: FileSystem;

  /**
   * @throws FsError ENOENT if the root does not exist or cannot be reached, ENOTDIR if it is not a directory; TypeError
   *   for a root that is not a path and for options that do not exist; what {@link hostFileSystem} throws
   */
  constructor(options: { readonly rootDir: string }) {
    checkOptions(options, ['rootDir'], 'ReadOnlySandboxFS');
    const given = options?.rootDir;
    if (typeof given !== 'string' || given === '' || given.includes('\0'))
      throw new TypeError('rootDir must be a path');
    const expanded = given === '~' || given.startsWith('~/') ? join(homedir(), given.slice(1)) : given;
    try {
      this.rootDir = realpathSync(expanded);
    } catch {
      throw new FsError('ENOENT', { syscall: 'open', path: given });
    }
    if (!statSync(this.rootDir).isDirectory()) throw new FsError('ENOTDIR', { syscall: 'open', path: given });
    const absolute = resolve(expanded);
    this.#givenRoot = realOrNothing(absolute) === this.rootDir ? absolute : undefined;
    this.#fileSystem = hostFileSystem(this.rootDir, { readonly: true });
    Object.freeze(this);
  }

  /**
   * Returns the absolute paths of the regular files that match a pattern, in the order of a tree whose names are sorted
   * in each directory. Default: all, including names that begin with a dot. A link to a file counts as one, unless it
   * leads out.
   */
  async listFiles(pattern = '**/*'): Promise<string[]> {
    const paths: string[] = [];
    for await (const path of this.iterateFiles(pattern)) paths.push(path);
    return paths;
  }

  /** Returns the absolute paths of all `*.py` files, in the order of {@link listFiles}. */
  listPythonFiles(): Promise<string[]> {
    return this.listFiles('**/*.py');
  }

  /** Yields the paths of {@link listFiles} one by one, for large trees. */
  async *iterateFiles(pattern = '**/*'): AsyncIterableIterator<string> {
    for await (const path of glob(this.#fileSystem, pattern, { dot: true, onlyFiles: true })) {
      if (await this.#isFile(path)) yield join(this.rootDir, path);
    }
  }

  /**
   * Reads a file as UTF-8 text; malformed bytes become U+FFFD.
   * @throws SandboxViolation outside the root, and if the host denies access; FsError ENOENT if it is missing or not a
   *   regular file, EFBIG above `maxBytes`, and what else the host throws; RangeError for a `maxBytes` that is not a
   *   whole number of 0 or more; TypeError for options that do not exist
   */
  async readText(path: string, options: ReadTextOptions = {}): Promise<string> {
    checkOptions(options, ['maxBytes'], 'readText');
    const { maxBytes = DEFAULT_MAX_BYTES } = options;
    if (!Number.isSafeInteger(maxBytes) || maxBytes < 0)
      throw new RangeError('maxBytes must be a whole number, 0 or more');
    const inside = await this.#inside(path);
    try {
      const stat = await this.#fileSystem.stat(inside);
      if (!stat.isFile()) throw new FsError('ENOENT', { syscall: 'open', path, hint: 'It is not a regular file' });
      if (stat.size > maxBytes) {
        const hint = `It has ${stat.size} bytes, and at most ${maxBytes} are read`;
        throw new FsError('EFBIG', {
          syscall: 'open',
          path,
          hint,
          limit: 'maxBytes',
          requested: stat.size,
          allowed: maxBytes,
        });
      }
      return await this.#fileSystem.readText(inside);
    } catch (error) {
      if (isFsError(error, 'EACCES')) throw new PathNotInSandboxError(path, ['.']);
      if (isFsError(error, 'ENOTDIR') || isFsError(error, 'EISDIR'))
        throw new FsError('ENOENT', { syscall: 'open', path });
      throw error;
    }
  }

  /**
   * Returns an absolute path relative to the root. Compares text only and reads nothing, so the path must begin with
   * `rootDir` or with the root as it was given.
   * @throws SandboxViolation outside the root; TypeError for a path that is not absolute
   */
  relpath(path: string): string {
    if (typeof path !== 'string' || !isAbsolute(path)) throw new TypeError('relpath takes an absolute path');
    for (const root of [this.rootDir, this.#givenRoot ?? this.rootDir]) {
      const inside = relative(root, resolve(path));
      if (inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside)) return inside === '' ? '.' : inside;
    }
    throw new PathNotInSandboxError(path, ['.']);
  }

  async close(): Promise<void> {
    await this.#fileSystem.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Reports whether a path is a regular file. A link to a file counts as one, unless it leads out. */
  async #isFile(path: string): Promise<boolean> {
    try {
      return await this.#fileSystem.isFile(path);
    } catch (error) {
      if (isFsError(error)) return false;
      throw error;
    }
  }

  /**
   * Returns the path within the filesystem. A `..` that climbs above the root is a violation, whatever exists there.
   */
  async #inside(path: string): Promise<string> {
    if (typeof path !== 'string' || path === '' || path.includes('\0') || !path.isWellFormed())
      throw new FsError('ENOENT', { syscall: 'open', path: String(path) });
    const inside = isAbsolute(path) ? await this.#fromTop(path) : path;
    if (inside === undefined || climbs(inside, 0)) throw new PathNotInSandboxError(path, ['.']);
    return inside;
  }

  /**
   * Returns an absolute path relative to the root; undefined if it does not lead there. Links are resolved up to the
   * first name that lies at or under the root. The filesystem resolves the names after it.
   */
  async #fromTop(path: string): Promise<string | undefined> {
    const direct = textWithin(this.rootDir, path);
    if (direct !== undefined) return direct;
    const names = path.split(sep);
    for (let n = 2; n <= names.length; n++) {
      const real = await realpath(names.slice(0, n).join(sep)).catch(() => undefined);
      if (real === undefined) return undefined;
      const inside = textWithin(this.rootDir, real);
      if (inside !== undefined) return [inside, ...names.slice(n)].join(sep);
    }
    return undefined;
  }
}

/** Returns what follows a directory in an absolute path, `.` for the directory itself; undefined for another path. */
function textWithin(directory: string, path: string): string | undefined {
  if (path === directory) return '.';
  const start = directory === sep ? sep : directory + sep;
  return path.startsWith(start) ? path.slice(start.length) : undefined;
}

function realOrNothing(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
