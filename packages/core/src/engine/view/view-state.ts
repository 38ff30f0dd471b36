import type { Check, Metadata, Write } from '../../backend.js';
import type { Entries } from '../../tree/entries.js';
import type { DirectoryNode, Node, TreeNode, Unloaded } from '../../tree/node.js';
import type { Location, Tree } from '../../tree/tree.js';
import { checkNow } from '../arguments.js';
import type { Change } from '../changes.js';
import type { Context } from '../context.js';
import type { Access } from '../guard.js';
import type { OpenFiles } from '../open-files.js';
import { type Need, NotLoaded, type Source } from '../source.js';

/** Record of an operation for a remote storage. */
export interface Recorder {
  /** Conditions on everything that the operation relied on. */
  readonly checks: Check[];
  /** Everything that the operation changed. */
  readonly writes: Write[];
}

/**
 * Loads what a view's tree does not know yet, and records what an operation relies on. It comes from the source, so
 * that a bundle with only filesystems in memory lacks it.
 */
export interface Loader {
  /** Returns the node under a name that the directory may not know. `rest`: the names looked up next, last first. */
  lookup(location: Location, name: string, rest?: readonly string[]): TreeNode | undefined;
  /** Returns all names of a directory of which some may be unknown. */
  list(location: Location): Entries<TreeNode>;
  /** Returns a range of a file's stored bytes, which must not be changed. */
  range(data: Unloaded, offset: number, length: number): Uint8Array;
  /** Copies a range of a content that is not loaded, with its changes. */
  read(data: Unloaded, into: Uint8Array, position: number): void;
  /**
   * Makes uncertain totals exact by loading and counting everything under the directory, level by level. Loads nothing
   * if the storage knows its totals, or for a commit if no limit needs the totals and the whole filesystem was not
   * counted before: then a change of a directory is one write, however much is in it.
   */
  loadTotals(top: Location): void;
  /** Like `loadTotals`, also if no limit needs the totals. */
  count(top: Location): void;
  /** Loads the metadata of a directory if it is unknown. Unlike `relyOnMeta`, allows concurrent changes of it. */
  learnMeta(directory: DirectoryNode): void;
  relyOnMeta(directory: DirectoryNode): void;
  relyOnTotals(): void;
  relyOnTree(directory: DirectoryNode): void;
  relyOnNode(node: Node): void;
}

/** A source with the loader for it. */
export interface ViewSource extends Source {
  loaderFor(view: ViewState): Loader;
}

/**
 * The state of a view: a tree, and the time and settings of the operation that uses it. Functions and objects over this
 * state look up paths, load, and check limits. They look up, list and rely on nodes through the abstract methods,
 * because a transaction in memory records those calls.
 */
export abstract class ViewState {
  /** True if a lookup was for a write. */
  seeksToWrite = false;
  /** Undefined without a source. */
  readonly loader: Loader | undefined;
  #now: number | undefined;
  #isLate = false;
  #metaTime = Number.NaN;
  #meta: Metadata | undefined;

  constructor(
    readonly tree: Tree,
    public context: Context,
    /** Receives the changes; undefined if none are needed. */
    public changes: Change[] | undefined = undefined,
    readonly source: ViewSource | undefined = undefined,
    readonly recorder: Recorder | undefined = undefined,
    readonly openFiles: OpenFiles | undefined = undefined,
  ) {
    this.loader = source?.loaderFor(this);
  }

  /**
   * Returns the node under a name of a directory; loads it if unknown. `rest`: the names looked up next, last first.
   */
  abstract lookup(location: Location, name: string, rest?: readonly string[]): TreeNode | undefined;

  /** Returns all names of a directory; loads them if unknown. */
  abstract list(location: Location): Entries<TreeNode>;

  /** Returns the node at a path, or undefined for every path that leads nowhere. */
  abstract peek(path: string, follow: boolean, access: Access, syscall: string, given?: string): Node | undefined;

  /** Records that the outcome depends on more than the name and id of a file or link from a listing. */
  abstract relyOnNode(node: Node): void;

  /** Records that the outcome depends on everything under a directory. */
  abstract relyOnTree(directory: DirectoryNode): void;

  /**
   * Returns the node that a lookup found. If reads are recorded, also records that the outcome depends on it, because it
   * may be known only from a listing.
   */
  found(node: Node | undefined): Node | undefined {
    if (this.recorder !== undefined && node !== undefined) this.relyOnNode(node);
    return node;
  }

  /** Runs `load` for each item and requests all missing parts together. */
  all<T, R>(items: readonly T[], load: (item: T, index: number) => R): R[] {
    const needs: Need[] = [];
    const results: R[] = [];
    for (let i = 0; i < items.length; i++) {
      try {
        results.push(load(items[i] as T, i));
      } catch (error) {
        if (!(error instanceof NotLoaded)) throw error;
        needs.push(...error.needs);
      }
    }
    if (needs.length > 0) throw new NotLoaded(needs, this.source);
    return results;
  }

  /** Returns the time of this operation. */
  now(): number {
    this.#now ??= checkNow(this.context.clock());
    return this.#now;
  }

  /**
   * Must be called before each operation, if a view runs several. `now`: in a replay, the time at which the operation
   * first ran.
   */
  begin(now?: number): void {
    this.#now = now;
    this.#isLate = now !== undefined;
  }

  /**
   * Returns the time for a change of a node. In the replay of an earlier operation it is not before the node's `ctime`,
   * because another writer may have changed the node since.
   */
  nowAfter({ ctime }: Metadata): number {
    const now = this.now();
    return this.#isLate && ctime > now ? ctime : now;
  }

  /** Returns the metadata of a new node. Successive nodes of the same time and mode share one object. */
  newMeta(mode: number): Metadata {
    const now = this.now();
    if (this.#meta === undefined || this.#metaTime !== now || this.#meta.mode !== mode) {
      this.#metaTime = now;
      this.#meta = { mode, uid: 0, gid: 0, atime: now, mtime: now, ctime: now, birthtime: now };
    }
    return this.#meta;
  }
}
