import type { Stats } from './entry.js';
import type { CallOptions, Content } from './file-system.js';

/**
 * An open file; or a directory opened with `r`, for its metadata. It follows its file through rename and, when it is unlinked, keeps it until closed. After a rollback or
 * a restore every method fails with EBADF.
 *
 * Over an asynchronous storage it follows what happens through the same filesystem; where another client took the name
 * away, its methods fail with ESTALE.
 */
export interface FileHandle extends AsyncDisposable {
  /** The path it was opened by. */
  readonly path: string;
  /** Fills `into` from `position` (null or absent: from where the last read or write ended) and answers how many bytes there were. */
  read(into: Uint8Array, position?: number | null, options?: CallOptions): Promise<number>;
  /** Writes at `position` (null or absent: where the last read or write ended; with an `a` flag always at the end) and answers how many bytes. */
  write(data: Content, position?: number | null, options?: CallOptions): Promise<number>;
  /** Everything from where the last read or write ended to the end of the file. */
  readFile(options?: CallOptions): Promise<Uint8Array<ArrayBuffer>>;
  /** Writes where the last read or write ended; what lies after stays. `truncate` first to replace all. */
  writeFile(data: Content, options?: CallOptions): Promise<void>;
  truncate(length?: number, options?: CallOptions): Promise<void>;
  stat(options?: CallOptions): Promise<Stats>;
  chmod(mode: number, options?: CallOptions): Promise<void>;
  /** -1 leaves the owner or the group as it is. */
  chown(uid: number, gid: number, options?: CallOptions): Promise<void>;
  utimes(atime: number | Date, mtime: number | Date, options?: CallOptions): Promise<void>;
  /** Idempotent. */
  close(): Promise<void>;
}

/** The same handle where the storage is synchronous. */
export interface SyncFileHandle extends FileHandle, Disposable {
  readSync(into: Uint8Array, position?: number | null): number;
  writeSync(data: Content, position?: number | null): number;
  readFileSync(): Uint8Array<ArrayBuffer>;
  writeFileSync(data: Content): void;
  truncateSync(length?: number): void;
  statSync(): Stats;
  chmodSync(mode: number): void;
  chownSync(uid: number, gid: number): void;
  utimesSync(atime: number | Date, mtime: number | Date): void;
  closeSync(): void;
}
