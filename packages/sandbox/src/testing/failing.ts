import { asyncStorage, type FileSystem, FsError, OutcomeUnknownError, StorageError } from '@scratchfs/core';
import { memoryBackend } from '@scratchfs/memory';
import { testClock } from './memory.js';

/** Fails `check` while it is armed, with errors that contain hidden names in several ways. */
export class Failure {
  #next: number | undefined;

  /** Every following call fails; the first one with the error number `first`. */
  arm(first: number): void {
    this.#next = first;
  }

  disarm(): void {
    this.#next = undefined;
  }

  check(): void {
    if (this.#next === undefined) return;
    const make = TELLING_ERRORS[this.#next++ % TELLING_ERRORS.length] as () => unknown;
    throw make();
  }
}

/** Part of every name that must not be visible. */
export const HIDDEN = 'customer-4711';
const PATH = `/secret/${HIDDEN}/key`;
const cause = (): Error => new Error(`cannot open '${PATH}'`);

/** An error class of another package. */
class ForeignError extends FsError {
  readonly roots = [PATH];
}

const TELLING_ERRORS: readonly (() => unknown)[] = [
  () =>
    new FsError('ENOTSUP', { syscall: 'open', path: PATH, dest: PATH, hint: `${PATH} is in the way`, cause: cause() }),
  () =>
    new StorageError('unavailable', `The node of '${HIDDEN}' could not be read`, { retryable: false, cause: cause() }),
  () => new ForeignError('EACCES', { path: '/jail/pub' }),
  () =>
    Object.assign(new Error(`EPERM: not permitted, open '${PATH}'`), { code: 'EPERM', path: PATH, syscall: 'open' }),
  () => new OutcomeUnknownError('id', cause()),
  () => new AggregateError([cause()], 'several'),
  () => new TypeError('wrong', { cause: cause() }),
  () => `there is no ${PATH}`,
  () => Object.assign(new TypeError('wrong'), { path: PATH }),
  () => new Error(`${HIDDEN} is damaged, see https://host${PATH}`, { cause: cause() }),
  () => ({ nodes: new Map([[PATH, 1]]) }),
  () => new FsError('EBUSY', { syscall: 'rename', path: '/jail/pub/rw/mine.txt', dest: PATH }),
];

type Methods = Record<string | symbol, (...args: readonly unknown[]) => unknown>;

/**
 * Returns a filesystem that is not the engine's own. Its methods, handles and iterators, except those that close, fail
 * while `failure` is armed.
 */
export function failing(fileSystem: FileSystem, failure: Failure): FileSystem {
  const wrap = <T extends object>(object: T): T =>
    new Proxy(object, {
      get(target, key) {
        const method = (target as unknown as Methods)[key];
        if (typeof method !== 'function') return method;
        if (key === 'close' || key === 'closeSync' || key === 'return' || key === Symbol.iterator)
          return method.bind(target);
        if (key === Symbol.asyncIterator) return () => wrap(target);
        return (...args: readonly unknown[]): unknown => {
          const isLater = !`${String(key)}`.endsWith('Sync') && key !== 'watch' && key !== 'walk';
          try {
            failure.check();
          } catch (error) {
            if (isLater) return Promise.reject(error);
            throw error;
          }
          const [work, ...rest] = args;
          const isTransaction = key === 'transaction' || key === 'transactionSync';
          const given = isTransaction ? [(branch: object) => (work as Methods[string])(wrap(branch)), ...rest] : args;
          const result = Reflect.apply(method, target, given);
          if (result instanceof Promise) return result.then(wrapResult);
          return wrapResult(result);
        };
      },
    });
  const wrapResult = (result: unknown): unknown => (isWrapped(result) ? wrap(result) : result);
  return wrap(fileSystem);
}

/** Reports whether a result is a handle, a filesystem or a watcher. */
function isWrapped(result: unknown): result is object {
  if (typeof result !== 'object' || result === null) return false;
  return 'readdir' in result || 'truncate' in result || Symbol.asyncIterator in result;
}

/** Returns a storage in memory whose requests, except `close` and `watch`, fail while `failure` is armed. */
export function failingStorage(failure: Failure) {
  const backend = memoryBackend({ clock: testClock() });
  const wrap = <T extends object>(object: T): T =>
    new Proxy(object, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key, target);
        if (key === 'checkpointStore') return wrap(value as object);
        if (typeof value !== 'function' || key === 'close' || key === 'watch') return value;
        return async (...args: readonly unknown[]): Promise<unknown> => {
          failure.check();
          return Reflect.apply(value, target, args);
        };
      },
    });
  return asyncStorage(wrap(backend), { retries: 0, clock: testClock() });
}
