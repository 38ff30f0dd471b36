import { checkInteger, describe } from '../engine/arguments.js';
import { StorageError } from '../errors.js';
import { MAX_DELETE_NAMES } from './list-names.js';
import type { ObjectStore, StoredHead } from './object-store.js';

/**
 * Wraps a store: an object, listing, head or tag of the wrong form becomes a {@link StorageError}.
 * @throws TypeError, RangeError for an invalid `maxDeleteNames`
 */
export function checkedStore(store: ObjectStore): ObjectStore {
  const { maxObjectBytes, maxDeleteNames, commit, watch, deleteHead, close } = store;
  return {
    ...(maxObjectBytes === undefined ? {} : { maxObjectBytes }),
    ...(maxDeleteNames !== undefined && {
      maxDeleteNames: checkInteger(maxDeleteNames, 'maxDeleteNames', 1, MAX_DELETE_NAMES),
    }),
    get: async (...what) => {
      const bytes: unknown = await store.get(...what);
      if (bytes === undefined || isUint8Array(bytes)) return bytes;
      throw broken('get', 'a Uint8Array, or undefined for a missing object', bytes, false);
    },
    put: (...what) => store.put(...what),
    delete: (...what) => store.delete(...what),
    list: async (...what) => {
      const page = await store.list(...what);
      if (Array.isArray(page?.names) && isTag(page.cursor)) return page;
      throw broken('list', '{ names, cursor }, with the cursor undefined on the last page', page, false);
    },
    readHead: async (...what) => {
      const head: unknown = await store.readHead(...what);
      if (head === undefined || head === 'unchanged' || isHead(head)) return head;
      throw broken('readHead', "{ tag, bytes }, 'unchanged', or undefined for a missing head", head, false);
    },
    swapHead: async (...what) => tagOf('swapHead', await store.swapHead(...what)),
    ...(commit && { commit: async (...what) => tagOf('commit', await commit.call(store, ...what)) }),
    ...(watch && { watch: (...what) => watch.call(store, ...what) }),
    ...(deleteHead && { deleteHead: (call) => deleteHead.call(store, call) }),
    ...(close && { close: () => close.call(store) }),
  };
}

function tagOf(method: string, tag: unknown): string | undefined {
  if (isTag(tag)) return tag;
  throw broken(method, 'the tag of the new head, or undefined if another head was there', tag, true);
}

function isTag(tag: unknown): tag is string | undefined {
  return tag === undefined || typeof tag === 'string';
}

function isHead(head: unknown): head is StoredHead {
  const { tag, bytes } = (head ?? {}) as Partial<StoredHead>;
  return typeof tag === 'string' && isUint8Array(bytes);
}

function isUint8Array(bytes: unknown): bytes is Uint8Array {
  return ArrayBuffer.isView(bytes) && (bytes as Uint8Array).BYTES_PER_ELEMENT === 1;
}

function broken(method: string, expected: string, result: unknown, mayHaveHappened: boolean): StorageError {
  const text = `${method}() of the object store must return ${expected}, not ${describe(result)}`;
  return new StorageError('unsupported', text, { retryable: false, mayHaveHappened });
}
