import { UNKNOWN_VERSION } from '../backend.js';
import type { Cursor } from '../engine/cursor.js';
import { withContents } from '../engine/load-ahead.js';
import { type Siblings, siblingAt, siblingsIn } from '../engine/siblings.js';
import type { View } from '../engine/view.js';
import { directoryAt } from '../engine/walk.js';
import type { EntryKind } from '../entry.js';
import { joinPath } from '../paths.js';
import { DIRECTORY, type DirectoryNode, FILE, kindName, type Node, SYMLINK, Unloaded } from '../tree/node.js';
import type { Location } from '../tree/tree.js';

/**
 * Stands for the state of a file's content or of all at and beneath a directory: equal keys of one realm mean equal
 * states. An object stands for itself.
 */
export type StateKey = string | object;

/** One step: a directory is entered and left, everything else is met once. */
export interface StateStep {
  readonly step: 'enter' | 'leave' | 'leaf';
  /** Absolute. */
  readonly path: string;
  /** Empty for the root. */
  readonly name: string;
  readonly kind: EntryKind;
  /** Permission bits. */
  readonly mode: number;
  /** Bytes of content or of the target; 0 for a directory. */
  readonly size: number;
  /** Of a symlink. */
  readonly target?: string;
  /** Undefined where the state cannot be named: files with several names are beneath, or a guard hides a part. */
  readonly key: StateKey | undefined;
}

interface Frame {
  readonly siblings: Siblings;
  readonly enter: StateStep;
  at: number;
}

/** A directory that the walk stands before: where it is is found out only by who goes in. */
interface Entrance {
  readonly directory: DirectoryNode;
  /** Where it lies; undefined for the root. */
  readonly parent: Location | undefined;
  readonly enter: StateStep;
}

/**
 * Everything in a filesystem, from the root, with keys for the states met, siblings in UTF-8 order. Whoever remembers what a key
 * stood for calls `skip` and saves the way through all that has not changed: how versions are made at the cost of what
 * changed.
 */
export class StateWalk implements Cursor<StateStep> {
  readonly #view: View;
  readonly #frames: Frame[] = [];
  #next: Entrance | undefined;
  #node: Node | undefined;
  #begun = false;

  /** What keys are compared within: keys of different realms say nothing about each other. */
  readonly realm: object;
  readonly #withContents: boolean;

  constructor(view: View, options: { readonly contents?: boolean | undefined } = {}) {
    this.#view = view;
    this.realm = tokenOf(view.tree.family);
    this.#withContents = options.contents === true;
  }

  next(): StateStep | undefined {
    if (!this.#begun) {
      const { directory } = directoryAt(this.#view, '/');
      this.#begun = true;
      return this.#enter(directory, undefined, '', '/');
    }
    if (this.#next !== undefined) {
      // A listing that is not loaded throws here, before anything has moved on.
      const siblings = this.#siblingsIn(this.#next);
      this.#frames.push({ siblings, enter: this.#next.enter, at: 0 });
      this.#next = undefined;
    }
    const frame = this.#frames.at(-1);
    if (frame === undefined) return undefined;
    while (frame.at < frame.siblings.names.length) {
      const step = this.#meet(frame.siblings, frame.at++);
      if (step !== undefined) return step;
    }
    this.#frames.pop();
    return { ...frame.enter, step: 'leave' };
  }

  /** Right after `enter`: goes on behind the directory, without a `leave`. */
  skip(): void {
    if (this.#next === undefined) throw new TypeError('Only a directory can be skipped: call right after its step');
    this.#view.relyOnTree(this.#next.directory);
    this.#next = undefined;
  }

  /** Right after a `leaf`: a copy of the file's content. */
  bytes(): Uint8Array<ArrayBuffer> {
    if (this.#node?.kind !== FILE) throw new TypeError('Only a file has bytes: call right after its step');
    return this.#view.bytes(this.#node, '');
  }

  #siblingsIn({ directory, parent, enter }: Entrance): Siblings {
    const { tree } = this.#view;
    try {
      const location = parent === undefined ? tree.rootLocation : tree.childLocation(parent, enter.name, directory);
      return siblingsIn(this.#view, location);
    } catch (error) {
      throw this.#withContents ? withContents(error) : error;
    }
  }

  /** Undefined for what a guard does not let be read. */
  #meet(siblings: Siblings, at: number): StateStep | undefined {
    const { location, names } = siblings;
    const name = names[at] as string;
    const node = this.#view.tree.resolve(siblingAt(siblings, at)) as Node;
    this.#node = node;
    const path = joinPath(location.path, name);
    if (node.kind === DIRECTORY) return this.#enter(node, location, name, path);
    const { guard } = this.#view.context;
    if (guard !== undefined && !guard.allows(path, 'read', 'open', node)) return undefined;
    this.#view.relyOnNode(node);
    const { mode } = node.meta;
    const step = { step: 'leaf', path, name, kind: kindName(node), mode, size: node.size, key: leafKey(node) } as const;
    return node.kind === SYMLINK ? { ...step, target: node.target } : step;
  }

  #enter(directory: DirectoryNode, parent: Location | undefined, name: string, path: string): StateStep {
    const key = this.#view.context.guard === undefined ? directoryKey(directory) : undefined;
    const { mode } = directory.meta;
    const enter = { step: 'enter', path, name, kind: 'directory', mode, size: 0, key } as const;
    this.#next = { directory, parent, enter };
    return enter;
  }
}

const TOKENS = new WeakMap<object, object>();

/** Stands for a part of the tree, which nobody outside may hold. */
function tokenOf(part: object): object {
  let token = TOKENS.get(part);
  if (token === undefined) TOKENS.set(part, (token = Object.freeze({})));
  return token;
}

/** A file node in memory never changes; one that was loaded is named by where its content lies. */
function leafKey(node: Exclude<Node, DirectoryNode>): StateKey | undefined {
  if (node.kind !== FILE || !(node.data instanceof Unloaded)) return tokenOf(node);
  const { place, version, edits } = node.data;
  return edits.length === 0 ? `${place.id}@${version}` : undefined;
}

function directoryKey(directory: DirectoryNode): StateKey | undefined {
  if (directory.linked > 0) return undefined;
  const { origin, version, id } = directory;
  // What was loaded carries the storage's version; what was changed since, one of this client.
  if (origin === undefined) return `${id}#${version}`;
  if (origin.copied !== undefined || version === 0 || version === UNKNOWN_VERSION) return undefined;
  return origin.tree === version ? `${id}@${version}` : `${id}#${version}`;
}
