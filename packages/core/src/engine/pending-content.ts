import { FsError, quote } from '../errors.js';
import type { ContentNode } from '../tree/content.js';
import { FileNode, type Node, Unloaded } from '../tree/node.js';
import type { Location } from '../tree/tree.js';
import { checkInteger, contentBytes, copyBytes, describe, isBytes, isThenable } from './arguments.js';
import { isOfCheckpoint } from './checkpoint-guard.js';
import type { FunctionFiles, PendingData, PendingFile } from './function-files.js';
import { callOutside } from './reentrancy.js';
import { unlessAborted } from './scheduling/deadline.js';
import { loadedFile } from './view/contents.js';
import { checkFileSize, reserve } from './view/limits.js';
import type { View } from './view.js';

const ENCODER = new TextEncoder();
let count = 0;

/**
 * Content that a caller's function returns when the content is first read. States and copies of the file made before
 * that share it, so the function is called once, unless it fails or there is no room for its content.
 */
class PendingContent extends Unloaded implements PendingData {
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

  override bytes(path?: string): Uint8Array {
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

/** For each EAGAIN error, the running load of the content. */
const LOADING = new WeakMap<object, Promise<void>>();

function failed(path: string | undefined, hint: string, cause?: unknown): FsError {
  return new FsError('EIO', { syscall: 'read', path, hint, cause });
}

/** Returns the running load because of which an operation failed with EAGAIN; undefined for other errors. */
function loadingOf(failure: unknown): Promise<void> | undefined {
  if (!(failure instanceof FsError)) return undefined;
  return LOADING.get(failure) ?? LOADING.get(failure.cause as object);
}

function isLoading(failure: unknown): boolean {
  return loadingOf(failure) !== undefined;
}

/**
 * Waits for the content because of which an operation failed.
 * @throws FsError EIO if it cannot be loaded; the signal's reason; `failure` itself if it has another cause
 */
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

async function afterLoading<T>(
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

function settle(view: View, parent: Location, name: string, file: PendingFile, path: string): Node {
  const data = file.data as PendingContent;
  const bytes = data.bytes(path);
  try {
    checkFileSize(view, bytes.length, file.size, 'read', path);
    reserve(view, bytes.length - file.size, 0, 'read', path);
  } catch (error) {
    data.forget();
    throw error;
  }
  // The state of a checkpoint does not change.
  if (isOfCheckpoint(view.context)) return loadedFile(view, file) as FileNode;
  const next = new FileNode(file.id, file.meta);
  view.tree.shared.contents.fromBytes(next as ContentNode, bytes, view.tree.owner);
  if (next.size === file.size) next.changeId = file.changeId;
  const entry = parent.directory.entries.get(name);
  if (entry !== undefined) view.tree.replace(parent, name, entry, next);
  return next;
}

/** Checked content of an initial file. */
interface Given {
  readonly load: () => unknown;
  readonly size: number | undefined;
}

/** @throws TypeError, RangeError */
function given(content: unknown, path: string): Given {
  if (typeof content === 'function') return { load: content as Given['load'], size: undefined };
  const { load, size } = content as { readonly load: unknown; readonly size?: number };
  if (typeof load !== 'function')
    throw new TypeError(`load of ${quote(path)} must be a function that returns text or bytes, not ${describe(load)}`);
  return {
    load: load as Given['load'],
    size: size === undefined ? undefined : checkInteger(size, `size of ${path}`, 0),
  };
}

function set(view: View, path: string, content: unknown): void {
  const file = view.find(path, false, 'write', 'open');
  if (!(file instanceof FileNode)) return;
  const { parent, name } = view.at;
  const { load, size } = given(content, path);
  const next = new FileNode(file.id, file.meta);
  next.data = new PendingContent(path, load, size);
  next.size = size ?? 0;
  checkFileSize(view, next.size, 0, 'open', path);
  reserve(view, next.size, 0, 'open', path);
  view.tree.replace(parent, name, file, next);
}

export const FUNCTION_FILES: FunctionFiles = { settle, set, check: given, isLoading, afterLoading };
