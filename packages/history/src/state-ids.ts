import type { FileSystem } from '@scratchfs/core';
import type { StateKey } from '@scratchfs/core/states';
import type { ObjectId } from './object-id.js';
import type { FoundTree, KnownStates } from './tree-cursor.js';
import type { TreeRecord } from './tree-record.js';

/** Text keys kept of one realm before the older half goes. */
const MAX_KEYS = 400_000;

class Realm implements KnownStates {
  readonly #objects = new WeakMap<object, ObjectId>();
  #recent = new Map<string, ObjectId>();
  #older = new Map<string, ObjectId>();

  get(key: StateKey): ObjectId | undefined {
    if (typeof key !== 'string') return this.#objects.get(key);
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    const older = this.#older.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: StateKey, id: ObjectId): void {
    if (typeof key !== 'string') {
      this.#objects.set(key, id);
      return;
    }
    this.#recent.set(key, id);
    if (this.#recent.size * 2 <= MAX_KEYS) return;
    this.#older = this.#recent;
    this.#recent = new Map();
  }
}

/** What a filesystem was the last time, by keys of one realm. */
interface Met {
  readonly realm: object;
  readonly record: TreeRecord | undefined;
}

/** Remembers which states have been stored as which objects. Forgetting one costs time, never correctness. */
export class StateIds {
  readonly #realms = new WeakMap<object, Realm>();
  /** Undefined for one of which no record is kept. */
  readonly #met = new WeakMap<FileSystem, Met | undefined>();

  /** Whether something may be known of a filesystem's states. */
  knows(fileSystem: FileSystem): boolean {
    return this.#met.has(fileSystem);
  }

  met(fileSystem: FileSystem): void {
    if (!this.knows(fileSystem)) this.#met.set(fileSystem, undefined);
  }

  /** Has another form of a filesystem known as well. */
  knowAs(fileSystem: FileSystem, other: FileSystem): void {
    if (this.knows(fileSystem)) this.#met.set(other, this.#met.get(fileSystem));
  }

  /** What is known of the states of one realm. */
  of(realm: object): KnownStates {
    return this.#realm(realm);
  }

  recordOf(fileSystem: FileSystem, realm: object): TreeRecord | undefined {
    const met = this.#met.get(fileSystem);
    return met?.realm === realm ? met.record : undefined;
  }

  /** To be called once the objects are stored, so that a state that is known can always be read. */
  learn(fileSystem: FileSystem, { objects, realm, record }: FoundTree): void {
    for (const { key, object } of objects) if (key !== undefined) this.#realm(realm).set(key, object.id);
    this.#met.set(fileSystem, { realm, record });
  }

  #realm(realm: object): Realm {
    let known = this.#realms.get(realm);
    if (known === undefined) this.#realms.set(realm, (known = new Realm()));
    return known;
  }
}
