import { captureContent, checkInteger, checkOptions, contentBytes } from './engine/arguments.js';
import type { Context } from './engine/context.js';
import type { Executor, SyncExecutor } from './engine/executor.js';
import type { OpenFile } from './engine/hub.js';
import * as handling from './engine/operations/handle.js';
import type { View } from './engine/view.js';
import type { Stats } from './entry.js';
import { FsError } from './errors.js';
import type { FileHandle, SyncFileHandle } from './file-handle.js';
import type { CallOptions, Content } from './file-system.js';

const ENCODER = new TextEncoder();

/** The filesystem that opened a handle. */
interface HandleOwner {
  readonly executor: Executor;
  readonly context: Context;
  /** Why nothing can be done any more. */
  readonly ended: string | undefined;
}

/** An open file over any storage. Where the next read or write starts is kept here, not in the storage. */
export class OpenHandle implements FileHandle {
  protected readonly file: OpenFile;
  protected readonly executor: Executor;
  protected readonly context: Context;
  protected position = 0;
  #closed = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    protected readonly owner: HandleOwner,
    readonly path: string,
    protected readonly opened: handling.Opened,
  ) {
    this.executor = owner.executor;
    this.context = owner.context;
    this.file = this.executor.hub.open(opened.id, opened.path);
  }

  async read(into: Uint8Array, position?: number | null, options?: CallOptions): Promise<number> {
    this.startRead(into, position);
    // The bytes are put into the caller's array only once they are certain.
    const scratch = new Uint8Array(Math.min(into.byteLength, 2 ** 31 - 1));
    const count = await this.#from(position, (at) =>
      this.run((view) => handling.readAt(view, this.file, scratch, at), options).then((read) => [read, at + read]),
    );
    into.set(scratch.subarray(0, count));
    return count;
  }
  async write(data: Content, position?: number | null, options?: CallOptions): Promise<number> {
    this.startWrite(position);
    const bytes = bytesOf(captureContent(data));
    return this.#from(position, (at) =>
      this.run(
        (view) => handling.writeAt(view, this.executor.hub, this.file, bytes, this.opened.append ? 'end' : at),
        options,
      ).then((end) => [bytes.byteLength, bytes.byteLength > 0 ? end : at]),
    );
  }
  async readFile(options?: CallOptions): Promise<Uint8Array<ArrayBuffer>> {
    this.check('read');
    return this.#from(null, (at) =>
      this.run((view) => handling.readFrom(view, this.file, at), options).then((bytes) => [
        bytes,
        at + bytes.byteLength,
      ]),
    );
  }
  async writeFile(data: Content, options?: CallOptions): Promise<void> {
    await this.write(data, null, options);
  }
  async truncate(length = 0, options?: CallOptions): Promise<void> {
    this.check('truncate');
    await this.run((view) => handling.truncateAt(view, this.executor.hub, this.file, length), options);
  }
  async stat(options?: CallOptions): Promise<Stats> {
    this.check();
    return this.run((view) => handling.statAt(view, this.file), options);
  }
  async chmod(mode: number, options?: CallOptions): Promise<void> {
    this.check();
    await this.run((view) => handling.chmodAt(view, this.executor.hub, this.file, mode), options);
  }
  async utimes(atime: number | Date, mtime: number | Date, options?: CallOptions): Promise<void> {
    this.check();
    await this.run((view) => handling.utimesAt(view, this.executor.hub, this.file, atime, mtime), options);
  }
  async close(): Promise<void> {
    this.release();
  }
  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
  }

  protected async run<R>(operation: (view: View) => R, options?: CallOptions): Promise<R> {
    return this.executor.run(this.context, operation, checkOptions(options, [], 'the handle').signal);
  }

  /**
   * Runs work at a position. Where it is the handle's own, one call after another has it, as threads share a file
   * offset in POSIX; `work` answers its result and where it ended.
   */
  async #from<R>(position: number | null | undefined, work: (at: number) => Promise<readonly [R, number]>): Promise<R> {
    if (position !== undefined && position !== null) return (await work(position))[0];
    const turn = this.#last.then(async () => {
      this.check();
      const [result, end] = await work(this.position);
      this.position = end;
      return result;
    });
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** Checks the arguments of a read and answers where it starts. */
  protected startRead(into: Uint8Array, position: number | null | undefined): number {
    this.check('read');
    if (!(into instanceof Uint8Array)) throw new TypeError('into must be a Uint8Array');
    return position === undefined || position === null ? this.position : checkInteger(position, 'position');
  }

  protected startWrite(position: number | null | undefined): number | 'end' {
    this.check('write');
    const at = position === undefined || position === null ? this.position : checkInteger(position, 'position');
    return this.opened.append ? 'end' : at;
  }

  /** @throws FsError EBADF where the handle is closed, its file is lost, or it was not opened for this */
  protected check(need?: 'read' | 'write' | 'truncate'): void {
    const details = { syscall: need === 'truncate' ? 'ftruncate' : (need ?? 'fstat'), path: this.path };
    if (this.#closed) throw new FsError('EBADF', { ...details, hint: 'The handle is closed' });
    if (this.owner.ended !== undefined) throw new FsError('EBADF', { ...details, hint: this.owner.ended });
    if (this.file.lost)
      throw new FsError('EBADF', { ...details, hint: 'The file was opened before a rollback or restore' });
    if (need === undefined || (need === 'read' ? this.opened.read : this.opened.write)) return;
    // ftruncate(2) says EINVAL where read(2) and write(2) say EBADF.
    throw new FsError(need === 'truncate' ? 'EINVAL' : 'EBADF', {
      ...details,
      hint: `The handle was not opened to ${need}`,
    });
  }

  protected release(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.executor.hub.release(this.file);
  }
}

/** The same where everything is in memory. */
export class SyncOpenHandle extends OpenHandle implements SyncFileHandle {
  declare protected readonly executor: SyncExecutor;

  readSync(into: Uint8Array, position?: number | null): number {
    const at = this.startRead(into, position);
    const count = this.#run((view) => handling.readAt(view, this.file, into, at));
    if (position === undefined || position === null) this.position = at + count;
    return count;
  }
  writeSync(data: Content, position?: number | null): number {
    const at = this.startWrite(position);
    const bytes = bytesOf(data);
    const end = this.#run((view) => handling.writeAt(view, this.executor.hub, this.file, bytes, at));
    if (bytes.byteLength > 0 && (position === undefined || position === null)) this.position = end;
    return bytes.byteLength;
  }
  readFileSync(): Uint8Array<ArrayBuffer> {
    this.check('read');
    const bytes = this.#run((view) => handling.readFrom(view, this.file, this.position));
    this.position += bytes.byteLength;
    return bytes;
  }
  writeFileSync(data: Content): void {
    this.writeSync(data, null);
  }
  truncateSync(length = 0): void {
    this.check('truncate');
    this.#run((view) => handling.truncateAt(view, this.executor.hub, this.file, length));
  }
  statSync(): Stats {
    this.check();
    return this.#run((view) => handling.statAt(view, this.file));
  }
  chmodSync(mode: number): void {
    this.check();
    this.#run((view) => handling.chmodAt(view, this.executor.hub, this.file, mode));
  }
  utimesSync(atime: number | Date, mtime: number | Date): void {
    this.check();
    this.#run((view) => handling.utimesAt(view, this.executor.hub, this.file, atime, mtime));
  }
  closeSync(): void {
    this.release();
  }
  [Symbol.dispose](): void {
    this.release();
  }

  #run<R>(operation: (view: View) => R): R {
    const view = this.executor.enter(this.context);
    const result = operation(view);
    this.executor.leave(view);
    return result;
  }
}

function bytesOf(data: Content): Uint8Array {
  return typeof data === 'string' ? ENCODER.encode(data) : contentBytes(data);
}
