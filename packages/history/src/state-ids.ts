import type { FileSystem } from '@scratchfs/core';
import type { StateKey } from '@scratchfs/core/states';
import type { ObjectId } from './object-id.js';
import type { FoundObject, KnownStates } from './tree-cursor.js';

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

/** Remembers which states have been stored as which objects. Forgetting one costs time, never correctness. */
export class StateIds {
  readonly #realms = new WeakMap<object, Realm>();
  readonly #met = new WeakSet<FileSystem>();

  /** Whether something may be known of a filesystem's states. */
  knows(fileSystem: FileSystem): boolean {
    return this.#met.has(fileSystem);
  }

  met(fileSystem: FileSystem): void {
    this.#met.add(fileSystem);
  }

  /** What is known of the states of one realm. */
  of(realm: object): KnownStates {
    return this.#realm(realm);
  }

  /** To be called once the objects are stored, so that a state that is known can always be read. */
  learn(found: readonly FoundObject[]): void {
    for (const { realm, key, object } of found) if (key !== undefined) this.#realm(realm).set(key, object.id);
  }

  #realm(realm: object): Realm {
    let known = this.#realms.get(realm);
    if (known === undefined) this.#realms.set(realm, (known = new Realm()));
    return known;
  }
}
