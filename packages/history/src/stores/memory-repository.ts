import { compareNames } from '@scratchfs/core';
import type { ObjectFormat, ObjectId } from '../object-id.js';
import type { GitObject } from '../objects/git-object.js';
import { checkRefName, checkRefPlace, sameRef } from '../refs.js';
import type { NamedObject, RefValue, Repository } from '../repository.js';

/** A repository in memory. */
export class MemoryRepository implements Repository {
  readonly #objects = new Map<ObjectId, GitObject>();
  readonly #refs = new Map<string, RefValue>([['HEAD', { ref: 'refs/heads/main' }]]);

  constructor(readonly format: ObjectFormat = 'sha1') {}

  /** Number of objects. */
  get size(): number {
    return this.#objects.size;
  }

  async read(id: ObjectId): Promise<GitObject | undefined> {
    const object = this.#objects.get(id);
    return object && { type: object.type, body: object.body.slice() };
  }

  async has(id: ObjectId): Promise<boolean> {
    return this.#objects.has(id);
  }

  async write(objects: readonly NamedObject[]): Promise<void> {
    for (const { id, type, body } of objects) {
      if (!this.#objects.has(id)) this.#objects.set(id, { type, body: body.slice() });
    }
  }

  async readRef(name: string): Promise<RefValue | undefined> {
    return this.#refs.get(checkRefName(name));
  }

  async swapRef(name: string, expected: RefValue | undefined, next: RefValue | undefined): Promise<boolean> {
    if (!sameRef(this.#refs.get(checkRefName(name)), expected)) return false;
    if (expected === undefined && next !== undefined) checkRefPlace(name, this.#refs.keys());
    if (next === undefined) this.#refs.delete(name);
    else this.#refs.set(name, { ...next });
    return true;
  }

  async listRefs(prefix: string): Promise<string[]> {
    return [...this.#refs.keys()].filter((name) => name.startsWith(prefix)).sort(compareNames);
  }
}
