import type { FileSystem, SyncFileSystem } from '@scratchfs/core';

type Methods = Record<string, unknown>;
type Method = (...args: unknown[]) => unknown;

/**
 * Methods of a filesystem that are passed through, although some have a synchronous form. On a handle, `close` becomes
 * `closeSync`.
 */
const PROMISE_ONLY = new Set([
  'createReadStream',
  'createWriteStream',
  'watch',
  'transaction',
  'run',
  'iterate',
  'close',
]);

/** Returns the `…Sync` methods under the names of the promise methods, so that one case tests both forms. */
export function syncForm(fileSystem: SyncFileSystem): FileSystem {
  return formOf(fileSystem) as FileSystem;
}

function formOf(target: object): unknown {
  return new Proxy(target, {
    get(_, key) {
      const own = (target as Methods)[key as string];
      if (typeof key !== 'string' || typeof own !== 'function') return own;
      if (PROMISE_ONLY.has(key) && !('closeSync' in target)) return (own as Method).bind(target);
      const sync = (target as Methods)[`${key}Sync`];
      if (typeof sync !== 'function') return (own as Method).bind(target);
      if (key === 'walk')
        return (...args: unknown[]) => iterate(() => (sync as Method).apply(target, args) as Iterable<unknown>);
      return async (...args: unknown[]) => {
        const result = (sync as Method).apply(target, args);
        return key === 'open' || key === 'fork' ? formOf(result as object) : result;
      };
    },
  });
}

async function* iterate(start: () => Iterable<unknown>): AsyncGenerator<unknown> {
  yield* start();
}
