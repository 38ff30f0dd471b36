import type { LoadRequest, LoadResult } from '../backend.js';
import { runInSlices, type Steps } from '../engine/scheduling/time-slice.js';
import type { TreeFacts } from '../engine/tree-facts.js';
import { StorageError } from '../errors.js';
import { FetchRounds } from './fetch-rounds.js';
import { type Fetcher, isUnreadable, ObjectMissing } from './fetcher.js';
import type { Current, Heads } from './heads.js';
import { vanishedError } from './heads.js';
import { LoadPlanner } from './load-planner.js';
import { BytesNotLoaded, type Ref } from './ref.js';
import type { Pages } from './stored-page.js';

const TREE_BUDGET_FACTOR = 4;
/** Objects that are read for a content which comes along with its path. */
const MAX_INLINE_CONTENT_OBJECTS = 4;

export interface StateLoaderOptions {
  readonly heads: Heads;
  readonly fetcher: Fetcher;
  readonly pages: Pages;
  readonly read: (ref: Ref) => Uint8Array | undefined;
  readonly hold: () => () => void;
  /** Milliseconds that what is known of the head may be old. */
  readonly maxStalenessMs: number;
}

/** Loads nodes and contents from a state, with as few requests to the store as the layout of its pages allows. */
export class StateLoader {
  readonly #options: StateLoaderOptions;

  constructor(options: StateLoaderOptions) {
    this.#options = options;
  }

  /** The head as it is, or was so long ago as may be. */
  async newest(): Promise<Current> {
    const { heads, maxStalenessMs } = this.#options;
    if (heads.known !== undefined && heads.age < maxStalenessMs) return heads.known;
    return heads.refresh();
  }

  /** Does work on the newest head, again where what it needs was collected meanwhile. `first`: a head that may be older, to begin with. */
  async onNewestHead<R>(work: (current: Current) => Promise<R>, first?: Current): Promise<R> {
    let current = first ?? (await this.newest());
    for (;;) {
      try {
        return await work(current);
      } catch (error) {
        if (!(error instanceof ObjectMissing)) throw error;
        const newer = await this.#options.heads.refresh();
        if (newer.tag === current.tag) throw vanishedError(`${error.object} is gone`);
        current = newer;
      }
    }
  }

  async loadFrom(
    facts: TreeFacts,
    requests: readonly LoadRequest[],
    signal?: AbortSignal,
  ): Promise<readonly LoadResult[]> {
    try {
      return await this.#load(facts, requests, signal);
    } catch (error) {
      if (!isUnreadable(error) || !requests.some(hasInlineContent)) throw error;
      // A content that nobody has asked for may be what cannot be read: its file can be looked at and removed all the same.
      return this.#load(facts, requests.map(withoutContent), signal);
    }
  }

  #load(
    facts: TreeFacts,
    requests: readonly LoadRequest[],
    signal: AbortSignal | undefined,
  ): Promise<readonly LoadResult[]> {
    return this.untilLoaded((planner) => loadAll(facts, requests.map(widened), planner), signal);
  }

  /** What a head leads to, as long as nobody has collected it. @throws StorageError `conflict` where somebody has */
  async loadPinned(
    { facts }: Current,
    requests: readonly LoadRequest[],
    signal?: AbortSignal,
  ): Promise<readonly LoadResult[]> {
    try {
      return await this.loadFrom(facts, requests, signal);
    } catch (error) {
      if (!(error instanceof ObjectMissing)) throw error;
      // However old a head may be: who begins anew begins with another one.
      await this.#options.heads.refresh();
      throw new StorageError('conflict', 'The state that was read has been replaced, and was collected', {
        retryable: false,
      });
    }
  }

  /** Runs `work` in slices, fetches what it lacked and repeats it until it lacks nothing. @throws StorageError `corrupt` when that does not end */
  async untilLoaded<R>(work: (planner: LoadPlanner) => Steps<R>, signal?: AbortSignal): Promise<R> {
    const { fetcher, pages, read, hold } = this.#options;
    const rounds = new FetchRounds();
    const release = hold();
    try {
      for (;;) {
        const planner = new LoadPlanner(pages, read);
        const result = await runInSlices(work(planner), signal);
        if (planner.refs.length === 0) return result;
        rounds.next(planner.refs);
        await fetcher.fetch(planner.refs, signal);
      }
    } finally {
      release();
    }
  }
}

/** Loads what is here already; `planner` collects what has to be fetched for the rest. */
function* loadAll(
  facts: TreeFacts,
  requests: readonly LoadRequest[],
  planner: LoadPlanner,
): Steps<readonly LoadResult[]> {
  const results: LoadResult[] = [];
  for (const request of requests) {
    yield* planner.request(facts, request);
    const result = planner.attempt(() => loadOne(facts, request));
    if (result !== undefined) results.push(result);
    yield;
  }
  return results;
}

/** A request to a store costs more than what it brings: of a tree with its contents more comes than was asked for. */
function widened(request: LoadRequest): LoadRequest {
  return request.kind === 'tree' && request.contents
    ? { ...request, budget: request.budget * TREE_BUDGET_FACTOR }
    : request;
}

/** Whether a content comes with the path of a file. */
function hasInlineContent(request: LoadRequest): boolean {
  return request.kind === 'path' && request.content > 0;
}

function withoutContent(request: LoadRequest): LoadRequest {
  return request.kind === 'path' ? { ...request, content: 0 } : request;
}

/** A path comes without its content where that would have to be gathered from many objects: not everybody needs it. */
function loadOne(facts: TreeFacts, request: LoadRequest): LoadResult {
  try {
    return facts.load(request);
  } catch (error) {
    const isScattered =
      error instanceof BytesNotLoaded &&
      new Set(error.refs.map(({ object }) => object)).size > MAX_INLINE_CONTENT_OBJECTS;
    if (!hasInlineContent(request) || !isScattered) throw error;
    return facts.load(withoutContent(request));
  }
}
