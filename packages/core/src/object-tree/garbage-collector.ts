import { withMayHaveHappened } from '../engine/remote/may-have-happened.js';
import { unlessAborted } from '../engine/scheduling/deadline.js';
import { runInSlices, type Steps } from '../engine/scheduling/time-slice.js';
import { StorageError } from '../errors.js';
import type { ContentNode } from '../tree/content.js';
import type { EntriesNode, Inner, Leaf } from '../tree/entries-node.js';
import { DIRECTORY, FILE, type TreeNode } from '../tree/node.js';
import { extentsOf } from './extents.js';
import { FetchRounds } from './fetch-rounds.js';
import { type Fetcher, ObjectMissing } from './fetcher.js';
import type { ForkRegistry } from './fork-registry.js';
import type { Head, StateRecord } from './head.js';
import { type Current, type Heads, vanishedError } from './heads.js';
import { groupNames, listNames } from './list-names.js';
import { LoadPlanner } from './load-planner.js';
import { FORKS, isObjectName, OBJECTS, objectOfPart, parseObjectName } from './object-name.js';
import type { ObjectStore } from './object-store.js';
import { PENDING_DELETES, type PendingDeletes, readPendingDeletes, writePendingDeletes } from './pending-deletes.js';
import { type Ref, refKey } from './ref.js';
import { inParallel, type StoreCalls } from './store-calls.js';
import { type Pages, storedPage } from './stored-page.js';

export interface CollectOptions {
  /**
   * Milliseconds between the collection that finds garbage and the one that may delete it, so that readers can finish.
   * Default 0: garbage is deleted when it is found.
   */
  readonly olderThanMs?: number | undefined;
  /**
   * Age in milliseconds from which forks of other clients count as abandoned, as after a crash: nothing is kept for
   * them, and one that is still in use becomes `lost`. Default: never.
   */
  readonly forksOlderThanMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Options with a signal that `close()` aborts too. */
type StoppableOptions = CollectOptions & { readonly signal: AbortSignal };

export interface Collected {
  /** Number of deleted objects. */
  readonly deleted: number;
  /** Number of unreachable objects that are not old enough yet. */
  readonly waiting: number;
  /** Number of objects that are in use, or may be. */
  readonly live: number;
}

export interface GarbageCollectorOptions {
  readonly store: ObjectStore;
  readonly calls: StoreCalls;
  readonly heads: Heads;
  readonly forks: ForkRegistry;
  readonly fetcher: Fetcher;
  readonly pages: Pages;
  readonly hold: () => () => void;
  readonly newId: () => string;
  readonly clock: () => number;
  /** Greatest size in bytes of a stored object. */
  readonly partBytes: number;
}

/** A page of a directory or of the inode table. */
interface PageToVisit {
  readonly ref: Ref;
  /** Height of the page over the leaves; -1 for a page of the inode table. */
  readonly height: number;
}

/** Number of pages visited per round. */
const PAGES_PER_ROUND = 256;
const NAMES_PER_SLICE = 1_000;
const MAX_CONCURRENT_DELETES = 4;
const MAX_ATTEMPTS = 4;

/**
 * Deletes objects that no head can reach any more. First it increments the epoch in the head, by compare-and-swap:
 * every commit that was prepared before loses, and all objects that it has put or will put have an older epoch in their
 * names. If the new head does not reach such an object, none ever will: commits share only objects that their head
 * reaches. Objects of a fork stay as long as the fork is recorded.
 */
export class GarbageCollector {
  readonly #options: GarbageCollectorOptions;
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<Collected>>();

  constructor(options: GarbageCollectorOptions) {
    this.#options = options;
  }

  async collect(options: CollectOptions = {}): Promise<Collected> {
    const stop = this.#stop.signal;
    const signal = options.signal === undefined ? stop : AbortSignal.any([options.signal, stop]);
    const collection = this.#attempts({ ...options, signal });
    this.#running.add(collection);
    try {
      return await collection;
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      this.#running.delete(collection);
    }
  }

  /** Stops running collections. */
  async close(): Promise<void> {
    this.#stop.abort(new StorageError('closed', 'The storage is closed'));
    await Promise.allSettled(this.#running);
  }

  async #attempts(options: StoppableOptions): Promise<Collected> {
    const { heads } = this.#options;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      options.signal.throwIfAborted();
      const base = await this.#begin(options);
      try {
        return await this.#collect(base.head, options);
      } catch (error) {
        if (!(error instanceof ObjectMissing)) throw error;
        if ((await reading(heads.refresh())).tag === base.tag) throw vanishedError(`${error.object} is missing`);
        // The head has been replaced, and another collector may have deleted what only the old one reached.
      }
    }
    throw new StorageError('conflict', `The collection was overtaken by others ${MAX_ATTEMPTS} times and was given up`);
  }

  /** Increments the epoch and drops abandoned forks. Returns the newest head. */
  async #begin({ forksOlderThanMs, signal }: StoppableOptions): Promise<Current> {
    const { heads, forks, clock } = this.#options;
    await forks.edit((draft) => {
      draft.epoch += 1;
      if (forksOlderThanMs !== undefined) {
        const forgotten = clock() - forksOlderThanMs;
        draft.forks = draft.forks.filter(({ id, createdAt }) => forks.isOpen(id) || createdAt > forgotten);
      }
      draft.keepState();
    }, signal);
    return reading(unlessAborted(signal, heads.refresh()));
  }

  async #collect(head: Head, { olderThanMs = 0, signal }: StoppableOptions): Promise<Collected> {
    const { store, calls, clock, newId, partBytes } = this.#options;
    const reached = await reading(this.#reach(head, signal));
    const names = [...(await this.#list(OBJECTS, signal)), ...(await this.#list(FORKS, signal))];
    const lists = await this.#list(PENDING_DELETES, signal);
    const pendingDeletes = await reading(readPendingDeletes(store, calls, lists, signal));
    const now = clock();
    const { due, fresh, staying, live } = await runInSlices(
      classify(names, head, reached, pendingDeletes, { now, olderThanMs }),
      signal,
    );
    if (olderThanMs > 0) await writePendingDeletes({ store, calls, newId, maxBytes: partBytes }, now, fresh, signal);
    signal.throwIfAborted();
    const emptied = pendingDeletes.lists.filter((list) => !list.names.some((name) => staying.has(name)));
    await this.#delete([...due, ...emptied.map((list) => list.name)], signal);
    return { deleted: due.length, waiting: staying.size, live };
  }

  /** Returns the names of all objects that a head reaches. */
  async #reach({ state, kept, forks }: Head, signal: AbortSignal): Promise<Set<string>> {
    const { pages, fetcher, hold } = this.#options;
    const objects = new Set<string>();
    const seen = new Set<string>();
    const pending: PageToVisit[] = [];
    const add = (ref: Ref | null, height: number): void => {
      if (ref === null || seen.has(refKey(ref))) return;
      seen.add(refKey(ref));
      objects.add(ref.object);
      pending.push({ ref, height });
    };
    const visit = (value: TreeNode): void => {
      if (value.kind === FILE) {
        for (const { piece } of extentsOf(value as ContentNode))
          if (piece?.stored !== undefined) objects.add(piece.stored.object);
      } else if (value.kind === DIRECTORY) addNode(value.entries.parts.root, value.entries.parts.height);
    };
    const addNode = (node: EntriesNode<TreeNode>, height: number): void => {
      const stored = storedPage(node);
      if (stored !== undefined) add(stored.ref, height);
    };
    const visitPage = ({ ref, height }: PageToVisit): void => {
      if (height < 0) for (const { node } of pages.inodes(ref).values()) visit(node);
      else if (height === 0) (pages.get(ref) as Leaf<TreeNode>).values.forEach(visit);
      else for (const child of (pages.get(ref) as Inner<TreeNode>).children) addNode(child, height - 1);
    };
    /** Visits the pages of a round and returns those that are not loaded. */
    function* visitAll(round: readonly PageToVisit[], planner: LoadPlanner): Steps<PageToVisit[]> {
      const left: PageToVisit[] = [];
      for (const page of round) {
        const isVisited = planner.attempt(() => {
          visitPage(page);
          return true;
        });
        if (isVisited === undefined) left.push(page);
        yield;
      }
      return left;
    }
    const states: StateRecord[] = [state, ...kept.map((one) => one.state), ...forks.map((one) => one.state)];
    for (const { page, levels, inodes } of states) {
      add(page, levels);
      add(inodes, -1);
    }
    while (pending.length > 0) {
      signal.throwIfAborted();
      const rounds = new FetchRounds();
      const release = hold();
      try {
        // Another reader may replace the bytes of a page in the cache by damaged ones before the page is visited. Then
        // they are loaded again.
        for (let round = pending.splice(-PAGES_PER_ROUND); round.length > 0; ) {
          const planner = new LoadPlanner(pages, () => undefined);
          round = await runInSlices(visitAll(round, planner), signal);
          if (planner.refs.length > 0) rounds.next(planner.refs);
          await fetcher.fetch(planner.refs, signal);
        }
      } finally {
        release();
      }
    }
    return objects;
  }

  #list(prefix: string, signal: AbortSignal): Promise<string[]> {
    const { store, calls } = this.#options;
    return reading(listNames(store, calls, prefix, signal));
  }

  async #delete(names: readonly string[], signal: AbortSignal | undefined): Promise<void> {
    const { store, calls } = this.#options;
    await inParallel(groupNames(names, store), MAX_CONCURRENT_DELETES, (group) =>
      calls.retrying(signal, (call) => store.delete(group, call)),
    );
  }
}

/** Waits for a step that reads. If it fails, its StorageError says that nothing has been deleted. */
async function reading<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    throw withMayHaveHappened(error, false);
  }
}

/**
 * Sorts objects: garbage to delete now (`due`), garbage that keeps waiting (`staying`), those of both that were found
 * now for the first time (`fresh`), and the number of objects that are not garbage (`live`).
 */
function* classify(
  names: readonly string[],
  head: Head,
  reached: ReadonlySet<string>,
  { foundAt }: PendingDeletes,
  { now, olderThanMs }: { readonly now: number; readonly olderThanMs: number },
): Steps<{
  readonly due: readonly string[];
  readonly fresh: readonly string[];
  readonly staying: ReadonlySet<string>;
  readonly live: number;
}> {
  const due: string[] = [];
  const fresh: string[] = [];
  const staying = new Set<string>();
  let live = 0;
  for (const [i, name] of names.entries()) {
    if (i % NAMES_PER_SLICE === 0) yield;
    if (!isObjectName(name)) continue;
    if (reached.has(objectOfPart(name)) || !isGarbage(name, head)) {
      live += 1;
      continue;
    }
    const at = foundAt.get(name);
    // A time in the future, by a clock that is ahead, counts as now.
    if (at === undefined || at > now) fresh.push(name);
    if (olderThanMs <= 0 || (at ?? now) <= now - olderThanMs) due.push(name);
    else staying.add(name);
  }
  return { due, fresh, staying, live };
}

/** Reports whether an object that a head does not reach can never be reached again. */
function isGarbage(name: string, { epoch, forks }: Head): boolean {
  if (forks.some(({ id }) => name.startsWith(`${FORKS}${id}/`))) return false;
  return parseObjectName(name).epoch < epoch;
}
