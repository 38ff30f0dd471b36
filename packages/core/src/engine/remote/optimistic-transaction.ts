import {
  type Check,
  type LoadRequest,
  type NodeAddress,
  type NodeId,
  type NodeRecord,
  UNKNOWN_VERSION,
  type Write,
} from '../../backend.js';
import { StorageError } from '../../errors.js';
import type { Limits } from '../../limits.js';
import { parentPath } from '../../paths.js';
import type { DirectoryNode, Unloaded } from '../../tree/node.js';
import { Owner } from '../../tree/owner.js';
import { nodeFromRecord } from '../../tree/stored-nodes.js';
import { Tree, type TreeState } from '../../tree/tree.js';
import type { Change } from '../changes.js';
import type { Context } from '../context.js';
import { rootMeta } from '../defaults.js';
import { exceededLimit } from '../exceeded-limit.js';
import type { OpenFiles } from '../open-files.js';
import { repeatingDraws } from '../repeating-draws.js';
import { runSteps, type Steps } from '../scheduling/time-slice.js';
import { type Need, NotLoaded } from '../source.js';
import { ViewLoader } from '../view/view-loader.js';
import type { Loader, ViewSource, ViewState } from '../view/view-state.js';
import { View } from '../view.js';
import { type CachedListing, listingSteps, MANY_NAMES } from './cached-listing.js';
import type { CachedNames, NodeCache } from './node-cache.js';
import type { NodeLoader } from './node-loader.js';

/**
 * The transaction gives up when the same data is missing again, although it was loaded, this many times in a row. Other
 * writers may replace it each time.
 */
const MAX_REPEATS = 3;

/** With this many individual lookups in a directory, the whole directory is listed too. */
const ASKED_BEFORE_LISTING = 4;
/** Maximum number of names of a directory that lookups of single names may cause to be listed. */
const MAX_LISTED_NAMES = 5000;
/** Maximum number of names of a directory that is listed at the first lookup. */
const MAX_UNCHECKED_NAMES = 1000;

/** Maximum number of attempts to prepare a listing in slices, during which other writers may change the directory. */
const MAX_PREPARED = 3;

/** A long listing that was prepared in slices. */
interface Prepared {
  readonly names: readonly string[];
  /** Undefined if the record of a name was unknown. */
  readonly listing: CachedListing | undefined;
  /** `NodeCache.changes` when the preparation began. */
  readonly changes: number;
  /** Number of preparations of this directory so far. */
  readonly times: number;
  /** True if the listing may lead to data that is outdated. */
  isStale: boolean;
}

const NO_INODES: TreeState['inodes'] = new Map();

const UNKNOWN_ROOT: NodeRecord = {
  id: UNKNOWN_VERSION,
  kind: 'directory',
  meta: rootMeta(0),
  version: UNKNOWN_VERSION,
  size: 0,
  links: 1,
  directory: {
    listing: UNKNOWN_VERSION,
    tree: UNKNOWN_VERSION,
    count: 0,
    totals: { size: 0, files: 0, directories: 0, linked: 0 },
  },
};

/** A point in a transaction to which it can be undone. */
export interface Mark {
  /** Undefined for a single operation, which need not be undone: it starts again on a new tree, or has failed. */
  readonly state: TreeState | undefined;
  readonly checks: number;
  readonly writes: number;
  readonly changes: number;
}

/**
 * One run over a remote storage: a tree that is loaded as it is read, and a record of everything that was relied on and
 * written.
 */
export class OptimisticTransaction implements ViewSource {
  readonly recorder: { checks: Check[]; writes: Write[] } = { checks: [], writes: [] };
  readonly changes: Change[] = [];
  #view: View | undefined;
  /** Number of names that were looked up individually, by the directory's id. */
  #asked: Map<NodeId, number> | undefined;
  #lastRequest = '';
  #repeats = 0;
  /** Random numbers drawn by the work, which {@link restart} repeats. */
  readonly #draws: ReturnType<typeof repeatingDraws>;
  readonly #cache: NodeCache;
  readonly #firstLoad: number;
  /**
   * The load from which everything used so far came; undefined if nothing was used, null if not everything came from
   * one.
   */
  #load: number | null | undefined;
  /** The load that returned the root. */
  #rootLoad: number | undefined;
  /** In a transaction: the files opened in it. */
  inner: OpenFiles | undefined;
  /**
   * True if the work must run again: the state that was read can no longer be loaded completely, or the writes no
   * longer fit beside those of another writer.
   */
  isLost = false;
  /** True if something was refused at a limit, which another client may have changed since. */
  hasMetLimit = false;
  /** The limits on which the results of the transaction rely. */
  readonly limits: Limits;
  #hasOld = false;
  #prepared: Map<NodeId, Prepared> | undefined;

  constructor(
    readonly loader: NodeLoader,
    readonly context: Context,
    /**
     * Kind of use. `single`: one operation, which may start again with fresher records, and needs no confirmation if
     * these are from one point in time; `still`: the loader has a pinned state; `long`: anything else.
     */
    readonly use: 'single' | 'still' | 'long' = 'long',
    /** Releases the pinned state. */
    readonly release: () => void = () => {},
  ) {
    this.#cache = loader.cache;
    this.#firstLoad = loader.loads;
    this.limits = context.quota.limits;
    this.#draws = repeatingDraws({ ...context, quota: { limits: this.limits } });
    this.restart();
  }

  get view(): View {
    return this.#view as View;
  }
  get tree(): Tree {
    return this.view.tree;
  }

  /** Returns the view with the guard of one filesystem: layers over the filesystem of a transaction share its view. */
  viewFor({ guard }: Context): View {
    const { view } = this;
    if (view.context.guard !== guard) view.context = { ...view.context, guard };
    return view;
  }

  /**
   * Starts over with a new tree that has the cached root, or if that is unknown, a placeholder that has to be loaded.
   */
  restart(): void {
    const known = this.#cache.root;
    const root = known ?? UNKNOWN_ROOT;
    this.#rootLoad = known === undefined ? undefined : this.#cache.loadOf(known.id);
    this.#load = this.#rootLoad;
    if (root.kind !== 'directory') throw new StorageError('corrupt', 'The root of the storage is not a directory');
    const owner = new Owner();
    const node = nodeFromRecord(owner, root, '/') as DirectoryNode;
    this.#draws.rewind();
    const tree = new Tree(this.loader.shared, { root: node, inodes: NO_INODES, linkedSize: 0 }, owner);
    this.#view = new View(tree, this.#draws.context, this.changes, this, this.recorder, this.loader.openFiles);
    this.#view.inner = this.inner;
  }

  /** Loads the root, then restarts. */
  async open(signal?: AbortSignal): Promise<void> {
    await this.loader.loadRoot(signal);
    this.restart();
  }

  /**
   * Reports whether everything relied on is known to be from one state, so that a run without writes needs no
   * confirmation.
   */
  get isFromOneState(): boolean {
    if (this.recorder.checks.length === 0 || this.use === 'still') return true;
    if (this.use === 'long') return false;
    return typeof this.#load === 'number' && this.#load > this.#firstLoad;
  }

  /**
   * Loads the data that an operation misses, and starts over with a new tree. The commit confirms the targets of
   * writes, so with `mayBeOld` their data may be from an older state.
   */
  async loadToRestart(needs: readonly Need[], mayBeOld: boolean, signal: AbortSignal | undefined): Promise<void> {
    const isOld = mayBeOld && this.view.seeksToWrite && needs.some(({ kind }) => kind !== 'prepare');
    await this.loader.loadWhole(needs, { signal, mayBeOld: isOld });
    this.#hasOld ||= isOld;
    this.restart();
  }

  /** True if loaded data may be older than the transaction's start. */
  get hasOld(): boolean {
    return this.#hasOld;
  }

  /** Reports whether the result relies on a directory's listing. */
  get hasListed(): boolean {
    return this.recorder.checks.some(({ kind }) => kind === 'listing');
  }

  mark(): Mark {
    const { checks, writes } = this.recorder;
    const state = this.use === 'single' ? undefined : this.tree.freeze();
    return { state, checks: checks.length, writes: writes.length, changes: this.changes.length };
  }

  /** Undoes everything since a mark. Preconditions are kept, unless the work is about to be repeated. */
  undo(mark: Mark, repeated: boolean): void {
    if (mark.state !== undefined) this.tree.reset(mark.state);
    this.recorder.writes.length = mark.writes;
    this.changes.length = mark.changes;
    if (!repeated) return;
    this.recorder.checks.length = mark.checks;
    if (mark.checks === 0) this.#load = this.#rootLoad;
  }

  /**
   * Must be called when an operation fails at a limit, before it is undone. If another writer has taken the room for
   * the earlier operations, the error shows a usage that the storage never had: then the transaction is lost.
   */
  meetLimit(): void {
    this.hasMetLimit = true;
    const stored = this.#cache.root?.directory;
    // A storage without totals, such as a disk, has nothing to compare with.
    if (stored === undefined || stored.counted === false) return;
    this.isLost ||= exceededLimit(stored.totals, this.tree.totals(), this.limits) !== undefined;
  }

  /** Adds the listing of a directory to the requests if it has few names, or several were looked up individually. */
  withListings(needs: readonly Need[]): readonly Need[] {
    const listings: LoadRequest[] = [];
    for (const need of needs) {
      if (need.kind !== 'path') continue;
      const at = this.#cache.unlisted(parentPath(need.path), MAX_LISTED_NAMES);
      if (at === undefined) continue;
      this.#asked ??= new Map();
      const asked = (this.#asked.get(at.id) ?? 0) + 1;
      this.#asked.set(at.id, asked);
      const hasFew = this.#cache.unlisted(at.path, MAX_UNCHECKED_NAMES) !== undefined;
      if (hasFew || asked >= ASKED_BEFORE_LISTING)
        listings.push({ kind: 'list', at, after: undefined, limit: MAX_LISTED_NAMES });
    }
    return listings.length === 0 ? needs : [...needs, ...listings];
  }

  /**
   * Must be called after loading missing data.
   * @throws StorageError `conflict` if the same data is missing again {@link MAX_REPEATS} times in a row
   */
  checkProgress(needs: readonly Need[]): void {
    const first = JSON.stringify(needs[0]);
    this.#repeats = first === this.#lastRequest ? this.#repeats + 1 : 0;
    this.#lastRequest = first;
    if (this.#repeats < MAX_REPEATS) return;
    this.isLost = true;
    throw new StorageError('conflict', 'Another writer changed what was read before everything was loaded');
  }

  loaderFor(view: ViewState): Loader {
    return new ViewLoader(view, this);
  }

  entry(directory: NodeAddress, name: string): NodeRecord | null | undefined {
    const record = this.#cache.entry(directory.id, name);
    if (record !== undefined) this.#used(directory.id);
    if (record !== undefined && record !== null) this.#used(record.id);
    return record;
  }

  listing(address: NodeAddress): CachedListing | undefined {
    const known = this.#cache.names(address.id);
    if (known === undefined) return undefined;
    const before = this.#prepared?.get(address.id);
    // The prepared listing is valid as long as no name has changed.
    if (before?.names === known.names && !before.isStale) {
      if (before.listing === undefined) return undefined;
      this.#used(address.id);
      // Records have changed since it was prepared, perhaps those in it, so its nodes must be confirmed.
      if (before.changes !== this.#cache.changes) this.#load = null;
      return before.listing;
    }
    const times = (before?.times ?? 0) + 1;
    if (known.names.length > MANY_NAMES && times <= MAX_PREPARED) {
      const steps = (): Steps<void> => this.#prepare(address, known, times);
      throw new NotLoaded([{ kind: 'prepare', at: address, steps }], this);
    }
    const listing = runSteps(listingSteps(address.path, known.version, known.names, known.recordOf));
    if (listing !== undefined) this.#used(address.id);
    return listing;
  }

  *#prepare(address: NodeAddress, { names, version, recordOf }: CachedNames, times: number): Steps<void> {
    const { changes } = this.#cache;
    const listing = yield* listingSteps(address.path, version, names, recordOf);
    this.#prepared ??= new Map();
    this.#prepared.set(address.id, { names, times, changes, listing, isStale: false });
  }

  current(id: NodeId): NodeRecord | undefined {
    this.#used(id);
    return this.#cache.record(id);
  }

  range(file: Unloaded, offset: number, length: number): Uint8Array | undefined {
    const bytes = this.#cache.range(file, offset, length);
    // This version of the content may no longer exist.
    if (bytes === undefined && this.#cache.record(file.address.id)?.version !== file.version)
      for (const prepared of this.#prepared?.values() ?? []) prepared.isStale = true;
    return bytes;
  }

  dropContent(id: NodeId): void {
    this.#cache.dropContent(id);
    // A second request for it will not mean that another writer was faster.
    this.#lastRequest = '';
  }

  #used(id: NodeId): void {
    const load = this.#cache.loadOf(id);
    this.#load = this.#load === undefined || this.#load === load ? load : null;
  }
}
