import type { BytesOptions, Mode, ReadFileOptions, TextEncoding, TimeLike } from './argument-types.js';
import type { CallOptions } from './call-options.js';
import type { Content } from './content.js';
import type { Stats } from './entry.js';

export interface HandleWriteOptions extends CallOptions {
  /** Encoding of content that is text. Default `utf8`. */
  readonly encoding?: TextEncoding | null | undefined;
}
export type HandleWriteArgument = HandleWriteOptions | TextEncoding | null;

/**
 * An open file, or a directory opened with `r` for its metadata. It follows its file through renames and, if the file
 * is unlinked, keeps it until closed. Once `rollback` or `restoreSnapshot` has replaced the whole state, every method
 * except `close` fails with EBADF.
 *
 * On an asynchronous storage it follows changes made through the same storage object; if another client moved or
 * removed the name, its methods except `close` can fail with ESTALE.
 */
export interface FileHandle extends AsyncDisposable {
  /** The path at which it was opened. */
  readonly path: string;
  /** Fills `into` from `position` (null or undefined: the current position) and returns the number of bytes read. */
  read(into: Uint8Array, position?: number | null, options?: CallOptions): Promise<number>;
  /**
   * Writes at `position` (null or undefined: the current position; with an `a` flag always at the end) and returns the
   * number of bytes.
   */
  write(data: Content, position?: number | null, options?: CallOptions): Promise<number>;
  /** Reads everything from the current position to the end, as bytes or as text. */
  readFile(options: (ReadFileOptions & { readonly encoding: TextEncoding }) | TextEncoding): Promise<string>;
  readFile(options?: BytesOptions | null): Promise<Uint8Array<ArrayBuffer>>;
  /** Writes at the current position, with an `a` flag at the end; bytes after what is written stay. */
  writeFile(data: Content, options?: HandleWriteArgument): Promise<void>;
  truncate(length?: number, options?: CallOptions): Promise<void>;
  stat(options?: CallOptions): Promise<Stats>;
  chmod(mode: Mode, options?: CallOptions): Promise<void>;
  /** -1 keeps the owner or the group. */
  chown(uid: number, gid: number, options?: CallOptions): Promise<void>;
  utimes(atime: TimeLike, mtime: TimeLike, options?: CallOptions): Promise<void>;
  /** Idempotent. */
  close(): Promise<void>;
}

/** A handle on a synchronous storage. */
export interface SyncFileHandle extends FileHandle, Disposable {
  readSync(into: Uint8Array, position?: number | null): number;
  writeSync(data: Content, position?: number | null): number;
  readFileSync(options: (ReadFileOptions & { readonly encoding: TextEncoding }) | TextEncoding): string;
  readFileSync(options?: BytesOptions | null): Uint8Array<ArrayBuffer>;
  writeFileSync(data: Content, options?: HandleWriteArgument): void;
  truncateSync(length?: number): void;
  statSync(): Stats;
  chmodSync(mode: Mode): void;
  chownSync(uid: number, gid: number): void;
  utimesSync(atime: TimeLike, mtime: TimeLike): void;
  closeSync(): void;
}
