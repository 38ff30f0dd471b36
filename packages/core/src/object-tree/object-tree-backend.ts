import type {
  Backend,
  BackendCall,
  BackendCapabilities,
  Batch,
  CheckpointStore,
  CommitResult,
  LimitStore,
  LoadRequest,
  LoadResult,
  NodeId,
  PinnedRead,
} from '../backend.js';
import { checkInteger, checkMethods } from '../engine/arguments.js';
import { randomId } from '../engine/defaults.js';
import type { Steps } from '../engine/scheduling/time-slice.js';
import type { Versions } from '../engine/tree-backend/tree-reader.js';
import { FsError, StorageError } from '../errors.js';
import { checkedStore } from './checked-store.js';
import { ObjectTreeCheckpoints } from './checkpoints.js';
import { CommitQueue } from './commit-queue.js';
import { deleteFileSystem } from './delete-file-system.js';
import { CommitSharedStore } from './draft.js';
import { StoredContents } from './extents.js';
import { Fetcher } from './fetcher.js';
import { ForkRegistry } from './fork-registry.js';
import { ForkStore } from './fork-store.js';
import { type Collected, type CollectOptions, GarbageCollector } from './garbage-collector.js';
import type { Head } from './head.js';
import { HeadWatch } from './head-watch.js';
import { type Current, Heads } from './heads.js';
import { DEFAULT_MAX_OBJECT_BYTES, FORKS, MIN_MAX_OBJECT_BYTES, OBJECTS } from './object-name.js';
import type { ObjectStore } from './object-store.js';
import { type ObjectTreeOptions, parseObjectTreeOptions } from './options.js';
import { RangeCache } from './range-cache.js';
import { isWhole, type Ref } from './ref.js';
import { StateLoader } from './state-loader.js';
import { steadyClock } from './steady-clock.js';
import { StoreCalls } from './store-calls.js';
import { StoredLimits } from './stored-limits.js';
import { Pages } from './stored-page.js';

/** Age in milliseconds up to which a head counts as just read. */
const FRESH_HEAD_MS = 50;
/** Time in milliseconds before another look at a head that watchers wait for and that could not be read. */
const HEAD_WATCH_PAUSE_MS = 1_000;

/**
 * A filesystem in a key-value store: immutable objects, and a head that is replaced by compare-and-swap. Parts that a
 * commit shares with earlier ones stay in place, so a checkpoint, a rollback or a fork replaces only the head.
 */
export class ObjectTreeBackend implements Backend {
  readonly capabilities: BackendCapabilities;
  readonly checkpointStore: CheckpointStore;
  /** Undefined for a fork, and if the store cannot report new heads. */
  readonly watch?: NonNullable<Backend['watch']>;
  /** Undefined for a fork, and if the store cannot delete its head. */
  readonly destroy?: NonNullable<Backend['destroy']>;
  readonly limitStore: LimitStore;
  readonly #store: ObjectStore;
  readonly #options: ObjectTreeOptions | undefined;
  readonly #random: (below: number) => number;
  readonly #heads: Heads;
  readonly #commits: CommitQueue;
  readonly #loader: StateLoader;
  readonly #garbage: GarbageCollector;
  readonly #clock: () => number;
  readonly #newId: () => NodeId & string;
  readonly #fork: ForkContext | undefined;
  readonly #forks: ForkRegistry;
  readonly #headWatch: HeadWatch | undefined;
  #isClosed = false;

  constructor(given: ObjectStore, options?: ObjectTreeOptions, fork?: ForkContext) {
    checkMethods(given, ['get', 'put', 'delete', 'list', 'readHead', 'swapHead'], 'An object store');
    const store = fork === undefined ? checkedStore(given) : given;
    const { create, maxStalenessMs, timeoutMs, retries, maxCacheBytes, clock, random, timer } =
      parseObjectTreeOptions(options);
    const partBytes = checkInteger(
      store.maxObjectBytes ?? DEFAULT_MAX_OBJECT_BYTES,
      'maxObjectBytes',
      MIN_MAX_OBJECT_BYTES,
    );
    const newId = (): NodeId & string => randomId(random);
    const versions: Versions = new WeakMap();
    const rangeCache = new RangeCache(maxCacheBytes);
    const pages = new Pages(rangeCache, versions);
    const read = (ref: Ref): Uint8Array | undefined => {
      const bytes = rangeCache.find(ref);
      if (bytes === undefined || isWhole(ref, bytes)) return bytes;
      rangeCache.drop(ref);
      return undefined;
    };
    const contents = new StoredContents(read);
    const shared = new CommitSharedStore(contents, 0, newId);
    const calls = new StoreCalls({ timeoutMs, retries, random, timer });
    const fetcher = new Fetcher(store, calls, rangeCache);
    const now = steadyClock();
    const born = clock();
    const hold = (): (() => void) => {
      const releases = [rangeCache.hold(), pages.hold()];
      return () => {
        for (const release of releases) release();
      };
    };
    this.#store = store;
    this.#options = options;
    this.#random = random;
    this.#newId = newId;
    this.#fork = fork;
    this.#clock = clock;
    this.#heads = new Heads({ store, calls, fetcher, pages, versions, shared, hold, newId, born, now, create });
    this.#commits = new CommitQueue({
      store,
      calls,
      heads: this.#heads,
      fetcher,
      rangeCache,
      pages,
      versions,
      contents,
      read,
      hold,
      newId,
      now,
      partBytes,
      onCommitted: (base, head, changes) => this.#headWatch?.committed(base, head, changes),
      prefix: fork === undefined ? OBJECTS : `${FORKS}${fork.id}/`,
    });
    const heads = this.#heads;
    const isOwn = (head: Head): boolean => this.#commits.wasLast(head);
    const pause = (): Promise<void> => calls.pause(HEAD_WATCH_PAUSE_MS);
    const headWatch = store.watch && new HeadWatch(heads, store.watch.bind(store), isOwn, pause);
    this.#headWatch = headWatch;
    if (headWatch !== undefined) this.watch = (tell, fail) => headWatch.watch(tell, fail);
    this.capabilities = { checkpoints: true, forks: true, sharedWatch: headWatch !== undefined };
    const end = async (): Promise<void> => {
      await heads.close();
      await store.close?.();
    };
    const forks = fork?.registry ?? new ForkRegistry(this.#commits, end);
    this.#forks = forks;
    this.#garbage = new GarbageCollector({ store, calls, heads, forks, fetcher, pages, hold, newId, clock, partBytes });
    this.#loader = new StateLoader({ heads: this.#heads, fetcher, pages, read, hold, maxStalenessMs });
    const enter = (call: BackendCall | undefined): void => this.#enter(call?.signal);
    const { deleteHead } = store;
    if (fork === undefined && deleteHead !== undefined)
      this.destroy = async (call) => {
        enter(call);
        await deleteFileSystem(store, calls, heads, deleteHead, call?.signal);
      };
    this.checkpointStore = new ObjectTreeCheckpoints(
      this.#commits,
      this.#heads,
      this.#loader,
      shared,
      versions,
      enter,
      (id, call) => this.#forkFrom(id, call),
    );
    this.limitStore = new StoredLimits(this.#commits, this.#heads, enter);
  }

  async load(requests: readonly LoadRequest[], call?: BackendCall): Promise<readonly LoadResult[]> {
    this.#enter(call?.signal);
    if (requests.length === 0) return [];
    const first = call?.mayBeOld === true ? this.#likelyNewest() : undefined;
    return this.#loader.onNewestHead(({ reader }) => this.#loader.loadFrom(reader, requests, call?.signal), first);
  }

  /**
   * Returns the known head if it is probably the newest: it was just read, or this client wrote it and is probably the
   * only writer.
   */
  #likelyNewest(): Current | undefined {
    const { known, age } = this.#heads;
    return known !== undefined && (age < FRESH_HEAD_MS || this.#commits.wasLast(known.head)) ? known : undefined;
  }

  async pinRead(call?: BackendCall): Promise<PinnedRead> {
    this.#enter(call?.signal);
    const current = await this.#loader.newest();
    return {
      load: async (requests, stop) => {
        this.#enter(stop?.signal);
        return this.#loader.loadPinned(current, requests, stop?.signal);
      },
    };
  }

  async commit(batch: Batch, call?: BackendCall): Promise<CommitResult> {
    this.#enter(call?.signal);
    if (batch.writes.length > 0) return this.#commits.commit(batch);
    return this.#loader.onNewestHead(({ reader, head }) =>
      this.#loader.untilLoaded(function* (planner): Steps<CommitResult> {
        const failed: number[] = [];
        for (const [i, check] of batch.checks.entries()) {
          if (planner.attempt(() => reader.holds(check)) !== true) failed.push(i);
          yield;
        }
        return failed.length > 0 ? { kind: 'conflict', checks: failed } : { kind: 'ok', version: head.commit };
      }, call?.signal),
    );
  }

  async outcome(operationId: string, call?: BackendCall): Promise<CommitResult | 'absent' | 'unknown'> {
    this.#enter(call?.signal);
    return this.#commits.outcome(operationId);
  }

  async fork(call?: BackendCall): Promise<Backend> {
    return (await this.#forkFrom(undefined, call)) as Backend;
  }

  /** Forks the current state, or that of a checkpoint. */
  async #forkFrom(from: string | undefined, call: BackendCall | undefined): Promise<Backend | 'missing'> {
    this.#enter(call?.signal);
    const id = this.#newId();
    const createdAt = this.#clock();
    // A fork's own head has its state. For the filesystem itself, the state is read in the step that registers the
    // fork.
    const own = this.#fork === undefined ? undefined : (await this.#heads.refresh()).head;
    this.#enter(call?.signal);
    const start = from === undefined ? own?.state : own?.kept.find((kept) => kept.id === from)?.state;
    if (own !== undefined && start === undefined) return 'missing';
    const parent = this.#fork && start && { id: this.#fork.id, state: start };
    const registered = await this.#forks.register({ id, createdAt, parent, from }, call?.signal);
    if (registered === 'missing') return 'missing';
    const { head: base, state } = registered;
    // The fork starts in the epoch in which it was registered: a collector that does not know it yet deletes objects of
    // older epochs only.
    const head: Head = { ...(own ?? base), state, epoch: base.epoch, kept: [], forks: [], clients: [] };
    const store = new ForkStore(this.#store, head, this.#random);
    return new ObjectTreeBackend(store, this.#options, { id, registry: this.#forks });
  }

  /**
   * Deletes unreachable objects: replaced contents, those of dropped checkpoints, and those of lost races. Other
   * clients may write concurrently. If a request that reads fails, the error has `mayHaveHappened: false`: nothing was
   * deleted, but records of abandoned forks may be gone.
   * @throws FsError ENOTSUP on a fork; StorageError, such as `conflict` if other collectors are faster, `closed` if
   *   this backend is closed during the call; the signal's reason
   */
  async collectGarbage(options: CollectOptions = {}): Promise<Collected> {
    this.#enter(options.signal);
    if (this.#fork !== undefined)
      throw new FsError('ENOTSUP', {
        syscall: 'collectGarbage',
        hint: 'A fork is collected with what it was forked from',
      });
    return this.#garbage.collect(options);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#headWatch?.close();
    await this.#garbage.close();
    await this.#commits.close();
    // A fork closes its own heads. Those of the filesystem are closed once its forks are closed too, which use them.
    if (this.#fork !== undefined) await this.#heads.close();
    await this.#forks.close(this.#fork?.id);
  }

  #enter(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (this.#isClosed) throw new StorageError('closed', 'The storage is closed');
  }
}

/** Registration of a fork's backend. */
interface ForkContext {
  readonly id: string;
  readonly registry: ForkRegistry;
}
