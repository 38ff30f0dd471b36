import { UNKNOWN_VERSION, type Version } from '../backend.js';
import { withContents } from '../engine/remote/prefetch.js';
import { type Siblings, siblingAt, siblingsIn } from '../engine/siblings.js';
import { fileBytes } from '../engine/view/contents.js';
import type { View } from '../engine/view.js';
import { directoryAt } from '../engine/walk.js';
import type { EntryKind } from '../entry.js';
import { joinPath } from '../paths.js';
import { DIRECTORY, type DirectoryNode, FILE, kindName, type Node, SYMLINK, Unloaded } from '../tree/node.js';
import type { Location } from '../tree/tree.js';

/**
 * Represents the state of a file, its mode included, or of everything in a directory: equal keys of one realm mean
 * equal states. Objects are compared by identity.
 */
export type StateKey = string | object;

/** An entry met on the walk. */
export interface State {
  /** The name; empty for the root. */
  readonly name: string;
  readonly kind: EntryKind;
  /** Permission bits. */
  readonly mode: number;
  /** Bytes of the content or of the target; 0 for a directory. */
  readonly size: number;
  /** Target of a symlink. */
  readonly target?: string;
  /** Undefined if the state has no key: among others, for a directory under a guard, or with files of several names. */
  readonly key: StateKey | undefined;
}

/** A directory that was entered. */
export interface StateListing {
  /** Absolute. */
  readonly path: string;
  /** Visible names, in UTF-8 order. */
  readonly names: readonly string[];
}

/** The entry met last. Its location is only computed when the directory is entered. */
interface Met {
  readonly node: Node;
  /** Location of the parent; undefined for the root. */
  readonly parent: Location | undefined;
  readonly name: string;
}

/**
 * Walks a filesystem from the root, with keys for the states on the path. A caller that remembers what keys stand for
 * can skip entries with a known key, so that a new version costs about as much as its changes. If something is not
 * loaded, a step throws before the walk has moved, and is repeated.
 */
export class StateWalk {
  readonly #view: View;
  readonly #entered: Siblings[] = [];
  #met: Met | undefined;

  /** Scope of the keys: keys of different realms cannot be compared. */
  readonly realm: object;
  readonly #withContents: boolean;

  constructor(view: View, options: { readonly contents?: boolean | undefined } = {}) {
    this.#view = view;
    this.realm = tokenOf(view.tree.shared);
    this.#withContents = options.contents === true;
  }

  /** Returns the root, which is visited first. */
  root(): State {
    const { directory } = directoryAt(this.#view, '/');
    return this.#meet(directory, undefined, '');
  }

  /** Enters the directory that was met last. */
  enter(): StateListing {
    const { node, parent, name } = this.#met as Met;
    if (node.kind !== DIRECTORY) throw new TypeError('Only a directory can be entered: call right after it was met');
    const siblings = this.#siblingsIn(node, parent, name);
    this.#entered.push(siblings);
    this.#met = undefined;
    return { path: siblings.location.path, names: siblings.names };
  }

  /** Leaves the current directory. */
  leave(): void {
    this.#entered.pop();
    this.#met = undefined;
  }

  /** Returns the key of a name in the current directory without visiting it. Always undefined under a guard. */
  keyAt(at: number): StateKey | undefined {
    if (this.#view.context.guard !== undefined) return undefined;
    const node = this.#nodeAt(at);
    return node.kind === DIRECTORY ? directoryKey(node) : leafKey(node);
  }

  /**
   * Visits a name in the current directory. Returns undefined for a file or link that a guard does not allow to be
   * read.
   */
  meet(at: number): State | undefined {
    const { location, names } = this.#siblings;
    const name = names[at] as string;
    const node = this.#nodeAt(at);
    const { guard } = this.#view.context;
    if (guard !== undefined && node.kind !== DIRECTORY) {
      if (!guard.allows(joinPath(location.path, name), 'read', 'open', node)) return undefined;
    }
    return this.#meet(node, location, name);
  }

  /** Skips the directory that was visited last, because its key is known. */
  skip(): void {
    this.#rely((this.#met as Met).node);
    this.#met = undefined;
  }

  /** Skips a name in the current directory, because its key is known. */
  skipAt(at: number): void {
    this.#rely(this.#nodeAt(at));
  }

  /** Returns a copy of the content of the file that was met last. */
  bytes(): Uint8Array<ArrayBuffer> {
    const node = this.#met?.node;
    if (node?.kind !== FILE) throw new TypeError('Only a file has bytes: call right after it was met');
    return fileBytes(this.#view, node, '');
  }

  get #siblings(): Siblings {
    return this.#entered[this.#entered.length - 1] as Siblings;
  }

  #nodeAt(at: number): Node {
    return this.#view.tree.resolve(siblingAt(this.#siblings, at)) as Node;
  }

  #meet(node: Node, parent: Location | undefined, name: string): State {
    this.#met = { node, parent, name };
    const { mode } = node.meta;
    if (node.kind === DIRECTORY) {
      const key = this.#view.context.guard === undefined ? directoryKey(node) : undefined;
      return { name, kind: 'directory', mode, size: 0, key };
    }
    this.#view.relyOnNode(node);
    const state = { name, kind: kindName(node), mode, size: node.size, key: leafKey(node) };
    return node.kind === SYMLINK ? { ...state, target: node.target } : state;
  }

  #rely(node: Node): void {
    if (node.kind === DIRECTORY) this.#view.relyOnTree(node);
    else this.#view.relyOnNode(node);
  }

  #siblingsIn(directory: DirectoryNode, parent: Location | undefined, name: string): Siblings {
    const { tree } = this.#view;
    try {
      const location = parent === undefined ? tree.rootLocation : tree.childLocation(parent, name, directory);
      return siblingsIn(this.#view, location);
    } catch (error) {
      throw this.#withContents ? withContents(error) : error;
    }
  }
}

const TOKENS = new WeakMap<object, object>();

/** Returns an object that stands for a part of the tree, because callers must not get the part itself. */
function tokenOf(part: object): object {
  let token = TOKENS.get(part);
  if (token === undefined) TOKENS.set(part, (token = Object.freeze({})));
  return token;
}

/**
 * Returns the key of a file or link. A node in memory never changes; a file whose content is not loaded is identified
 * by its id, the version of its content and its mode, and has no key if it was changed here.
 */
function leafKey(node: Exclude<Node, DirectoryNode>): StateKey | undefined {
  const token = TOKENS.get(node);
  if (token !== undefined) return token;
  if (node.kind !== FILE || !(node.data instanceof Unloaded)) return tokenOf(node);
  const { address, version, edits } = node.data;
  return edits.length === 0 ? `${address.id}@${version}:${node.meta.mode}` : undefined;
}

interface KeyOfVersion {
  readonly version: Version;
  readonly key: string;
}

const KEYS = new WeakMap<DirectoryNode, KeyOfVersion>();

function directoryKey(directory: DirectoryNode): StateKey | undefined {
  if (directory.linked > 0) return undefined;
  const { origin, version, id } = directory;
  if (origin === undefined) {
    // Strings are expensive to create, so each is cached.
    let known = KEYS.get(directory);
    if (known?.version !== version) KEYS.set(directory, (known = { version, key: `${id}#${version}` }));
    return known.key;
  }
  if (origin.copied !== undefined || version === 0 || version === UNKNOWN_VERSION) return undefined;
  // A loaded directory carries the storage's version; one changed since then carries this client's.
  return origin.tree === version ? `${id}@${version}` : `${id}#${version}`;
}
