import type { TextEncoding } from './argument-types.js';
import {
  captureArgument,
  captureContent,
  checkInteger,
  checkOptions,
  contentBytes,
  signalIn,
} from './engine/arguments.js';
import type { Internals } from './engine/internals.js';
import type { OpenFile, OpenFiles } from './engine/open-files.js';
import * as handling from './engine/operations/handle.js';
import { encodingOfRead } from './engine/operations/read.js';
import { encodedContent } from './engine/operations/write.js';
import { decoded } from './engine/scheduling/long-text.js';
import { runInSlices } from './engine/scheduling/time-slice.js';
import { codecOf } from './engine/text-encodings.js';
import type { View } from './engine/view.js';
import type { Stats } from './entry.js';
import { FsError } from './errors.js';
import type { FileHandle, HandleWriteArgument, HandleWriteOptions, SyncFileHandle } from './file-handle.js';
import type { BytesOptions, CallOptions, Content, Mode, ReadFileOptions, TimeLike } from './file-system.js';

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

class HandleState implements handling.HeldFile {
  readonly file: OpenFile;
  position = 0;
  closed = false;
  last: Promise<unknown> = Promise.resolve();

  constructor(
    readonly owner: Internals,
    readonly path: string,
    readonly opened: handling.Opened,
    file?: OpenFile,
  ) {
    this.file = file ?? this.openFiles.open(opened.id, opened.path);
  }

  get openFiles(): OpenFiles {
    return this.owner.executor.feed.files;
  }

  async run<R>(operation: (view: View) => R, options?: CallOptions): Promise<R> {
    try {
      return await this.owner.do(checkOptions(options, [], 'the handle'), operation);
    } catch (error) {
      throw this.#shown(error, options);
    }
  }

  runSync<R>(operation: (view: View) => R): R {
    try {
      return this.owner.change(operation);
    } catch (error) {
      throw this.#shown(error);
    }
  }

  #shown(error: unknown, options?: CallOptions): unknown {
    const { guard } = this.owner.context;
    return guard === undefined ? error : guard.shown(error, [this.path, options]);
  }

  /**
   * Runs work at a position. At the handle's current position calls run one after another, as threads share a file
   * offset in POSIX; `work` returns its result and the new position.
   */
  async at<R>(position: number | null | undefined, work: (at: number) => Promise<readonly [R, number]>): Promise<R> {
    if (position !== undefined && position !== null) return (await work(position))[0];
    const turn = this.last.then(async () => {
      this.check();
      const [result, end] = await work(this.position);
      this.position = end;
      return result;
    });
    this.last = turn.catch(() => {});
    return turn;
  }

  /** Checks the arguments of a read and returns its start. */
  startRead(into: Uint8Array, position: number | null | undefined): number {
    this.check('read');
    if (!(into instanceof Uint8Array)) throw new TypeError('into must be a Uint8Array');
    return position === undefined || position === null ? this.position : checkInteger(position, 'position');
  }

  startWrite(position: number | null | undefined): number | 'end' {
    this.check('write');
    const at = position === undefined || position === null ? this.position : checkInteger(position, 'position');
    return this.opened.append ? 'end' : at;
  }

  /**
   * @throws FsError EBADF if the handle or its filesystem is closed, its file is lost, or it was not opened for this
   *   (`truncate`: EINVAL)
   */
  check(need?: 'read' | 'write' | 'truncate'): void {
    const details = { syscall: need === 'truncate' ? 'ftruncate' : (need ?? 'fstat'), path: this.path };
    if (this.closed) throw new FsError('EBADF', { ...details, hint: 'The handle is closed' });
    if (this.owner.ended !== undefined) throw new FsError('EBADF', { ...details, hint: this.owner.ended });
    if (this.file.lost)
      throw new FsError('EBADF', { ...details, hint: 'The file was opened before a rollback or restore' });
    if (need === undefined || (need === 'read' ? this.opened.read : this.opened.write)) return;
    // On a file that is not open for writing, Linux returns EINVAL from ftruncate(2), EBADF from write(2).
    throw new FsError(need === 'truncate' ? 'EINVAL' : 'EBADF', {
      ...details,
      hint: `The handle was not opened to ${need}`,
    });
  }

  release(): void {
    if (this.closed) return;
    this.closed = true;
    this.openFiles.release(this.file);
  }
}

/** Not exported: a handle must not give access to more than its file. */
let stateOf: (handle: OpenHandle) => HandleState;

/** An open file on any storage. The current position is kept here, not in the storage. */
export class OpenHandle implements FileHandle {
  readonly path: string;
  readonly #state: HandleState;

  /** @param file the open-file entry, if the caller already holds one */
  constructor(owner: Internals, path: string, opened: handling.Opened, file?: OpenFile) {
    this.path = path;
    this.#state = new HandleState(owner, path, opened, file);
  }

  static {
    stateOf = (handle) => handle.#state;
  }

  async read(into: Uint8Array, position?: number | null, options?: CallOptions): Promise<number> {
    const state = this.#state;
    state.startRead(into, position);
    // The bytes go into the caller's array only once they are confirmed.
    const scratch = new Uint8Array(Math.min(into.byteLength, 2 ** 31 - 1));
    const count = await state.at(position, (at) =>
      state.run((view) => handling.readAt(view, state, scratch, at), options).then((read) => [read, at + read]),
    );
    into.set(scratch.subarray(0, count));
    return count;
  }
  async write(data: Content, position?: number | null, options?: CallOptions): Promise<number> {
    const state = this.#state;
    state.startWrite(position);
    const bytes = bytesOf(captureContent(data));
    return state.at(position, (at) =>
      state
        .run((view) => handling.writeAt(view, state, bytes, state.opened.append ? 'end' : at), options)
        .then((end) => [bytes.byteLength, bytes.byteLength > 0 ? end : at]),
    );
  }
  readFile(options: (ReadFileOptions & { readonly encoding: TextEncoding }) | TextEncoding): Promise<string>;
  readFile(options?: BytesOptions | null): Promise<Uint8Array<ArrayBuffer>>;
  async readFile(options?: ReadFileOptions | TextEncoding | null): Promise<Uint8Array<ArrayBuffer> | string> {
    const state = this.#state;
    const encoding = encodingOfRead(options);
    const signal = signalIn(options);
    state.check('read');
    const content = await state.at(null, (at) =>
      state
        .run((view) => handling.readFrom(view, state, at), { signal })
        .then((bytes) => [bytes, at + bytes.byteLength]),
    );
    return encoding === undefined ? content : runInSlices(decoded(content, codecOf(encoding)), signal);
  }
  async writeFile(data: Content, options?: HandleWriteArgument): Promise<void> {
    const { encoding, signal } = checkOptions<HandleWriteOptions>(options, ['encoding'], 'the handle');
    await this.write(encodedContent(data, encoding), null, { signal });
  }
  async truncate(length = 0, options?: CallOptions): Promise<void> {
    const state = this.#state;
    state.check('truncate');
    await state.run((view) => handling.truncateAt(view, state, length), options);
  }
  async stat(options?: CallOptions): Promise<Stats> {
    const state = this.#state;
    state.check();
    return state.run((view) => handling.statAt(view, state), options);
  }
  async chmod(mode: Mode, options?: CallOptions): Promise<void> {
    const state = this.#state;
    state.check();
    await state.run((view) => handling.chmodAt(view, state, mode), options);
  }
  async chown(uid: number, gid: number, options?: CallOptions): Promise<void> {
    const state = this.#state;
    state.check();
    await state.run((view) => handling.chownAt(view, state, uid, gid), options);
  }
  async utimes(atime: TimeLike, mtime: TimeLike, options?: CallOptions): Promise<void> {
    const state = this.#state;
    state.check();
    const [accessed, modified] = [captureArgument(atime), captureArgument(mtime)];
    await state.run((view) => handling.utimesAt(view, state, accessed, modified), options);
  }
  async close(): Promise<void> {
    this.#state.release();
  }
  async [Symbol.asyncDispose](): Promise<void> {
    this.#state.release();
  }
}

/**
 * Checks that an {@link OpenHandle} is still valid, as far as known locally, without a request.
 * @throws FsError EBADF if it is not, or if it was not opened for reading
 */
export function checkHandle(handle: FileHandle): void {
  if (handle instanceof OpenHandle) stateOf(handle).check('read');
}

/** An open file in memory. */
export class SyncOpenHandle extends OpenHandle implements SyncFileHandle {
  readSync(into: Uint8Array, position?: number | null): number {
    const state = stateOf(this);
    const at = state.startRead(into, position);
    const count = state.runSync((view) => handling.readAt(view, state, into, at));
    if (position === undefined || position === null) state.position = at + count;
    return count;
  }
  writeSync(data: Content, position?: number | null): number {
    const state = stateOf(this);
    const at = state.startWrite(position);
    const bytes = bytesOf(data);
    const end = state.runSync((view) => handling.writeAt(view, state, bytes, at));
    if (bytes.byteLength > 0 && (position === undefined || position === null)) state.position = end;
    return bytes.byteLength;
  }
  readFileSync(options: (ReadFileOptions & { readonly encoding: TextEncoding }) | TextEncoding): string;
  readFileSync(options?: BytesOptions | null): Uint8Array<ArrayBuffer>;
  readFileSync(options?: ReadFileOptions | TextEncoding | null): Uint8Array<ArrayBuffer> | string {
    const encoding = encodingOfRead(options);
    const state = stateOf(this);
    state.check('read');
    const bytes = state.runSync((view) => handling.readFrom(view, state, state.position));
    state.position += bytes.byteLength;
    if (encoding === undefined) return bytes;
    return codecOf(encoding)?.decode(bytes) ?? DECODER.decode(bytes);
  }
  writeFileSync(data: Content, options?: HandleWriteArgument): void {
    const { encoding } = checkOptions<HandleWriteOptions>(options, ['encoding'], 'the handle');
    this.writeSync(encodedContent(data, encoding), null);
  }
  truncateSync(length = 0): void {
    const state = stateOf(this);
    state.check('truncate');
    state.runSync((view) => handling.truncateAt(view, state, length));
  }
  statSync(): Stats {
    const state = stateOf(this);
    state.check();
    return state.runSync((view) => handling.statAt(view, state));
  }
  chmodSync(mode: Mode): void {
    const state = stateOf(this);
    state.check();
    state.runSync((view) => handling.chmodAt(view, state, mode));
  }
  chownSync(uid: number, gid: number): void {
    const state = stateOf(this);
    state.check();
    state.runSync((view) => handling.chownAt(view, state, uid, gid));
  }
  utimesSync(atime: TimeLike, mtime: TimeLike): void {
    const state = stateOf(this);
    state.check();
    state.runSync((view) => handling.utimesAt(view, state, atime, mtime));
  }
  closeSync(): void {
    stateOf(this).release();
  }
  [Symbol.dispose](): void {
    stateOf(this).release();
  }
}

function bytesOf(data: Content): Uint8Array {
  return typeof data === 'string' ? ENCODER.encode(data) : contentBytes(data);
}
