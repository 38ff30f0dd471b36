import { Yielder } from '@scratchfs/core/internal';
import { DEFAULT_MAX_ENTRIES, EntryCount } from './entry-count.js';
import { HistoryError } from './errors.js';
import type { ObjectId } from './object-id.js';
import { type Commit, decodeCommit } from './objects/commit.js';
import { checkId, type GitObject, type ObjectType } from './objects/git-object.js';
import { decodeTag, type Tag } from './objects/tag.js';
import { decodeTree, type TreeEntry } from './objects/tree.js';
import type { Primitives } from './primitives.js';
import type { GitObjectStore, RepositoryCall } from './repository.js';

/** Reads objects by id. Every object is hashed, so wrong bytes from a store are never accepted. */
export class ObjectReader {
  readonly #yielder = new Yielder();

  constructor(
    readonly store: GitObjectStore,
    readonly primitives: Primitives,
    /** Maximum number of entries that one walk over trees may find. */
    readonly maxEntries = DEFAULT_MAX_ENTRIES,
  ) {}

  /** Returns a new count for one walk over trees. */
  countEntries(): EntryCount {
    return new EntryCount(this.maxEntries);
  }

  /** @throws HistoryError `not-found`, `corrupt`, `too-large` */
  async object(id: ObjectId, call?: RepositoryCall): Promise<GitObject> {
    // Long operations read many objects, so they yield to the event loop here.
    await this.#yielder.pauseIfDue();
    call?.signal?.throwIfAborted();
    const object = await this.store.read(id, call);
    if (object === undefined) throw new HistoryError('not-found', `There is no object ${id}`, { id });
    return checkId(object, id, this.store.format, this.primitives);
  }

  /** @throws HistoryError `not-found`, `corrupt`, `too-large`, `wrong-type` */
  async body(id: ObjectId, type: ObjectType, call?: RepositoryCall): Promise<Uint8Array> {
    const object = await this.object(id, call);
    if (object.type !== type)
      throw new HistoryError('wrong-type', `Object ${id} is a ${object.type}, not a ${type}`, { id });
    return object.body;
  }

  blob(id: ObjectId, call?: RepositoryCall): Promise<Uint8Array> {
    return this.body(id, 'blob', call);
  }

  async tree(id: ObjectId, call?: RepositoryCall): Promise<TreeEntry[]> {
    return decodeTree(await this.body(id, 'tree', call), this.store.format);
  }

  async commit(id: ObjectId, call?: RepositoryCall): Promise<Commit> {
    return decodeCommit(await this.body(id, 'commit', call), id, this.store.format);
  }

  /** Returns a commit's parents, or none for a commit at the boundary of a shallow store, which does not have them. */
  async parentsOf(
    { id, parents }: Pick<Commit, 'id' | 'parents'>,
    call?: RepositoryCall,
  ): Promise<readonly ObjectId[]> {
    if (this.store.shallow === undefined || parents.length === 0) return parents;
    return (await this.store.shallow(call)).has(id) ? [] : parents;
  }

  async tag(id: ObjectId, call?: RepositoryCall): Promise<Tag> {
    return decodeTag(await this.body(id, 'tag', call), id, this.store.format);
  }

  /** Follows annotated tags to the object they name. */
  async peel(id: ObjectId, call?: RepositoryCall): Promise<{ readonly id: ObjectId; readonly object: GitObject }> {
    let at = id;
    for (;;) {
      const object = await this.object(at, call);
      if (object.type !== 'tag') return { id: at, object };
      at = decodeTag(object.body, at, this.store.format).object;
    }
  }
}
