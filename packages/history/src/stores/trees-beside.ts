import type { ObjectFormat, ObjectId } from '../object-id.js';
import type { GitObject } from '../objects/git-object.js';
import type { GitObjectStore, RepositoryCall } from '../repository.js';
import type { FoundObject } from '../tree-cursor.js';

/** An object store that also contains the trees of a state that is not stored. */
export class TreesBeside implements GitObjectStore {
  readonly format: ObjectFormat;
  readonly #trees = new Map<ObjectId, GitObject>();

  constructor(
    readonly store: GitObjectStore,
    found: readonly FoundObject[],
  ) {
    this.format = store.format;
    for (const { object } of found) if (object.type === 'tree') this.#trees.set(object.id, object);
  }

  async read(id: ObjectId, call?: RepositoryCall): Promise<GitObject | undefined> {
    return this.#trees.get(id) ?? this.store.read(id, call);
  }

  async has(id: ObjectId, call?: RepositoryCall): Promise<boolean> {
    return this.#trees.has(id) || this.store.has(id, call);
  }

  async write(): Promise<void> {
    throw new TypeError('This store is read-only');
  }
}
