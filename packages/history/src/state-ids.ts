import type { FileSystem } from '@scratchfs/core';
import type { StateKey } from '@scratchfs/core/states';
import type { ObjectId } from './object-id.js';
import type { FoundTree, KnownStates } from './tree-cursor.js';
import type { TreeRecord } from './tree-record.js';

/**
 * Maximum number of text keys of one realm. The least recently used ones are dropped, up to half of the maximum at a
 * time.
 */
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

/** The last known state of a filesystem, with keys of one realm. */
interface LastState {
  readonly realm: object;
  readonly record: TreeRecord | undefined;
}

/**
 * Remembers which states are stored as which objects, for each realm: the scope in which keys of states can be
 * compared. Forgetting a state costs time, never correctness.
 */
export class StateIds {
  readonly #realms = new WeakMap<object, Realm>();
  /** The last known state of each filesystem; undefined as long as none is known. */
  readonly #lastStates = new WeakMap<FileSystem, LastState | undefined>();

  /** Reports whether states of a filesystem may be known. */
  knows(fileSystem: FileSystem): boolean {
    return this.#lastStates.has(fileSystem);
  }

  register(fileSystem: FileSystem): void {
    if (!this.knows(fileSystem)) this.#lastStates.set(fileSystem, undefined);
  }

  /** Copies what is known of a filesystem to another object for it, such as the one inside a transaction. */
  copyKnowledge(fileSystem: FileSystem, other: FileSystem): void {
    if (this.knows(fileSystem)) this.#lastStates.set(other, this.#lastStates.get(fileSystem));
  }

  /** Returns the known states of one realm. */
  of(realm: object): KnownStates {
    return this.#realm(realm);
  }

  recordOf(fileSystem: FileSystem, realm: object): TreeRecord | undefined {
    const last = this.#lastStates.get(fileSystem);
    return last?.realm === realm ? last.record : undefined;
  }

  /** Records stored objects. Call it after the objects are stored, so that a known state can always be read. */
  learn(fileSystem: FileSystem, { objects, realm, record }: FoundTree): void {
    for (const { key, object } of objects) if (key !== undefined) this.#realm(realm).set(key, object.id);
    this.#lastStates.set(fileSystem, { realm, record });
  }

  #realm(realm: object): Realm {
    let known = this.#realms.get(realm);
    if (known === undefined) this.#realms.set(realm, (known = new Realm()));
    return known;
  }
}
