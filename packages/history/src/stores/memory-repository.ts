import { compareNames, systemClock } from '@scratchfs/core';
import type { ObjectFormat, ObjectId } from '../object-id.js';
import type { GitObject } from '../objects/git-object.js';
import { checkRefName, checkRefPlace, sameRef } from '../refs.js';
import type { NamedObject, PruneCall, Pruned, RefValue, Repository, StoredObject, SwapRefCall } from '../repository.js';

interface Held extends GitObject {
  writtenAt: number;
}

/** A repository in memory. */
export class MemoryRepository implements Repository {
  readonly #objects = new Map<ObjectId, Held>();
  readonly #refs = new Map<string, RefValue>([['HEAD', { ref: 'refs/heads/main' }]]);

  readonly #clock: () => number;
  #pruneCount = 0;

  /** @param options `clock` returns the time in epoch milliseconds; default: the system time */
  constructor(
    readonly format: ObjectFormat = 'sha1',
    options: { readonly clock?: (() => number) | undefined } = {},
  ) {
    this.#clock = options.clock ?? systemClock;
  }

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
      const held = this.#objects.get(id);
      if (held !== undefined) held.writtenAt = this.#clock();
      else this.#objects.set(id, { type, body: body.slice(), writtenAt: this.#clock() });
    }
  }

  async *list(prefix: string): AsyncGenerator<StoredObject> {
    for (const [id, { body, writtenAt }] of this.#objects)
      if (id.startsWith(prefix)) yield { id, bytes: body.length, writtenAt };
  }

  async pruneCount(): Promise<number> {
    return this.#pruneCount;
  }

  async prune(
    select: (listed: readonly StoredObject[]) => Promise<ReadonlySet<ObjectId>>,
    { before, dryRun }: PruneCall,
  ): Promise<Pruned> {
    if (!dryRun) this.#pruneCount += 1;
    const listed: StoredObject[] = [];
    for await (const object of this.list('')) listed.push(object);
    let objects = 0;
    let bytes = 0;
    for (const id of await select(listed)) {
      const { body, writtenAt } = this.#objects.get(id) as Held;
      if (writtenAt >= before) continue;
      objects += 1;
      bytes += body.length;
      if (!dryRun) this.#objects.delete(id);
    }
    if (!dryRun) this.#pruneCount += 1;
    return { objects, bytes };
  }

  async readRef(name: string): Promise<RefValue | undefined> {
    return this.#refs.get(checkRefName(name));
  }

  async swapRef(
    name: string,
    expected: RefValue | undefined,
    next: RefValue | undefined,
    call?: SwapRefCall,
  ): Promise<boolean> {
    if (call?.pruneCount !== undefined && call.pruneCount !== this.#pruneCount) return false;
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
