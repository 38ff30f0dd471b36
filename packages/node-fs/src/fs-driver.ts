import type {
  CallOptions,
  Dirent,
  FileHandle,
  FileSystem,
  Limits,
  ReaddirOptions,
  SyncFileHandle,
  SyncFileSystem,
  View,
} from '@scratchfs/core';
import { driveAsync, driveSync, type Procedure } from '@scratchfs/core/internal';
import { glob, globSync } from '@scratchfs/core/search';

/** A value, or a promise of one, depending on the driver. */
export type Eventual<T> = T | Promise<T>;

/** A procedure of several calls: it yields what a call returns and receives the value. */
export type FsProcedure<R> = Procedure<Eventual<unknown>, R>;

/** Yields what a call returned, inside an {@link FsProcedure}, and returns its value. */
export function* awaited<T>(value: Eventual<T>): FsProcedure<T> {
  return (yield value) as T;
}

const CALLS = [
  'access',
  'appendFile',
  'chmod',
  'chown',
  'copyFile',
  'exists',
  'lchown',
  'link',
  'lstat',
  'lutimes',
  'mkdir',
  'mkdtemp',
  'readFile',
  'readText',
  'readdir',
  'readlink',
  'realpath',
  'rename',
  'rm',
  'rmdir',
  'run',
  'stat',
  'stats',
  'symlink',
  'truncate',
  'unlink',
  'utimes',
  'writeFile',
] as const satisfies readonly (keyof FileSystem)[];

type CallName = (typeof CALLS)[number];
type Plain = {
  readonly [K in Exclude<CallName, 'readFile' | 'readdir' | 'run'>]: FileSystem[K] extends (
    ...args: infer A
  ) => Promise<infer R>
    ? (...args: A) => Eventual<R>
    : never;
};

/** The methods of the filesystem that the façade is made from, in one form. */
export interface Calls extends Plain {
  readFile(path: string, options?: CallOptions): Eventual<Uint8Array<ArrayBuffer>>;
  readdir(path: string, options: ReaddirOptions & { readonly withFileTypes: true }): Eventual<Dirent[]>;
  readdir(path: string, options?: ReaddirOptions): Eventual<string[]>;
  run<A extends readonly unknown[], R>(operation: (view: View, ...args: A) => R, args: A): Eventual<R>;
}

const HANDLE_CALLS = ['read', 'write', 'readFile', 'truncate', 'stat', 'chmod', 'chown', 'utimes', 'close'] as const;

type HandleCallName = (typeof HANDLE_CALLS)[number];
/** An open file in one form. */
export type OpenFile = {
  readonly [K in HandleCallName]: FileHandle[K] extends (...args: infer A) => Promise<infer R>
    ? (...args: A) => Eventual<R>
    : never;
};

/** A filesystem in one of two forms: its calls return values, or promises. `watch` returns an iterator in both. */
export interface FsDriver {
  readonly fs: Calls;
  readonly limits: Limits;
  open(...args: Parameters<FileSystem['open']>): Eventual<OpenFile>;
  /** Returns the absolute paths that match any of the patterns. */
  glob(patterns: readonly string[], cwd: string): Eventual<string[]>;
  watch(...args: Parameters<FileSystem['watch']>): ReturnType<FileSystem['watch']>;
  map<T, R>(value: Eventual<T>, next: (value: T) => R): Eventual<R>;
  run<R>(procedure: FsProcedure<R>): Eventual<R>;
}

class SyncDriver implements FsDriver {
  readonly fs: Calls;
  constructor(readonly fileSystem: SyncFileSystem) {
    this.fs = pick(fileSystem, CALLS, 'Sync') as unknown as Calls;
  }
  get limits(): Limits {
    return this.fileSystem.limits;
  }
  open(...[path, flags, options]: Parameters<FileSystem['open']>): OpenFile {
    return new SyncFile(this.fileSystem.openSync(path, flags, options)) as unknown as OpenFile;
  }
  glob(patterns: readonly string[], cwd: string): string[] {
    return [...globSync(this.fileSystem, patterns, { cwd })];
  }
  watch(...args: Parameters<FileSystem['watch']>): ReturnType<FileSystem['watch']> {
    return this.fileSystem.watch(...args);
  }
  map<T, R>(value: Eventual<T>, next: (value: T) => R): R {
    return next(value as T);
  }
  run<R>(procedure: FsProcedure<R>): R {
    return driveSync(procedure, itself);
  }
}

class AsyncDriver implements FsDriver {
  readonly fs: Calls;
  constructor(readonly fileSystem: FileSystem) {
    this.fs = pick(fileSystem, CALLS, '') as unknown as Calls;
  }
  get limits(): Limits {
    return this.fileSystem.limits;
  }
  open(...args: Parameters<FileSystem['open']>): Promise<OpenFile> {
    return this.fileSystem.open(...args);
  }
  async glob(patterns: readonly string[], cwd: string): Promise<string[]> {
    const paths: string[] = [];
    for await (const path of glob(this.fileSystem, patterns, { cwd })) paths.push(path);
    return paths;
  }
  watch(...args: Parameters<FileSystem['watch']>): ReturnType<FileSystem['watch']> {
    return this.fileSystem.watch(...args);
  }
  async map<T, R>(value: Eventual<T>, next: (value: T) => R): Promise<R> {
    return next(await value);
  }
  run<R>(procedure: FsProcedure<R>): Promise<R> {
    return runAsync(procedure);
  }
}

export function runAsync<R>(procedure: FsProcedure<R>): Promise<R> {
  return driveAsync(procedure, itself);
}

/** Returns a yielded value unchanged: the procedure has already made the call, so the value is its result. */
function itself(value: unknown): unknown {
  return value;
}

export function driverFor(fileSystem: FileSystem): FsDriver {
  return fileSystem.kind === 'sync' ? new SyncDriver(fileSystem as SyncFileSystem) : new AsyncDriver(fileSystem);
}

type Method = (...args: readonly unknown[]) => unknown;

function pick(target: object, names: readonly string[], suffix: string): Record<string, Method> {
  const methods = target as Record<string, Method>;
  return Object.fromEntries(names.map((name) => [name, (methods[name + suffix] as Method).bind(target)]));
}

/** A synchronous handle whose methods have the names without `Sync`. */
class SyncFile {
  constructor(readonly handle: SyncFileHandle) {}
}
for (const name of HANDLE_CALLS) {
  const method = `${name}Sync` as const;
  Object.defineProperty(SyncFile.prototype, name, {
    value(this: SyncFile, a: never, b: never) {
      return (this.handle[method] as (a: never, b: never) => unknown)(a, b);
    },
  });
}
