import { ObjectTreeStorage } from '@scratchfs/core/object-tree';
import { checkState, type SqlObjectState } from './durable-object-state.js';
import { DurableObjectStore, listFileSystems } from './durable-object-store.js';
import { type CloudflareStorageOptions, parseOptions } from './options.js';

/**
 * A filesystem in the SQLite database of a Durable Object. Give it `ctx.storage`. It uses the tables `scratchfs_heads`,
 * `scratchfs_objects` and `scratchfs_format`, and touches no others, no keys and no alarm. All requests of the Durable
 * Object can share one storage, or each can open its own. Nothing is read before the first call.
 *
 * A small commit is one transaction. A large one stores its objects first, and then the head. As for every write of a
 * Durable Object, the runtime holds back responses and outgoing requests until it is stored.
 * @throws TypeError, RangeError for options or a state of a wrong kind
 */
export class DurableObjectStorage extends ObjectTreeStorage {
  constructor(storage: SqlObjectState, options?: CloudflareStorageOptions) {
    const { name, tree } = parseOptions('DurableObjectStorage', options);
    super(new DurableObjectStore(checkState(storage), name), tree);
  }

  /** Returns the names of the filesystems in a Durable Object, sorted. @throws StorageError */
  static async list(storage: SqlObjectState): Promise<string[]> {
    return listFileSystems(checkState(storage));
  }
}
