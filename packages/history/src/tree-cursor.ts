import { type Cursor, compareNames } from '@scratchfs/core';
import type { State, StateKey, StateWalk } from '@scratchfs/core/states';
import { hexOf, type ObjectFormat, type ObjectId } from './object-id.js';
import { checkEntryName } from './objects/entry-name.js';
import { type GitObject, headerOf, idOf } from './objects/git-object.js';
import type { TreeEntry, TreeMode } from './objects/tree.js';
import type { Hasher, Primitives } from './primitives.js';
import type { NamedObject } from './repository.js';
import { encodeParts, NO_RECORD, type TreePart, type TreeRecord } from './tree-record.js';

/** Ids of known states of one realm. */
export interface KnownStates {
  get(key: StateKey): ObjectId | undefined;
}

/** An object to store, with the state that it represents. */
export interface FoundObject {
  readonly object: NamedObject;
  readonly key: StateKey | undefined;
}

export interface TreeCursorOptions {
  readonly format: ObjectFormat;
  readonly primitives: Primitives;
  readonly known: KnownStates;
  /** The last known state of the same filesystem, with keys of the same realm. */
  readonly before: TreeRecord | undefined;
  /** Commits of submodules by path, without the leading `/`. An empty directory at such a path is a submodule. */
  readonly submodules: ReadonlyMap<string, ObjectId>;
}

/** The objects of one state of a filesystem that were not known, children before parents. */
export interface FoundTree {
  readonly root: ObjectId;
  readonly objects: readonly FoundObject[];
  /** The scope in which keys can be compared. */
  readonly realm: object;
  readonly record: TreeRecord | undefined;
}

/** A directory that the walk has entered. */
interface Frame {
  readonly state: State;
  readonly path: string;
  readonly names: readonly string[];
  readonly before: TreeRecord;
  readonly parts: TreePart[];
  readonly keys: (StateKey | undefined)[];
  readonly below: (TreeRecord | undefined)[];
  /** Index of the next name. */
  at: number;
  /** Index of the next name in the previous record. */
  was: number;
  isEmpty: boolean;
  /**
   * True if a directory without files is somewhere in it. The state alone then does not determine the tree: such a
   * directory may be a submodule.
   */
  hasEmpty: boolean;
}

interface Hashing {
  readonly hasher: Hasher;
  readonly body: Uint8Array;
  readonly state: State;
  readonly mode: TreeMode;
  at: number;
}

const BATCH_HASHED_BYTES = 2 ** 20;
/** Maximum number of known entries to skip in one call of `next`: skipping one is less work than returning a result. */
const MAX_SKIPPED_ENTRIES = 256;
const encoder = new TextEncoder();

/**
 * Converts a filesystem to git objects, children before parents, the root tree last. Known states are skipped.
 * Directories without files are left out, as in git, unless they are submodules. `/.git` is left out too.
 */
export class TreeCursor implements Cursor<FoundObject | null> {
  readonly #walk: StateWalk;
  readonly #frames: Frame[] = [];
  /** Paths of directories without files, without the leading `/`. */
  readonly empty: string[] = [];
  #hashing: Hashing | undefined;
  #root: ObjectId | undefined;
  #record: TreeRecord | undefined;

  constructor(
    walk: StateWalk,
    readonly options: TreeCursorOptions,
  ) {
    this.#walk = walk;
    this.#record = options.before;
  }

  /** Id of the root tree. Valid at the end. */
  get root(): ObjectId {
    return this.#root as ObjectId;
  }

  /** The scope in which keys of the record can be compared. */
  get realm(): object {
    return this.#walk.realm;
  }

  /** Record of the filesystem's state. Valid at the end, once all found objects are stored. */
  get record(): TreeRecord | undefined {
    return this.#record;
  }

  next(): FoundObject | null | undefined {
    for (let passed = 0; passed < MAX_SKIPPED_ENTRIES; passed++) {
      const found = this.#step();
      if (found !== null || this.#hashing !== undefined) return found;
    }
    return null;
  }

  #step(): FoundObject | null | undefined {
    if (this.#hashing !== undefined) return this.#hash(this.#hashing);
    const frame = this.#frames.at(-1);
    if (frame !== undefined) return frame.at < frame.names.length ? this.#pass(frame) : this.#leave(frame);
    return this.#root === undefined ? this.#meet(this.#walk.root(), this.#record) : undefined;
  }

  /** Visits the next name. If something is not loaded, the walk throws and the same name is visited again. */
  #pass(frame: Frame): FoundObject | null {
    const { before, at } = frame;
    const name = frame.names[at] as string;
    if (name === '.git' && this.#frames.length === 1) return this.#put(undefined, undefined);
    const was = indexBefore(frame, name);
    const key = was === undefined ? undefined : before.keys[was];
    if (key !== undefined && this.#walk.keyAt(at) === key) {
      this.#walk.skipAt(at);
      return this.#put(was, key, before.below[was as number]);
    }
    const state = this.#walk.meet(at);
    // A guard does not allow the entry to be read.
    if (state === undefined) return this.#put(undefined, undefined);
    return this.#meet(state, was === undefined ? undefined : before.below[was]);
  }

  #meet(state: State, before: TreeRecord | undefined): FoundObject | null {
    const { name, kind, key } = state;
    // A remote storage may return any name.
    if (this.#frames.length > 0) checkEntryName(name);
    const mode = modeOf(state);
    const id = key === undefined ? undefined : this.options.known.get(key);
    if (id !== undefined) {
      this.#walk.skip();
      return this.#put({ name, mode, id }, key, before);
    }
    if (kind === 'directory') return this.#enter(state, before);
    const body = kind === 'symlink' ? encoder.encode(state.target) : this.#walk.bytes();
    const hasher = this.options.primitives.hasher(this.options.format);
    hasher.update(headerOf({ type: 'blob', body }));
    return this.#hash({ hasher, body, at: 0, state, mode });
  }

  #enter(state: State, before: TreeRecord = NO_RECORD): null {
    const { path, names } = this.#walk.enter();
    this.#frames.push({
      state,
      path,
      names,
      before,
      parts: [],
      keys: [],
      below: [],
      at: 0,
      was: 0,
      isEmpty: true,
      hasEmpty: false,
    });
    return null;
  }

  /** Hashes large files in several steps, to keep the event loop free. */
  #hash(hashing: Hashing): FoundObject | null {
    const { hasher, body, state, mode } = hashing;
    hasher.update(body.subarray(hashing.at, hashing.at + BATCH_HASHED_BYTES));
    hashing.at += BATCH_HASHED_BYTES;
    this.#hashing = hashing.at < body.length ? hashing : undefined;
    if (this.#hashing !== undefined) return null;
    const { name, key } = state;
    const id = hexOf(hasher.digest());
    this.#put({ name, mode, id }, key);
    return { object: { type: 'blob', body, id }, key };
  }

  #leave(frame: Frame): FoundObject | null {
    const { state, path, names, before, parts, keys, below, isEmpty, hasEmpty } = frame;
    const { name } = state;
    const { format, primitives, submodules } = this.options;
    this.#walk.leave();
    this.#frames.pop();
    const parent = this.#frames.at(-1);
    if (parent !== undefined && (isEmpty || hasEmpty)) parent.hasEmpty = true;
    if (parent !== undefined && isEmpty) {
      const relative = path.slice(1);
      this.empty.push(relative);
      const id = submodules.get(relative);
      return this.#put(id && { name, mode: '160000', id }, undefined);
    }
    const encoded = encodeParts(names, parts, before, format);
    const object: GitObject = { type: 'tree', body: encoded.body };
    const id = idOf(object, format, primitives);
    const key = hasEmpty ? undefined : state.key;
    this.#put({ name, mode: '40000', id }, key, { ...encoded, names, keys, below });
    return { object: { ...object, id }, key };
  }

  /** Records the part and the key of the next name. */
  #put(part: TreePart, key: StateKey | undefined, record?: TreeRecord): null {
    const frame = this.#frames.at(-1);
    if (frame === undefined) {
      this.#root = (part as TreeEntry).id;
      this.#record = record;
      return null;
    }
    frame.parts.push(part);
    frame.keys.push(key);
    frame.below.push(record);
    frame.isEmpty &&= part === undefined;
    frame.at += 1;
    return null;
  }
}

/** Returns the index of a name in the previous record. Names are asked for in order. */
function indexBefore(frame: Frame, name: string): number | undefined {
  const { names } = frame.before;
  while (frame.was < names.length) {
    const other = names[frame.was] as string;
    if (other === name) return frame.was;
    if (compareNames(other, name) > 0) return undefined;
    frame.was += 1;
  }
  return undefined;
}

function modeOf({ kind, mode }: State): TreeMode {
  if (kind === 'directory') return '40000';
  if (kind === 'symlink') return '120000';
  return (mode & 0o100) === 0 ? '100644' : '100755';
}
