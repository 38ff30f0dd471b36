import type { Batch, CommitResult } from '../backend.js';
import { otherLimits } from '../engine/other-limits.js';
import type { Steps } from '../engine/scheduling/time-slice.js';
import { TreeReader, type Versions } from '../engine/tree-backend/tree-reader.js';
import { TreeWriter } from '../engine/tree-backend/tree-writer.js';
import type { Limits } from '../limits.js';
import type { MapWhole } from '../tree/entries.js';
import type { CopyTimes, DirectoryNode, TreeNode } from '../tree/node.js';
import { SharedStore, Tree, type TreeState } from '../tree/tree.js';
import { seenThrough } from './copies.js';
import type { StoredContents } from './extents.js';
import type { CheckpointRecord, ForkRecord, Head, StateRecord } from './head.js';
import type { Current } from './heads.js';
import { type Pages, storedPage } from './stored-page.js';

/**
 * A shared store whose versions are the number of the commit in preparation: everything this commit changes gets one
 * version.
 */
export class CommitSharedStore extends SharedStore {
  override readonly contents: StoredContents;
  readonly commit: number;

  constructor(contents: StoredContents, commit: number, newId: () => string) {
    super(newId);
    this.contents = contents;
    this.commit = commit;
  }

  override newVersion(): number {
    return this.commit;
  }
}

/**
 * A tree that copies the stored pages of a directory as references with a {@link Copying}, without reading them, unless
 * files in the directory have several names.
 */
class StoredTree extends Tree {
  readonly #pages: Pages;
  readonly #commit: number;

  constructor(shared: CommitSharedStore, state: TreeState, pages: Pages) {
    super(shared, state);
    this.#pages = pages;
    this.#commit = shared.commit;
  }

  protected override copiedWhole(source: DirectoryNode, { time, keep }: CopyTimes): MapWhole<TreeNode> | undefined {
    if (source.linked > 0) return undefined;
    const id = String(this.shared.newId());
    const copying = { id, commit: this.#commit, time, touched: keep ? undefined : time };
    return (part) => {
      const stored = storedPage(part);
      return stored && this.#pages.at(stored.ref, seenThrough(stored.copying, copying));
    };
  }
}

/** The next head in preparation: its tree and its other records. */
export class Draft {
  readonly commit: number;
  readonly tree: Tree;
  epoch: number;
  kept: readonly CheckpointRecord[];
  forks: readonly ForkRecord[];
  limits: Limits;
  /**
   * Set if the next state is stored already: that of a checkpoint, or the current one if only other records change.
   * Undefined if the tree is written.
   */
  stored: StateRecord | undefined;
  isChanged = false;
  readonly #writer: TreeWriter;

  constructor(
    readonly base: Current,
    shared: CommitSharedStore,
    versions: Versions,
    pages: Pages,
  ) {
    const { head, state } = base;
    this.commit = shared.commit;
    this.tree = new StoredTree(shared, state, pages);
    this.#writer = new TreeWriter(this.tree, new TreeReader(this.tree, versions), versions);
    this.epoch = head.epoch;
    this.kept = head.kept;
    this.forks = head.forks;
    this.limits = head.limits;
  }

  *apply(batch: Batch): Steps<CommitResult> {
    const other = otherLimits(this.limits, batch);
    if (other !== undefined) return other;
    const result = yield* this.#writer.commit(batch);
    if (result.kind === 'ok' && batch.writes.length > 0) this.isChanged = true;
    return result;
  }

  /** Makes a stored state the current one. The draft must contain no writes. */
  restore(record: StateRecord): void {
    this.stored = record;
    this.isChanged = true;
  }

  /** Marks the draft as changed without a change of the tree. */
  keepState(): void {
    this.restore(this.base.head.state);
  }

  /** Returns the resulting head, without the fields that the commit queue adds. */
  headWith(state: StateRecord): Omit<Head, 'nonce' | 'clients' | 'gathered'> {
    const { filesystem } = this.base.head;
    const { commit, epoch, kept, forks, limits } = this;
    return { filesystem, epoch, commit, state, kept, forks, limits };
  }
}
