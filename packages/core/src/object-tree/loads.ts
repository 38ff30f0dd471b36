import type { LoadRequest, LoadResult } from '../backend.js';
import { runInSlices, type Steps } from '../engine/scheduling/time-slice.js';
import type { TreeFacts } from '../engine/tree-facts.js';
import { StorageError } from '../errors.js';
import { FetchRounds } from './fetch-rounds.js';
import { type Fetcher, isUnreadable, ObjectMissing } from './fetcher.js';
import type { Current, Heads } from './heads.js';
import { lost } from './heads.js';
import { Missing } from './missing.js';
import { type Ref, Unready } from './ref.js';
import type { Pages } from './stored-page.js';

const CONTENTS_AHEAD = 4;
/** Objects that are read for a content which comes along with its path. */
const MAX_ALONG = 4;

export interface LoadOptions {
  readonly heads: Heads;
  readonly fetcher: Fetcher;
  readonly pages: Pages;
  readonly read: (ref: Ref) => Uint8Array | undefined;
  readonly hold: () => () => void;
  /** Milliseconds that what is known of the head may be old. */
  readonly maxStalenessMs: number;
}

/** Answers wants of a state, with as few requests as the place of its pages allows. */
export class Loads {
  readonly #options: LoadOptions;

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  /** The head as it is, or was so long ago as may be. */
  async newest(): Promise<Current> {
    const { heads, maxStalenessMs } = this.#options;
    if (heads.known !== undefined && heads.age < maxStalenessMs) return heads.known;
    return heads.refresh();
  }

  /** Does work on the newest head, again where what it needs was collected meanwhile. `first`: a head that may be older, to begin with. */
  async inNewestHead<R>(work: (current: Current) => Promise<R>, first?: Current): Promise<R> {
    let current = first ?? (await this.newest());
    for (;;) {
      try {
        return await work(current);
      } catch (error) {
        if (!(error instanceof ObjectMissing)) throw error;
        const newer = await this.#options.heads.refresh();
        if (newer.tag === current.tag) throw lost(`${error.object} is gone`);
        current = newer;
      }
    }
  }

  async answer(facts: TreeFacts, wants: readonly LoadRequest[], signal?: AbortSignal): Promise<readonly LoadResult[]> {
    try {
      return await this.#answer(facts, wants, signal);
    } catch (error) {
      if (!isUnreadable(error) || !wants.some(comesAlong)) throw error;
      // A content that nobody has asked for may be what cannot be read: its file can be looked at and removed all the same.
      return this.#answer(facts, wants.map(withoutContent), signal);
    }
  }

  #answer(
    facts: TreeFacts,
    wants: readonly LoadRequest[],
    signal: AbortSignal | undefined,
  ): Promise<readonly LoadResult[]> {
    return this.ready((missing) => answersTo(facts, wants.map(widened), missing), signal);
  }

  /** What a head leads to, as long as nobody has collected it. @throws StorageError `conflict` where somebody has */
  async answerStill(
    { facts }: Current,
    wants: readonly LoadRequest[],
    signal?: AbortSignal,
  ): Promise<readonly LoadResult[]> {
    try {
      return await this.answer(facts, wants, signal);
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
  async ready<R>(work: (missing: Missing) => Steps<R>, signal?: AbortSignal): Promise<R> {
    const { fetcher, pages, read, hold } = this.#options;
    const rounds = new FetchRounds();
    const release = hold();
    try {
      for (;;) {
        const missing = new Missing(pages, read);
        const result = await runInSlices(work(missing), signal);
        if (missing.refs.length === 0) return result;
        rounds.next(missing.refs);
        await fetcher.fetch(missing.refs, signal);
      }
    } finally {
      release();
    }
  }
}

/** What can be answered already; what is missing for the rest is collected. */
function* answersTo(facts: TreeFacts, wants: readonly LoadRequest[], missing: Missing): Steps<readonly LoadResult[]> {
  const answers: LoadResult[] = [];
  for (const want of wants) {
    yield* missing.want(facts, want);
    const answer = missing.attempt(() => answerTo(facts, want));
    if (answer !== undefined) answers.push(answer);
    yield;
  }
  return answers;
}

/** A request to a store costs more than what it brings: of a tree with its contents more comes than was asked for. */
function widened(want: LoadRequest): LoadRequest {
  return want.kind === 'tree' && want.contents ? { ...want, budget: want.budget * CONTENTS_AHEAD } : want;
}

/** Whether a content comes with the path of a file. */
function comesAlong(want: LoadRequest): boolean {
  return want.kind === 'path' && want.content > 0;
}

function withoutContent(want: LoadRequest): LoadRequest {
  return want.kind === 'path' ? { ...want, content: 0 } : want;
}

/** A path comes without its content where that would have to be gathered from many objects: not everybody needs it. */
function answerTo(facts: TreeFacts, want: LoadRequest): LoadResult {
  try {
    return facts.load(want);
  } catch (error) {
    const isScattered = error instanceof Unready && new Set(error.refs.map(({ object }) => object)).size > MAX_ALONG;
    if (!comesAlong(want) || !isScattered) throw error;
    return facts.load(withoutContent(want));
  }
}
