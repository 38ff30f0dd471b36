import type { FileSystem } from '@scratchfs/core';

/** Returns a filesystem without its `…Sync` methods, as remote ones are. */
export function promisesOnly(fileSystem: FileSystem): FileSystem {
  return new Proxy(fileSystem, {
    get(target, key) {
      if (key === 'kind') return 'async';
      if (typeof key === 'string' && key.endsWith('Sync')) return undefined;
      const value = Reflect.get(target, key, target) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
    has: (target, key) => !(typeof key === 'string' && key.endsWith('Sync')) && Reflect.has(target, key),
  });
}
