import type { Cursor } from '@scratchfs/core';
import type { StateKey, StateStep, StateWalk } from '@scratchfs/core/states';
import { hexOf, type ObjectFormat, type ObjectId } from './object-id.js';
import { checkEntryName } from './objects/entry-name.js';
import { type GitObject, headerOf, idOf } from './objects/git-object.js';
import { encodeByName, type TreeEntry, type TreeMode } from './objects/tree.js';
import type { Hasher, Primitives } from './primitives.js';
import type { NamedObject } from './repository.js';

/** What states of files and directories of one realm were found to be. */
export interface KnownStates {
  get(key: StateKey): ObjectId | undefined;
}

/** One result of the cursor: an object to be stored, with the state it stands for, or a pause. */
export interface FoundObject {
  readonly object: NamedObject;
  readonly realm: object;
  readonly key: StateKey | undefined;
}

export interface TreeCursorOptions {
  readonly format: ObjectFormat;
  readonly primitives: Primitives;
  readonly known: KnownStates;
  /** Commits of other repositories by path, without the leading `/`: an empty directory there stands for one. */
  readonly submodules: ReadonlyMap<string, ObjectId>;
}

interface Frame {
  readonly entries: TreeEntry[];
  /** Whether a directory without files lies beneath: what it stands for is not said by the state alone. */
  hasEmpty: boolean;
}

interface Hashing {
  readonly hasher: Hasher;
  readonly body: Uint8Array;
  readonly step: StateStep;
  readonly mode: TreeMode;
  at: number;
}

const HASHED_AT_ONCE = 2 ** 20;
/** What is known is passed by this many at once: each is less work than handing over a result. */
const PASSED_AT_ONCE = 64;
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
  #file: StateStep | undefined;
  #hashing: Hashing | undefined;
  #root: ObjectId | undefined;

  constructor(
    walk: StateWalk,
    readonly options: TreeCursorOptions,
  ) {
    this.#walk = walk;
  }

  /** At the end: the id of the tree of the start. */
  get root(): ObjectId {
    return this.#root as ObjectId;
  }

  next(): FoundObject | null | undefined {
    for (let passed = 0; passed < PASSED_AT_ONCE; passed++) {
      const found = this.#step();
      if (found !== null || this.#hashing !== undefined) return found;
    }
    return null;
  }

  #step(): FoundObject | null | undefined {
    if (this.#hashing !== undefined) return this.#hash(this.#hashing);
    // Held until its content is loaded.
    const step = this.#file ?? this.#walk.next();
    if (step === undefined) return undefined;
    if (step.name === '.git' && this.#frames.length === 1) return this.#passBy(step);
    if (step.step === 'enter') return this.#enter(step);
    if (step.step === 'leave') return this.#leave(step);
    this.#file = step;
    const found = this.#leaf(step);
    this.#file = undefined;
    return found;
  }

  #passBy(step: StateStep): null {
    if (step.step === 'enter') this.#walk.skip();
    return null;
  }

  #enter(step: StateStep): null {
    const known = step.key === undefined ? undefined : this.options.known.get(step.key);
    if (known === undefined) this.#frames.push({ entries: [], hasEmpty: false });
    else {
      this.#walk.skip();
      this.#add(step.name, '40000', known);
    }
    return null;
  }

  #leaf(step: StateStep): FoundObject | null {
    const mode = step.kind === 'symlink' ? '120000' : (step.mode & 0o100) === 0 ? '100644' : '100755';
    const known = step.key === undefined ? undefined : this.options.known.get(step.key);
    if (known !== undefined) {
      this.#add(step.name, mode, known);
      return null;
    }
    const body = step.kind === 'symlink' ? encoder.encode(step.target) : this.#walk.bytes();
    const hasher = this.options.primitives.hasher(this.options.format);
    hasher.update(headerOf({ type: 'blob', body }));
    return this.#hash({ hasher, body, at: 0, step, mode });
  }

  /** Large files are hashed in several steps, so that the event loop has its turns. */
  #hash(hashing: Hashing): FoundObject | null {
    const { hasher, body, step, mode } = hashing;
    hasher.update(body.subarray(hashing.at, hashing.at + HASHED_AT_ONCE));
    hashing.at += HASHED_AT_ONCE;
    this.#hashing = hashing.at < body.length ? hashing : undefined;
    if (this.#hashing !== undefined) return null;
    const id = hexOf(hasher.digest());
    this.#add(step.name, mode, id);
    return { object: { type: 'blob', body, id }, realm: this.#walk.realm, key: step.key };
  }

  #leave(step: StateStep): FoundObject | null {
    const { entries, hasEmpty } = this.#frames.pop() as Frame;
    const parent = this.#frames.at(-1);
    if (parent !== undefined && (entries.length === 0 || hasEmpty)) parent.hasEmpty = true;
    if (parent !== undefined && entries.length === 0) {
      const path = step.path.slice(1);
      const submodule = this.options.submodules.get(path);
      if (submodule !== undefined) this.#add(step.name, '160000', submodule);
      this.empty.push(path);
      return null;
    }
    const body = encodeByName(entries, this.options.format);
    const found = this.#found({ type: 'tree', body }, hasEmpty ? undefined : step.key);
    this.#add(step.name, '40000', found.object.id);
    return found;
  }

  #add(name: string, mode: TreeMode, id: ObjectId): void {
    const frame = this.#frames.at(-1);
    if (frame === undefined) {
      this.#root = id;
      return;
    }
    // Far storages answer what they like.
    checkEntryName(name);
    frame.entries.push({ name, mode, id });
  }

  #found(object: GitObject, key: StateKey | undefined): FoundObject {
    const id = idOf(object, this.options.format, this.options.primitives);
    return { object: { ...object, id }, realm: this.#walk.realm, key };
  }
}
