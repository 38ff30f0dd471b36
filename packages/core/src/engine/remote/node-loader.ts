import type { BackendCall, LoadRequest, LoadResult } from '../../backend.js';
import { StorageError } from '../../errors.js';
import { compareNames, parentPath } from '../../paths.js';
import type { SharedStore } from '../../tree/tree.js';
import type { OpenFiles } from '../open-files.js';
import { nextTurn } from '../scheduling/time-slice.js';
import { type Need, prepared } from '../source.js';
import { MANY_NAMES } from './cached-listing.js';
import { NodeCache } from './node-cache.js';

const ROOT: LoadRequest = { kind: 'path', path: '/', content: 0 };

/** Maximum number of directories whose paths are loaded in the same request as the missing nodes. */
const MAX_PLACES = 8;

/** Sends load requests as one request to the backend. */
export type Ask = (requests: readonly LoadRequest[], call: BackendCall) => Promise<readonly LoadResult[]>;

/** The known part of a storage's state (current, pinned or a checkpoint's), and the means to load more. */
export class NodeLoader {
  readonly cache = new NodeCache();
  readonly #ask: Ask;
  #loads = 0;

  constructor(
    readonly shared: SharedStore,
    readonly openFiles: OpenFiles,
    ask: Ask,
  ) {
    this.#ask = ask;
  }

  /** Number of loads sent. */
  get loads(): number {
    return this.#loads;
  }

  async loadRoot(signal?: AbortSignal): Promise<void> {
    if (this.cache.root === undefined) await this.load([ROOT], signal);
  }

  /**
   * Loads the missing nodes in one request, so that its results are from one point in time. It also loads the paths to
   * their parent directories, unless there are more than {@link MAX_PLACES}. Further pages of long listings are
   * separate loads.
   */
  async loadWhole(needs: readonly Need[], call: BackendCall = {}): Promise<void> {
    const asked = await prepared(needs, call.signal);
    const above = new Set<string>();
    for (const request of asked)
      if (request.kind !== 'path' && request.at.path !== '/') above.add(parentPath(request.at.path));
    const paths =
      above.size > MAX_PLACES ? [] : [...above].map((path) => ({ kind: 'path', path, content: 0 }) as const);
    await this.#load([...paths, ...asked], call);
  }

  async load(needs: readonly Need[], signal?: AbortSignal): Promise<void> {
    await this.#load(await prepared(needs, signal), { signal });
  }

  async #load(asked: readonly LoadRequest[], call: BackendCall): Promise<void> {
    if (asked.length === 0) return;
    // Before anything is known the root has no id: only paths can be requested.
    const requests =
      this.cache.root === undefined ? asked.map((request) => (request.kind === 'path' ? request : ROOT)) : asked;
    const results = await this.fetch(requests, call);
    const pages: LoadRequest[] = [];
    requests.forEach((request, i) => {
      const result = results[i];
      if (result?.kind === 'list' && request.kind === 'list' && !result.complete)
        pages.push({ ...request, after: nextAfter(request.after, result.names.at(-1)) });
    });
    if (pages.length > 0) await this.#load(pages, call);
  }

  /** Sends one request, remembers its results, and returns them. */
  fetch(requests: readonly LoadRequest[], call: BackendCall = {}): Promise<readonly LoadResult[]> {
    return this.#fetch(requests, call, true);
  }

  async #fetch(
    requests: readonly LoadRequest[],
    call: BackendCall,
    keepsContents: boolean,
  ): Promise<readonly LoadResult[]> {
    // The load is numbered when it is sent, because its results are from then or later. A negative number marks results
    // that may be older.
    this.#loads += 1;
    const load = call.mayBeOld === true ? -this.#loads : this.#loads;
    const results = await this.#ask(requests, call);
    // Converting and storing a long response are separate slices.
    if (namesIn(results) > MANY_NAMES) await nextTurn();
    requests.forEach((request, i) => {
      const result = results[i];
      if (result === undefined)
        throw new StorageError('corrupt', 'The backend returned fewer results than were requested');
      this.cache.add(request, result, load, this.#loads, keepsContents);
    });
    return results;
  }

  /**
   * Returns a loader of the same state with an empty cache, for a walk. What it learns of nodes is stored in this
   * loader's cache too. Contents are not, because together they may be large, and a walk rarely reads one again.
   */
  fresh(): NodeLoader {
    return new NodeLoader(this.shared, this.openFiles, (requests, call) => this.#fetch(requests, call, false));
  }
}

function namesIn(results: readonly LoadResult[]): number {
  let count = 0;
  for (const result of results) {
    if (result.kind === 'list') count += result.names.length;
    else if (result.kind === 'tree') for (const { names } of result.listings) count += names.length;
  }
  return count;
}

/** @throws StorageError `corrupt` if a page does not advance, which would never end */
function nextAfter(before: string | undefined, last: string | undefined): string {
  if (last !== undefined && (before === undefined || compareNames(last, before) > 0)) return last;
  throw new StorageError('corrupt', 'The storage returned a page of a listing that ends where it begins');
}
