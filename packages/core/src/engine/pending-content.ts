import { FsError } from '../errors.js';
import { Unloaded } from '../tree/node.js';
import { contentBytes, copyBytes, describe, isBytes } from './arguments.js';
import { callOutside } from './reentrancy.js';
import { unlessAborted } from './scheduling/deadline.js';

const ENCODER = new TextEncoder();
let count = 0;

/**
 * Content that a caller's function returns when it is first read. All states and copies of the file that have not been
 * read share it, so the function is called once.
 */
export class PendingContent extends Unloaded {
  readonly #load: () => unknown;
  /** Size that the caller gave. */
  readonly #given: number | undefined;
  #bytes: Uint8Array | undefined;
  #loading: Promise<void> | undefined;

  constructor(path: string, load: () => unknown, size: number | undefined) {
    super({ path, id: `function:${++count}` }, 0, size ?? 0);
    this.#load = load;
    this.#given = size;
  }

  /**
   * Returns the bytes, which must not be changed. An asynchronous function starts.
   * @throws FsError EAGAIN until it has finished, EIO if it fails; then the next call tries again
   */
  bytes(path?: string): Uint8Array {
    if (this.#bytes !== undefined) return this.#bytes;
    if (this.#loading === undefined) {
      let result: unknown;
      try {
        result = callOutside(this.#load);
      } catch (cause) {
        throw failed(path, FAILED, cause);
      }
      if (!isThenable(result)) return (this.#bytes = this.#checked(result, path));
      this.#loading = this.#settle(result);
      this.#loading.catch(() => {});
    }
    const error = new FsError('EAGAIN', { syscall: 'read', path, hint: NOT_LOADED });
    LOADING.set(error, this.#loading);
    throw error;
  }

  /** Forgets the bytes, for which there is no room: the next read calls the function again. */
  forget(): void {
    this.#bytes = undefined;
  }

  async #settle(result: PromiseLike<unknown>): Promise<void> {
    try {
      const content = await result.then(undefined, (cause: unknown) => {
        throw failed(undefined, FAILED, cause);
      });
      this.#bytes = this.#checked(content);
    } finally {
      this.#loading = undefined;
    }
  }

  #checked(content: unknown, path?: string): Uint8Array {
    if (typeof content !== 'string' && !isBytes(content))
      throw failed(path, `The function of this file must return text or bytes, not ${describe(content)}`);
    const bytes = typeof content === 'string' ? ENCODER.encode(content) : copyBytes(contentBytes(content));
    if (this.#given === undefined || bytes.length === this.#given) return bytes;
    const hint = `The function of this file returned ${bytes.length} bytes; its size was given as ${this.#given}`;
    throw failed(path, hint);
  }
}

const FAILED = 'The function that returns the content of this file failed';
const NOT_LOADED =
  'The content comes from an asynchronous function and is not loaded yet: call `await fs.readFile(path)` first';

/** Loads that an error about a content which is not loaded waits for. */
const LOADING = new WeakMap<object, Promise<void>>();

function failed(path: string | undefined, hint: string, cause?: unknown): FsError {
  return new FsError('EIO', { syscall: 'read', path, hint, cause });
}

/** Returns what an operation waits for that failed because a content is not loaded; undefined for other errors. */
function loadingOf(failure: unknown): Promise<void> | undefined {
  if (!(failure instanceof FsError)) return undefined;
  return LOADING.get(failure) ?? LOADING.get(failure.cause as object);
}

/** Reports whether work failed because a content is not loaded yet. */
export function isLoading(failure: unknown): failure is FsError {
  return loadingOf(failure) !== undefined;
}

/** Waits until the content is loaded whose lack made an operation fail. Rethrows every other error. */
async function loaded(failure: unknown, signal: AbortSignal | undefined): Promise<void> {
  const loading = loadingOf(failure);
  if (loading === undefined) throw failure;
  try {
    await unlessAborted(signal, loading);
  } catch (reason) {
    signal?.throwIfAborted();
    const { hint = FAILED, cause } = reason as FsError;
    throw failed((failure as FsError).path, hint, cause);
  }
  signal?.throwIfAborted();
}

/** Repeats work that failed because a content is not loaded, once it is. @throws every other error */
export async function afterLoading<T>(
  failure: unknown,
  work: () => T | Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  for (let error = failure; ; ) {
    await loaded(error, signal);
    try {
      return await work();
    } catch (next) {
      error = next;
    }
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function';
}
