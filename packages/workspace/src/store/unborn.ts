import type { FileSystem } from '@scratchfs/core';

/**
 * Returns a filesystem that is like `empty` until `isBorn` returns true, and like the given one from then on. A storage
 * may create itself at the first read; this way a program that only looks leaves nothing behind.
 */
export function unborn(fileSystem: FileSystem, empty: FileSystem, isBorn: () => boolean): FileSystem {
  let current: FileSystem | undefined;
  const methods = new Map<PropertyKey, unknown>();
  return new Proxy(fileSystem, {
    get(_, key) {
      if (current === undefined && isBorn()) {
        current = fileSystem;
        methods.clear();
      }
      let found = methods.get(key);
      if (found === undefined) {
        const target = current ?? empty;
        found = Reflect.get(target, key, target) as unknown;
        if (typeof found === 'function') {
          found = found.bind(target);
          methods.set(key, found);
        }
      }
      return found;
    },
  });
}
