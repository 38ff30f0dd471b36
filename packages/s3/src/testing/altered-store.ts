import type { ObjectStore } from '@scratchfs/core/object-tree';

/** Returns a store with some of its requests replaced. */
export function altered(store: ObjectStore, others: Partial<ObjectStore>): ObjectStore {
  return {
    get: (...what) => store.get(...what),
    put: (...what) => store.put(...what),
    delete: (...what) => store.delete(...what),
    list: (...what) => store.list(...what),
    readHead: (...what) => store.readHead(...what),
    swapHead: (...what) => store.swapHead(...what),
    ...others,
  };
}
