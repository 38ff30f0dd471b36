import type { FileSystem } from '@scratchfs/core';
import type { StateKey } from '@scratchfs/core/states';
import type { ObjectId } from './object-id.js';
import type { FoundObject, KnownStates } from './tree-cursor.js';

/** Text keys kept of one realm before the older half goes. */
const MAX_KEYS = 400_000;

interface Realm {
  readonly objects: WeakMap<object, ObjectId>;
  recent: Map<string, ObjectId>;
  older: Map<string, ObjectId>;
}

/** Remembers which states have been stored as which objects. Forgetting one costs time, never correctness. */
export class StateIds implements KnownStates {
  readonly #realms = new WeakMap<object, Realm>();
  readonly #met = new WeakSet<FileSystem>();

  /** Whether something may be known of a filesystem's states. */
  knows(fileSystem: FileSystem): boolean {
    return this.#met.has(fileSystem);
  }

  met(fileSystem: FileSystem): void {
    this.#met.add(fileSystem);
  }

  get(realm: object, key: StateKey): ObjectId | undefined {
    const known = this.#realms.get(realm);
    if (known === undefined) return undefined;
    if (typeof key !== 'string') return known.objects.get(key);
    const recent = known.recent.get(key);
    if (recent !== undefined) return recent;
    const older = known.older.get(key);
    if (older !== undefined) keep(known, key, older);
    return older;
  }

  /** To be called once the objects are stored, so that a state that is known can always be read. */
  learn(found: readonly FoundObject[]): void {
    for (const { realm, key, object } of found) {
      if (key === undefined) continue;
      let known = this.#realms.get(realm);
      if (known === undefined) {
        known = { objects: new WeakMap(), recent: new Map(), older: new Map() };
        this.#realms.set(realm, known);
      }
      if (typeof key === 'string') keep(known, key, object.id);
      else known.objects.set(key, object.id);
    }
  }
}

function keep(realm: Realm, key: string, id: ObjectId): void {
  realm.recent.set(key, id);
  if (realm.recent.size * 2 <= MAX_KEYS) return;
  realm.older = realm.recent;
  realm.recent = new Map();
}
