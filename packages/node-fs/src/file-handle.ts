import { invalidState } from './errors/argument-errors.js';
import { promiseForm } from './forms.js';
import { readFileLater } from './functions/contents.js';
import { close, fchmod, fchown, fdatasync, fstat, fsync, ftruncate, futimes } from './functions/descriptors.js';
import { handleRead, handleWrite, readv, writev } from './functions/transfer.js';
import { writeFrom } from './functions/write-from.js';
import type { Facade, NodeFunction } from './node-function.js';

type Methods = Readonly<Record<string, { readonly syscall: string; readonly nodeFunction: NodeFunction<never> }>>;

function method<P>(syscall: string, nodeFunction: NodeFunction<P>): Methods[string] {
  return { syscall, nodeFunction: nodeFunction as unknown as NodeFunction<never> };
}

/** Descriptor functions as methods, each with the syscall that the error of a closed handle names. */
const METHODS = {
  appendFile: method('writeFile', writeFrom),
  chmod: method('fchmod', fchmod),
  chown: method('fchown', fchown),
  datasync: method('fdatasync', fdatasync),
  read: method('read', handleRead),
  readFile: method('readFile', readFileLater),
  readv: method('readv', readv),
  stat: method('fstat', fstat),
  sync: method('fsync', fsync),
  truncate: method('ftruncate', ftruncate),
  utimes: method('futimes', futimes),
  write: method('write', handleWrite),
  writeFile: method('writeFile', writeFrom),
  writev: method('writev', writev),
} as const satisfies Methods;

const CHUNK_BYTES = 16_384;

/** Method that is called when a handle begins to close; subclasses emit an event from it. */
export const CLOSED = Symbol('closed');

/** An open file as `promises.open` returns it. Calls in progress complete before it closes. */
export class FileHandle {
  readonly #facade: Facade;
  #fd: number;
  /** One for being open, and one for each call in progress. */
  #uses = 1;
  #closing: Promise<void> | undefined;
  #idle: (() => void) | undefined;
  #isLocked = false;

  constructor(facade: Facade, fd: number) {
    this.#facade = facade;
    this.#fd = fd;
  }

  /** The descriptor; -1 after closing. */
  get fd(): number {
    return this.#fd;
  }

  close(): Promise<void> {
    if (this.#fd === -1) return Promise.resolve();
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Returns a stream of bytes from the current position to the end. Can be called only once. */
  readableWebStream(): ReadableStream<Uint8Array> {
    if (this.#fd === -1) throw invalidState('The FileHandle is closed');
    if (this.#closing !== undefined) throw invalidState('The FileHandle is closing');
    if (this.#isLocked) throw invalidState('The FileHandle is locked');
    this.#isLocked = true;
    const read = (view: Uint8Array) => this.#perform('read', [view]) as Promise<{ bytesRead: number }>;
    return new ReadableStream({
      type: 'bytes',
      autoAllocateChunkSize: CHUNK_BYTES,
      async pull(controller) {
        const { byobRequest } = controller;
        const { bytesRead } = await read(byobRequest?.view as Uint8Array);
        if (bytesRead === 0) controller.close();
        byobRequest?.respond(bytesRead);
      },
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  protected [CLOSED](): void {}

  /** Calls a descriptor function on this handle. */
  async #perform(name: keyof typeof METHODS, given: readonly unknown[]): Promise<unknown> {
    const { syscall, nodeFunction } = METHODS[name];
    if (this.#fd === -1) throw Object.assign(new Error('file closed'), { code: 'EBADF', syscall });
    this.#uses += 1;
    try {
      return await promiseForm(this.#facade, nodeFunction)(this.#fd, ...given);
    } finally {
      this.#release();
    }
  }

  async #close(): Promise<void> {
    const fd = this.#fd;
    const idle = new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
    this.#release();
    this[CLOSED]();
    await idle;
    await promiseForm(this.#facade, close)(fd);
  }

  #release(): void {
    this.#uses -= 1;
    if (this.#uses > 0) return;
    this.#fd = -1;
    this.#idle?.();
  }

  static {
    for (const name of Object.keys(METHODS) as (keyof typeof METHODS)[]) {
      const value = {
        [name](this: FileHandle, ...given: unknown[]) {
          return this.#perform(name, given);
        },
      }[name];
      Object.defineProperty(FileHandle.prototype, name, {
        value,
        writable: true,
        enumerable: true,
        configurable: true,
      });
    }
  }
}
