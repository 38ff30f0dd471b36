import { type Cursor, compareNames } from '@scratchfs/core';
import type { State, StateKey, StateWalk } from '@scratchfs/core/states';
import { hexOf, type ObjectFormat, type ObjectId } from './object-id.js';
import { checkEntryName } from './objects/entry-name.js';
import { type GitObject, headerOf, idOf } from './objects/git-object.js';
import type { TreeEntry, TreeMode } from './objects/tree.js';
import type { Hasher, Primitives } from './primitives.js';
import type { NamedObject } from './repository.js';
import { encodeParts, NO_RECORD, type TreePart, type TreeRecord } from './tree-record.js';

/** What states of files and directories of one realm were found to be. */
export interface KnownStates {
  get(key: StateKey): ObjectId | undefined;
}

/** One result of the cursor: an object to be stored, with the state it stands for, or a pause. */
export interface FoundObject {
  readonly object: NamedObject;
  readonly key: StateKey | undefined;
}

export interface TreeCursorOptions {
  readonly format: ObjectFormat;
  readonly primitives: Primitives;
  readonly known: KnownStates;
  /** What the same filesystem was the last time, its keys of the same realm. */
  readonly before: TreeRecord | undefined;
  /** Commits of other repositories by path, without the leading `/`: an empty directory there stands for one. */
  readonly submodules: ReadonlyMap<string, ObjectId>;
}

/** The objects of one state of a filesystem that were not known, children before parents. */
export interface FoundTree {
  readonly root: ObjectId;
  readonly objects: readonly FoundObject[];
  /** What its keys are compared within. */
  readonly realm: object;
  readonly record: TreeRecord | undefined;
}

/** A directory that was entered. */
interface Frame {
  readonly state: State;
  readonly path: string;
  readonly names: readonly string[];
  readonly before: TreeRecord;
  readonly parts: TreePart[];
  readonly keys: (StateKey | undefined)[];
  readonly below: (TreeRecord | undefined)[];
  /** The name that comes next. */
  at: number;
  /** How far the names of the record before are behind it. */
  was: number;
  isEmpty: boolean;
  /** Whether a directory without files lies beneath: what it stands for is not said by the state alone. */
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
/** What is known is passed by this many at once: each is less work than handing over a result. */
const MAX_SKIPPED_ENTRIES = 256;
const encoder = new TextEncoder();

/**
 * Turns a filesystem into git's objects, children before parents, the tree of the root last. What is known already is
 * passed by. Directories without files are left out, as git does; `/.git` is none of its business.
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

  /** At the end: the id of the tree of the start. */
  get root(): ObjectId {
    return this.#root as ObjectId;
  }

  /** What the keys of the record are compared within. */
  get realm(): object {
    return this.#walk.realm;
  }

  /** At the end: what the filesystem is now. Holds only once all that was found is stored. */
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

  /** Where something is not loaded, the walk throws, and the same name comes again. */
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
    // A guard hides it.
    if (state === undefined) return this.#put(undefined, undefined);
    return this.#meet(state, was === undefined ? undefined : before.below[was]);
  }

  #meet(state: State, before: TreeRecord | undefined): FoundObject | null {
    const { name, kind, key } = state;
    // Far storages answer what they like.
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

  /** Large files are hashed in several steps, so that the event loop has its turns. */
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

  /** What becomes of the name that comes next, and what is remembered of it. */
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

/** Where a name stands in the record before; names are asked for in their order. */
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
