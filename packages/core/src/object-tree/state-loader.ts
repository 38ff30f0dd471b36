import type { LoadRequest, LoadResult } from '../backend.js';
import { runInSlices, type Steps } from '../engine/scheduling/time-slice.js';
import type { TreeReader } from '../engine/tree-backend/tree-reader.js';
import { StorageError } from '../errors.js';
import { FetchRounds } from './fetch-rounds.js';
import { type Fetcher, isUnreadable, ObjectMissing } from './fetcher.js';
import type { Current, Heads } from './heads.js';
import { vanishedError } from './heads.js';
import { LoadPlanner } from './load-planner.js';
import { BytesNotLoaded, type Ref } from './ref.js';
import type { Pages } from './stored-page.js';

const TREE_BUDGET_FACTOR = 4;
/** Maximum number of objects read for content that is returned with a path. */
const MAX_INLINE_CONTENT_OBJECTS = 4;

export interface StateLoaderOptions {
  readonly heads: Heads;
  readonly fetcher: Fetcher;
  readonly pages: Pages;
  readonly read: (ref: Ref) => Uint8Array | undefined;
  readonly hold: () => () => void;
  /** Age in milliseconds up to which the known head is used without reading it again. */
  readonly maxStalenessMs: number;
}

/** Loads nodes and contents from a state, with few requests to the store. */
export class StateLoader {
  readonly #options: StateLoaderOptions;

  constructor(options: StateLoaderOptions) {
    this.#options = options;
  }

  /** Returns the current head, or one within the allowed staleness. */
  async newest(): Promise<Current> {
    const { heads, maxStalenessMs } = this.#options;
    if (heads.known !== undefined && heads.age < maxStalenessMs) return heads.known;
    return heads.refresh();
  }

  /**
   * Runs work on the newest head within the allowed staleness, and again on a newer one if an object that it needs was
   * collected. `first`: a possibly older head to start with.
   */
  async onNewestHead<R>(work: (current: Current) => Promise<R>, first?: Current): Promise<R> {
    let current = first ?? (await this.newest());
    for (;;) {
      try {
        return await work(current);
      } catch (error) {
        if (!(error instanceof ObjectMissing)) throw error;
        const newer = await this.#options.heads.refresh();
        if (newer.tag === current.tag) throw vanishedError(`${error.object} is missing`);
        current = newer;
      }
    }
  }

  async loadFrom(
    reader: TreeReader,
    requests: readonly LoadRequest[],
    signal?: AbortSignal,
  ): Promise<readonly LoadResult[]> {
    try {
      return await this.#load(reader, requests, signal);
    } catch (error) {
      if (!isUnreadable(error) || !requests.some(hasInlineContent)) throw error;
      // The unreadable object may be content that was only read in advance. Without it, the file can still be inspected
      // and removed.
      return this.#load(reader, requests.map(withoutContent), signal);
    }
  }

  #load(
    reader: TreeReader,
    requests: readonly LoadRequest[],
    signal: AbortSignal | undefined,
  ): Promise<readonly LoadResult[]> {
    return this.untilLoaded((planner) => loadAll(reader, requests.map(widened), planner), signal);
  }

  /** Loads from a head's state, as long as it has not been collected. @throws StorageError `conflict` if it has */
  async loadPinned(
    { reader }: Current,
    requests: readonly LoadRequest[],
    signal?: AbortSignal,
  ): Promise<readonly LoadResult[]> {
    try {
      return await this.loadFrom(reader, requests, signal);
    } catch (error) {
      if (!(error instanceof ObjectMissing)) throw error;
      // A caller that starts again then reads a newer head.
      await this.#options.heads.refresh();
      throw new StorageError('conflict', 'The state that was read has been replaced, and was collected', {
        retryable: false,
      });
    }
  }

  /**
   * Runs `work` in slices, fetches the bytes that it missed, and repeats it until nothing is missing.
   * @throws StorageError `corrupt` if that does not end; what {@link Fetcher.fetch} throws
   */
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

/** Loads from the cached bytes; `planner` collects what must be fetched for the rest. */
function* loadAll(
  reader: TreeReader,
  requests: readonly LoadRequest[],
  planner: LoadPlanner,
): Steps<readonly LoadResult[]> {
  const results: LoadResult[] = [];
  for (const request of requests) {
    yield* planner.request(reader, request);
    const result = planner.attempt(() => loadOne(reader, request));
    if (result !== undefined) results.push(result);
    yield;
  }
  return results;
}

/** Increases the budget for a tree with contents: a request to a store costs more than the additional bytes. */
function widened(request: LoadRequest): LoadRequest {
  return request.kind === 'tree' && request.contents
    ? { ...request, budget: request.budget * TREE_BUDGET_FACTOR }
    : request;
}

/** Reports whether a request asks for content together with a path. */
function hasInlineContent(request: LoadRequest): boolean {
  return request.kind === 'path' && request.content > 0;
}

function withoutContent(request: LoadRequest): LoadRequest {
  return request.kind === 'path' ? { ...request, content: 0 } : request;
}

/**
 * Loads one request. Omits content that would have to be gathered from many objects, because not every caller needs it.
 */
function loadOne(reader: TreeReader, request: LoadRequest): LoadResult {
  try {
    return reader.load(request);
  } catch (error) {
    const isScattered =
      error instanceof BytesNotLoaded &&
      new Set(error.refs.map(({ object }) => object)).size > MAX_INLINE_CONTENT_OBJECTS;
    if (!hasInlineContent(request) || !isScattered) throw error;
    return reader.load(withoutContent(request));
  }
}
