import type { Dir } from '../dir.js';
import type { Dirent } from '../results/dirent.js';
import type { StatFs } from '../results/stat-fs.js';
import type { BigIntStats, Stats } from '../results/stats.js';
import type { NodeWatchEvent } from '../watch-events.js';

/** A path: text, UTF-8 bytes, or a `file:` URL. */
export type PathLike = string | Uint8Array | URL;
/** Seconds since the epoch, as a number or text, or a Date. */
export type TimeLike = number | string | Date;
export type Mode = number | string;
export type Flags = number | string;
/** `utf8`, `utf16le`, `latin1`, `ascii`, `hex`, `base64`, `base64url`, and their other names. */
export type TextEncoding = string;
export type Data = string | ArrayBufferView;

export interface EncodingOptions {
  readonly encoding?: TextEncoding | null | undefined;
}
export interface ReadFileOptions extends EncodingOptions {
  readonly flag?: Flags | undefined;
  readonly signal?: AbortSignal | undefined;
}
type AsText<O> = O & { readonly encoding: TextEncoding };
type AsBytes<O> = O & { readonly encoding?: null | undefined };
export interface WriteFileOptions extends ReadFileOptions {
  readonly mode?: Mode | undefined;
  readonly flush?: boolean | undefined;
}
export interface ReaddirOptions extends EncodingOptions {
  readonly recursive?: boolean | undefined;
  readonly withFileTypes?: boolean | undefined;
}
export interface MkdirOptions {
  readonly recursive?: boolean | undefined;
  readonly mode?: Mode | undefined;
}
export interface RmOptions {
  readonly recursive?: boolean | undefined;
  readonly force?: boolean | undefined;
  readonly maxRetries?: number | undefined;
  readonly retryDelay?: number | undefined;
}
export interface CpOptions {
  readonly dereference?: boolean | undefined;
  readonly errorOnExist?: boolean | undefined;
  readonly filter?: ((source: string, destination: string) => boolean | Promise<boolean>) | undefined;
  readonly force?: boolean | undefined;
  readonly mode?: number | undefined;
  readonly preserveTimestamps?: boolean | undefined;
  readonly recursive?: boolean | undefined;
  readonly verbatimSymlinks?: boolean | undefined;
}
export interface GlobOptions {
  readonly cwd?: string | URL | undefined;
  readonly exclude?: readonly string[] | ((entry: string) => boolean) | undefined;
}
export interface WatchOptions extends EncodingOptions {
  readonly recursive?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}
interface Big {
  readonly bigint: true;
}
interface Small {
  readonly bigint?: false | undefined;
}

/** An open file as `promises.open` returns it. */
export interface WebFileHandle extends AsyncDisposable {
  /** -1 after closing. */
  readonly fd: number;
  appendFile(data: Data, options?: WriteFileOptions | TextEncoding): Promise<void>;
  chmod(mode: Mode): Promise<void>;
  chown(uid: number, gid: number): Promise<void>;
  close(): Promise<void>;
  datasync(): Promise<void>;
  read<B extends ArrayBufferView>(
    buffer: B,
    offset?: number | null,
    length?: number | null,
    position?: number | null,
  ): Promise<{ bytesRead: number; buffer: B }>;
  readFile(options?: AsBytes<ReadFileOptions>): Promise<Uint8Array<ArrayBuffer>>;
  readFile(options: AsText<ReadFileOptions> | TextEncoding): Promise<string>;
  readv<B extends ArrayBufferView>(
    buffers: readonly B[],
    position?: number,
  ): Promise<{ bytesRead: number; buffers: readonly B[] }>;
  readableWebStream(): ReadableStream<Uint8Array>;
  stat(options?: Small): Promise<Stats>;
  stat(options: Big): Promise<BigIntStats>;
  sync(): Promise<void>;
  truncate(length?: number): Promise<void>;
  utimes(atime: TimeLike, mtime: TimeLike): Promise<void>;
  write<B extends ArrayBufferView>(
    buffer: B,
    offset?: number | null,
    length?: number | null,
    position?: number | null,
  ): Promise<{ bytesWritten: number; buffer: B }>;
  write(
    text: string,
    position?: number | null,
    encoding?: TextEncoding,
  ): Promise<{ bytesWritten: number; buffer: string }>;
  writeFile(
    data: Data | Iterable<Data> | AsyncIterable<Data>,
    options?: WriteFileOptions | TextEncoding,
  ): Promise<void>;
  writev<B extends ArrayBufferView>(
    buffers: readonly B[],
    position?: number,
  ): Promise<{ bytesWritten: number; buffers: readonly B[] }>;
}

/** Functions that have a promise form and a callback form with the same arguments. */
export interface WebOperations {
  access(path: PathLike, mode?: number): Promise<void>;
  appendFile(path: PathLike, data: Data, options?: WriteFileOptions | TextEncoding): Promise<void>;
  chmod(path: PathLike, mode: Mode): Promise<void>;
  chown(path: PathLike, uid: number, gid: number): Promise<void>;
  copyFile(source: PathLike, destination: PathLike, mode?: number): Promise<void>;
  cp(source: PathLike, destination: PathLike, options?: CpOptions): Promise<void>;
  lchown(path: PathLike, uid: number, gid: number): Promise<void>;
  link(existing: PathLike, path: PathLike): Promise<void>;
  lutimes(path: PathLike, atime: TimeLike, mtime: TimeLike): Promise<void>;
  mkdir(path: PathLike, options?: MkdirOptions | Mode): Promise<string | undefined>;
  mkdtemp(prefix: PathLike): Promise<string>;
  opendir(path: PathLike, options?: { readonly recursive?: boolean; readonly bufferSize?: number }): Promise<Dir>;
  readlink(path: PathLike): Promise<string>;
  realpath(path: PathLike): Promise<string>;
  rename(from: PathLike, to: PathLike): Promise<void>;
  rm(path: PathLike, options?: RmOptions): Promise<void>;
  rmdir(path: PathLike): Promise<void>;
  statfs(path: PathLike): Promise<StatFs<number>>;
  symlink(target: PathLike, path: PathLike, type?: 'dir' | 'file' | 'junction' | null): Promise<void>;
  truncate(path: PathLike, length?: number): Promise<void>;
  unlink(path: PathLike): Promise<void>;
  utimes(path: PathLike, atime: TimeLike, mtime: TimeLike): Promise<void>;
  writeFile(path: PathLike, data: Data, options?: WriteFileOptions | TextEncoding): Promise<void>;
}

/** `fs.promises` on Uint8Array. */
export interface WebPromises extends Omit<WebOperations, 'appendFile' | 'writeFile'> {
  appendFile(
    file: PathLike | WebFileHandle,
    data: Data | Iterable<Data> | AsyncIterable<Data>,
    options?: WriteFileOptions | TextEncoding,
  ): Promise<void>;
  glob(pattern: string | readonly string[], options?: GlobOptions): AsyncIterableIterator<string>;
  lstat(path: PathLike, options?: Small): Promise<Stats>;
  lstat(path: PathLike, options: Big): Promise<BigIntStats>;
  open(path: PathLike, flags?: Flags, mode?: Mode): Promise<WebFileHandle>;
  readFile(file: PathLike | WebFileHandle, options?: AsBytes<ReadFileOptions> | null): Promise<Uint8Array<ArrayBuffer>>;
  readFile(file: PathLike | WebFileHandle, options: AsText<ReadFileOptions> | TextEncoding): Promise<string>;
  readdir(path: PathLike, options: ReaddirOptions & { readonly withFileTypes: true }): Promise<Dirent[]>;
  readdir(
    path: PathLike,
    options?: (ReaddirOptions & { readonly withFileTypes?: false | undefined }) | TextEncoding | null,
  ): Promise<string[]>;
  stat(path: PathLike, options?: Small): Promise<Stats>;
  stat(path: PathLike, options: Big): Promise<BigIntStats>;
  watch(path: PathLike, options?: WatchOptions): AsyncIterableIterator<NodeWatchEvent>;
  writeFile(
    file: PathLike | WebFileHandle,
    data: Data | Iterable<Data> | AsyncIterable<Data>,
    options?: WriteFileOptions | TextEncoding,
  ): Promise<void>;
}

/** Receives an error, or null and the result. */
export type Callback<R> = (error: NodeJSLikeError | null, result: R) => void;

/** An error in the form of `node:fs`. */
export interface NodeJSLikeError extends Error {
  readonly errno?: number;
  readonly code?: string;
  readonly syscall?: string;
  readonly path?: string;
  readonly dest?: string;
}

/** The required arguments. */
type Needed<A extends readonly unknown[]> = A extends readonly [infer First, ...infer Rest]
  ? [First, ...Needed<Rest>]
  : [];

/** A promise function as one with a trailing callback. */
export type WithCallback<F> = F extends (...given: infer A) => Promise<infer R>
  ? (...given: [...A, callback: Callback<R>] | [...Needed<A>, callback: Callback<R>]) => void
  : never;

/** `fs` on Uint8Array: promises and callbacks, independent of Node. */
export type WebFs = {
  readonly [K in keyof WebOperations]: WithCallback<WebOperations[K]>;
} & {
  readonly promises: WebPromises;
  readonly constants: Readonly<Record<string, number>>;
  readonly Stats: typeof Stats;
  readonly Dirent: typeof Dirent;
  readonly Dir: typeof Dir;
  exists(path: PathLike, callback: (exists: boolean) => void): void;
  stat(path: PathLike, callback: Callback<Stats>): void;
  stat(path: PathLike, options: Big, callback: Callback<BigIntStats>): void;
  lstat(path: PathLike, callback: Callback<Stats>): void;
  lstat(path: PathLike, options: Big, callback: Callback<BigIntStats>): void;
  readFile(path: PathLike | number, callback: Callback<Uint8Array<ArrayBuffer>>): void;
  readFile(path: PathLike | number, options: AsText<ReadFileOptions> | TextEncoding, callback: Callback<string>): void;
  readdir(path: PathLike, callback: Callback<string[]>): void;
  readdir(
    path: PathLike,
    options: ReaddirOptions & { readonly withFileTypes: true },
    callback: Callback<Dirent[]>,
  ): void;
  glob(pattern: string | readonly string[], callback: Callback<string[]>): void;
  open(path: PathLike, flags: Flags, callback: Callback<number>): void;
  open(path: PathLike, flags: Flags, mode: Mode, callback: Callback<number>): void;
  close(fd: number, callback?: (error: NodeJSLikeError | null) => void): void;
  read<B extends ArrayBufferView>(
    fd: number,
    buffer: B,
    offset: number,
    length: number,
    position: number | null,
    callback: (error: NodeJSLikeError | null, bytesRead: number, buffer: B) => void,
  ): void;
  write<B extends ArrayBufferView>(
    fd: number,
    buffer: B,
    offset: number,
    length: number,
    position: number | null,
    callback: (error: NodeJSLikeError | null, bytesWritten: number, buffer: B) => void,
  ): void;
  fstat(fd: number, callback: Callback<Stats>): void;
  ftruncate(fd: number, length: number, callback: Callback<undefined>): void;
  fsync(fd: number, callback: Callback<undefined>): void;
};
