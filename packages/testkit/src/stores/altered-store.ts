import type { ObjectStore } from '@scratchfs/core/object-tree';

/** Returns a store with some of its requests replaced. */
export function alteredStore(store: ObjectStore, others: Partial<ObjectStore>): ObjectStore {
  const { maxObjectBytes, maxDeleteNames, commit, watch, deleteHead, close } = store;
  return {
    ...(maxObjectBytes === undefined ? {} : { maxObjectBytes }),
    ...(maxDeleteNames === undefined ? {} : { maxDeleteNames }),
    get: (...what) => store.get(...what),
    put: (...what) => store.put(...what),
    delete: (...what) => store.delete(...what),
    list: (...what) => store.list(...what),
    readHead: (...what) => store.readHead(...what),
    swapHead: (...what) => store.swapHead(...what),
    ...(commit === undefined ? {} : { commit: (...what) => commit.call(store, ...what) }),
    ...(watch === undefined ? {} : { watch: (...what) => watch.call(store, ...what) }),
    ...(deleteHead === undefined ? {} : { deleteHead: (call) => deleteHead.call(store, call) }),
    ...(close === undefined ? {} : { close: () => close.call(store) }),
    ...others,
  };
}
