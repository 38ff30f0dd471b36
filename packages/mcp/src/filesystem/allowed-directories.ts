import { homedir } from 'node:os';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { type CallOptions, type FileSystem, isFsError } from '@scratchfs/core';
import { InputError } from '@scratchfs/tools';
import type { SharedWorkspace } from '../server/shared-workspace.js';

/** A directory that the server was started with. */
export interface ServedDirectory {
  /** Absolute path as it was given. */
  readonly given: string;
  /** Real path. */
  readonly path: string;
  readonly shared: SharedWorkspace;
}

/** A path in a served directory. */
export interface Place {
  readonly served: ServedDirectory;
  /** Path in the attempt. */
  readonly path: string;
}

/** The directories that a client may use: those that the server was started with, or the parts of them in its roots. */
export class AllowedDirectories {
  #allowed: readonly string[];

  constructor(readonly served: readonly ServedDirectory[]) {
    this.#allowed = [...new Set(served.flatMap(({ given, path }) => [given, path]))];
  }

  get allowed(): readonly string[] {
    return this.#allowed;
  }

  /** Allows only what lies both in a served directory and in one of the client's roots. @param roots real paths */
  narrow(roots: readonly string[]): void {
    const allowed = this.served.flatMap(({ given, path }) => {
      const isWhole = roots.some((root) => isIn(path, root));
      return isWhole ? [given, path] : roots.filter((root) => isIn(root, path));
    });
    this.#allowed = [...new Set(allowed)];
  }

  /** Returns the paths in an attempt that are allowed with all that is under them; `/` for the whole directory. */
  within({ path }: ServedDirectory): string[] {
    if (this.allowsAll({ path })) return ['/'];
    return this.#allowed.filter((one) => isIn(one, path)).map((one) => `/${relative(path, one)}`);
  }

  /** Reports whether the whole of a directory is allowed. */
  allowsAll({ path }: Pick<ServedDirectory, 'path'>): boolean {
    return this.#isAllowed(path);
  }

  /** @throws InputError for a path that is not in an allowed directory */
  locate(requested: string): Place {
    const isHome = requested === '~' || requested.startsWith('~/');
    const expanded = isHome ? join(homedir(), requested.slice(1)) : requested;
    if (/^[A-Za-z]:(?:[\\/]|$)/.test(expanded))
      throw new InputError(`Access denied - Windows-style path received on a POSIX host: ${requested}`);
    const absolute = isAbsolute(expanded) ? resolve(expanded) : this.#fromRelative(expanded);
    if (absolute.includes('\0') || !this.#isAllowed(absolute)) throw outside(absolute, this.#allowed);
    for (const served of this.served)
      for (const directory of [served.path, served.given])
        if (isIn(absolute, directory)) return { served, path: `/${relative(directory, absolute)}` };
    throw outside(absolute, this.#allowed);
  }

  /**
   * Returns a path in the attempt with its links followed, as far as it exists.
   * @param fs a filesystem that refuses paths that are not allowed, also as the missing target of a link
   * @throws InputError if links lead out of the allowed directories; FsError such as ELOOP or EACCES
   */
  async real(fs: FileSystem, { served, path }: Place, options: CallOptions): Promise<string> {
    for (let at = path, rest = ''; ; rest = join(at.slice(dirname(at).length), rest), at = dirname(at)) {
      try {
        const real = join(await fs.realpath(at, options), rest);
        if (!this.#isAllowed(absoluteOf(served, real))) throw this.#target(absoluteOf(served, real));
        return real;
      } catch (error) {
        if (isFsError(error, 'ENOENT') && at !== '/') continue;
        if (isFsError(error, 'EACCES') && (await isLink(fs, at, options))) throw this.#target(absoluteOf(served, path));
        throw error;
      }
    }
  }

  #target(absolute: string): InputError {
    return new InputError(
      `Access denied - symlink target outside allowed directories: ${absolute} not in ${this.#allowed.join(', ')}`,
    );
  }

  #fromRelative(path: string): string {
    const candidates = this.#allowed.map((directory) => resolve(directory, path));
    return candidates.find((one) => this.#isAllowed(one)) ?? candidates[0] ?? resolve(path);
  }

  #isAllowed(absolute: string): boolean {
    return this.#allowed.some((directory) => isIn(absolute, directory));
  }
}

/** Returns the path on the disk of a path in an attempt. */
export function absoluteOf({ path: directory }: ServedDirectory, path: string): string {
  return path === '/' ? directory : join(directory, path);
}

function outside(absolute: string, allowed: readonly string[]): InputError {
  const directories = allowed.join(', ') || "any: no root of the client lies in this server's directories";
  return new InputError(`Access denied - path outside allowed directories: ${absolute} not in ${directories}`);
}

function isIn(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === '/' ? directory : `${directory}/`);
}

async function isLink(fs: FileSystem, path: string, options: CallOptions): Promise<boolean> {
  try {
    return (await fs.lstat(path, options)).kind === 'symlink';
  } catch {
    return false;
  }
}
