import type { Batch, CommitResult } from '../backend.js';
import { runInSlices, type Steps } from '../engine/scheduling/time-slice.js';
import type { Versions } from '../engine/tree-facts.js';
import { isStorageError, StorageError } from '../errors.js';
import { gatheredBy, rewriteAfter } from './consolidation.js';
import { CommitSharedStore, Draft } from './draft.js';
import type { StoredContents } from './extents.js';
import { FetchRounds } from './fetch-rounds.js';
import { type Fetcher, isUnreadable, ObjectMissing, WIDTH } from './fetcher.js';
import { encodeHead, type Head, MAX_CLIENTS, type StateRecord } from './head.js';
import type { Current, Heads } from './heads.js';
import { lost } from './heads.js';
import { Missing } from './missing.js';
import { OBJECTS } from './object-name.js';
import type { ObjectStore } from './object-store.js';
import { type ObjectToPut, ObjectWriter } from './object-writer.js';
import { type Ref, refKey, Unready } from './ref.js';
import type { Segments } from './segments.js';
import { inParallel, type StoreCalls } from './store-calls.js';
import type { Pages } from './stored-page.js';
import { Turns } from './turns.js';

/** Operations that share a commit at most, and bytes of contents after which it takes no more: what is put goes four objects at a time. */
const MAX_GROUP = 256;
const MAX_GROUP_BYTES = 32 * 2 ** 20;
/** Races that a group of operations may lose before it is given up. */
const MAX_RACES = 100;
/**
 * A head that was seen longer ago is looked at while objects are put: by now more clients may have committed than a head
 * remembers, and whether a flip was lost could not be told. Some ten a second can.
 */
const OLD_MS = 20_000;
/** How often a flip that brought no answer is sent again. */
const MAX_FLIPS = 4;
const PUTS_AT_ONCE = 4;
const MAX_OUTCOMES = 10_000;
/** Commits for which nothing is brought together where something of it could not be read: who writes something else is not to fail. */
const GATHERS_LATER = 64;
const MAX_UNREADABLE = 10_000;
/** An object up to this size is kept when it has been written. */
const KEPT_OBJECT = 8 * 2 ** 20;

/** What changes a head beside the tree, in one step; it runs on a draft and may throw `Unready` before it changes it. */
export type Edit<R> = (draft: Draft) => R;

interface Item {
  readonly id?: string;
  /** What is to be done: one of the two. */
  readonly batch?: Batch;
  readonly work?: Edit<unknown>;
  readonly signal?: AbortSignal | undefined;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly answer: Promise<unknown>;
  /** Goes on when the queue is closed: a change for forks, which stay open. */
  readonly outlives?: boolean;
  isWithdrawn: boolean;
}

interface Prepared {
  readonly draft: Draft;
  readonly results: readonly unknown[];
  readonly head: Head;
  readonly objects: readonly ObjectToPut[];
}

type Outcome = CommitResult | 'absent' | 'unknown';
/** Of one that failed before its flip was sent: it may be sent again. */
const UNSENT = 'unsent';

/** A flip whose answer was lost. */
interface Unsettled {
  readonly base: Current;
  readonly flight: number;
  readonly items: readonly Item[];
  readonly results: readonly unknown[];
}

export interface FlightOptions {
  readonly store: ObjectStore;
  readonly calls: StoreCalls;
  readonly heads: Heads;
  readonly fetcher: Fetcher;
  readonly segments: Segments;
  readonly pages: Pages;
  readonly versions: Versions;
  readonly contents: StoredContents;
  readonly read: (ref: Ref) => Uint8Array | undefined;
  readonly hold: () => () => void;
  readonly newId: () => string;
  readonly now: () => number;
  /** Before the names of objects. */
  readonly prefix: string;
}

/**
 * Commits of one client, one after the other. Operations that wait go together: their objects are put, then the head is flipped
 * once. A flip that another client won is prepared again on the new head; one without an answer is settled by what the
 * head says of this client.
 */
export class Flights {
  readonly #options: FlightOptions;
  readonly #client: string;
  readonly #queue: Item[] = [];
  readonly #outcomes = new Map<string, Outcome | typeof UNSENT>();
  #hasForgotten = false;
  readonly #pending = new Map<string, Item>();
  #flying: Promise<void> | undefined;
  /** Operations of the flight that has sent its flip. */
  #isFlipping = false;
  #flight = 0;
  #unsettled: Unsettled | undefined;
  readonly #turns: Turns;
  /** The commit of a head from which on this client brings together what is scattered. */
  #gathersFrom = 0;
  /** Contents that could not be read when they were to be brought together. Names are never used again: they never can. */
  readonly #unreadable = new Set<string>();

  constructor(options: FlightOptions) {
    this.#options = options;
    this.#client = options.newId();
    this.#turns = new Turns({ ...options, isAlone: options.prefix !== OBJECTS }, this.#client);
  }

  /** Applies a batch, with what else waits; the same once, however often it is sent. */
  async commit(batch: Batch): Promise<CommitResult> {
    const id = batch.operationId;
    if (this.#isUnsettled(id)) await this.#settle();
    const known = this.#said(id);
    if (known === 'absent') throw new StorageError('unavailable', 'The operation was given up before it arrived');
    if (known === 'unknown') throw forgotten();
    if (known !== undefined) return known;
    const { answer } = this.#pending.get(id) ?? this.#submit({ id, batch });
    return answer as Promise<CommitResult>;
  }

  /** Changes what stands in the head beside the tree. Aborted before its flip is on the way, it does not happen. */
  async edit<R>(work: Edit<R>, signal?: AbortSignal, outlives = false): Promise<R> {
    const item = this.#submit({ work, signal, outlives });
    const abort = (): void => void (this.#isWaiting(item) && this.#withdraw(item));
    signal?.addEventListener('abort', abort);
    try {
      return (await item.answer) as R;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  async outcome(operationId: string): Promise<Outcome> {
    const item = this.#pending.get(operationId);
    if (item !== undefined && this.#isWaiting(item)) this.#withdraw(item);
    else await item?.answer.catch(() => {});
    if (this.#isUnsettled(operationId)) await this.#settle();
    const known = this.#said(operationId);
    if (known !== undefined) return known;
    // Of one that nobody knows it can be said only while nothing has been forgotten.
    if (this.#hasForgotten && !this.#outcomes.has(operationId)) return 'unknown';
    this.#remember(operationId, 'absent');
    return 'absent';
  }

  /** Whether the head is this client's. */
  wasLast({ clients }: Head): boolean {
    return clients[0]?.client === this.#client;
  }

  async close(): Promise<void> {
    this.#turns.close();
    for (const item of this.#queue.splice(0)) {
      if (item.outlives === true) this.#queue.push(item);
      else item.reject(new StorageError('closed', 'The storage is closed'));
    }
    await this.#flying?.catch(() => {});
  }

  #submit(asked: Pick<Item, 'id' | 'work' | 'batch' | 'signal' | 'outlives'>): Item {
    let resolve: Item['resolve'] = () => {};
    let reject: Item['reject'] = () => {};
    const answer = new Promise<unknown>((...ends) => {
      [resolve, reject] = ends;
    });
    const item = { ...asked, resolve, reject, answer, isWithdrawn: false };
    if (item.id !== undefined) this.#pending.set(item.id, item);
    this.#queue.push(item);
    this.#flying ??= this.#fly();
    return item;
  }

  #isUnsettled(operationId: string): boolean {
    return this.#unsettled?.items.some(({ id }) => id === operationId) === true;
  }

  /** Whether nothing of it is on its way. */
  #isWaiting(item: Item): boolean {
    return !this.#isFlipping || this.#queue.includes(item);
  }

  #withdraw(item: Item): void {
    item.isWithdrawn = true;
    this.#finish(item, 'absent');
    item.reject(new StorageError('unavailable', 'The operation was withdrawn', { mayHaveHappened: false }));
  }

  async #fly(): Promise<void> {
    while (this.#queue.length > 0) {
      let items: readonly Item[] | undefined;
      try {
        // Whatever is asked for in the same turn goes together, also by those who have just been answered.
        await this.#options.calls.turn();
        items = this.#nextGroup();
        if (items.length === 0) continue;
        await this.#settle();
        await this.#attempt(items);
      } catch (error) {
        for (const item of items ?? this.#queue.splice(0)) if (!item.isWithdrawn) this.#fail(item, error);
      } finally {
        this.#isFlipping = false;
      }
    }
    this.#flying = undefined;
  }

  /** Batches go together; an edit goes alone. */
  #nextGroup(): Item[] {
    const items: Item[] = [];
    let bytes = 0;
    while (items.length < MAX_GROUP && bytes < MAX_GROUP_BYTES) {
      const next = this.#queue[0];
      if (next === undefined || (next.batch === undefined && items.length > 0)) break;
      this.#queue.shift();
      if (!next.isWithdrawn) {
        items.push(next);
        bytes += contentsOf(next.batch);
      }
      if (next.batch === undefined) break;
    }
    return items;
  }

  async #attempt(group: readonly Item[]): Promise<void> {
    const { heads } = this.#options;
    const { known } = heads;
    let isFresh = known === undefined;
    let base: Current = known ?? (await heads.refresh());
    for (let race = 0; race < MAX_RACES; race++) {
      const turn = await this.#turns.wait(base, this.#flight + 1);
      isFresh ||= turn !== base;
      base = turn;
      // What was aborted while a flip was on the way that another client has won.
      for (const item of group) if (item.signal?.aborted === true) this.#withdraw(item);
      const items = group.filter((item) => !item.isWithdrawn);
      if (items.length === 0) return;
      try {
        const prepared = await this.#prepare(base, items);
        if (!prepared.draft.isChanged) {
          // What was refused may have been refused by what is no longer so.
          if (isFresh) {
            if (prepared.results.some(isConflict)) this.#turns.lost();
            return this.#answer(items, prepared.results);
          }
          base = await heads.refresh();
          isFresh = true;
          continue;
        }
        // What nobody waits for any more is not put either.
        if (items.some((item) => item.isWithdrawn)) continue;
        const isOld = !isFresh && prepared.objects.length > 0 && heads.age > OLD_MS;
        const [isLater, newest]: readonly [boolean, Current, unknown] = await Promise.all([
          prepared.objects.length > 0 && this.#turns.isLater(base),
          isOld ? heads.refresh() : base,
          this.#put(prepared.objects),
        ]);
        isFresh ||= isOld;
        if (isLater || newest.tag !== base.tag) {
          base = newest;
          continue;
        }
        if (items.some((item) => item.isWithdrawn)) continue;
        this.#isFlipping = true;
        if (await this.#flip(base, prepared, items)) {
          this.#answer(items, prepared.results);
          this.#turns.won(prepared.head.commit);
          return;
        }
        this.#turns.lost();
        this.#isFlipping = false;
        base = heads.known ?? (await heads.refresh());
        isFresh = true;
      } catch (error) {
        if (!(error instanceof ObjectMissing)) throw error;
        const newer = await heads.refresh();
        if (newer.tag === base.tag && !this.#leavesGathering(base.head)) throw lost(`${error.object} is gone`);
        base = newer;
        isFresh = true;
      }
    }
    throw new StorageError('conflict', `The commit lost ${MAX_RACES} races against other writers and was given up`);
  }

  /** Runs the items on a head, loading what they look at, and writes what comes of it. */
  async #prepare(base: Current, items: readonly Item[]): Promise<Prepared> {
    const { hold } = this.#options;
    let since = this.#gathersAfter(base.head);
    // No longer than this: whatever anybody reads stays as long as it is held, and a commit may be on its way for minutes.
    const rounds = new FetchRounds();
    const release = hold();
    try {
      for (;;) {
        try {
          const prepared = await runInSlices(this.#tryToPrepare(base, items, since), undefined);
          if (!(prepared instanceof Unready)) return prepared;
          rounds.next([...prepared.refs, ...prepared.wished]);
          await this.#fetch(prepared);
        } catch (error) {
          if (!isStorageError(error, 'corrupt') || !this.#leavesGathering(base.head)) throw error;
          since = undefined;
        }
      }
    } finally {
      release();
    }
  }

  /** Of contents that are to be brought together those that cannot be read are found, and left where they are from then on. */
  async #fetch({ refs, wished }: Unready): Promise<void> {
    const { fetcher, read } = this.#options;
    try {
      await fetcher.fetch([...refs, ...wished]);
      return;
    } catch (error) {
      if (wished.length === 0 || !isUnreadable(error)) throw error;
    }
    if (this.#unreadable.size > MAX_UNREADABLE) this.#unreadable.clear();
    const isMissing = (ref: Ref): boolean => read(ref) === undefined;
    await inParallel(wished.filter(isMissing), WIDTH, async (ref) => {
      await fetcher.fetch([ref]).catch((error: unknown) => {
        if (!isUnreadable(error)) throw error;
        this.#unreadable.add(refKey(ref));
      });
    });
    await fetcher.fetch(refs.filter(isMissing));
  }

  /** What lies after this commit is to be brought together; undefined where nothing is. */
  #gathersAfter(head: Head): number | undefined {
    if (head.commit < this.#gathersFrom || !this.#turns.gathers(head)) return undefined;
    return rewriteAfter(head);
  }

  /** Whether what could not be read may have been what was to be brought together: that is left to a later commit then. */
  #leavesGathering(head: Head): boolean {
    if (this.#gathersAfter(head) === undefined) return false;
    this.#gathersFrom = head.commit + GATHERS_LATER;
    return true;
  }

  /** Answers what is missing where something is. */
  *#tryToPrepare(base: Current, items: readonly Item[], since: number | undefined): Steps<Prepared | Unready> {
    const { pages, read, versions, contents, newId, prefix } = this.#options;
    const commit = base.head.commit + 1;
    const missing = new Missing(pages, read);
    for (const { batch } of items) if (batch !== undefined) yield* missing.batch(base.facts, batch);
    if (since !== undefined) yield* missing.scattered(base.state, since, this.#unreadable);
    const { refs, wished } = missing;
    if (refs.length + wished.length > 0) return new Unready(refs, wished);
    try {
      const draft = new Draft(base, new CommitSharedStore(contents, commit, newId), versions, pages);
      const results: unknown[] = [];
      for (const { batch, work } of items) {
        results.push(batch === undefined ? work?.(draft) : yield* draft.apply(batch));
        yield;
      }
      if (!draft.isChanged) return { draft, results, head: base.head, objects: [] };
      const { epoch } = base.head;
      const writer = new ObjectWriter({ prefix, epoch, commit, newId, versions, pages, read, rewriteAfter: since });
      const before = { inodes: base.state.inodes, record: base.head.state };
      const { objects, ...state } =
        draft.stored === undefined
          ? yield* writer.write(draft.tree.freeze(), before)
          : { ...draft.stored, objects: [] };
      return { draft, results, head: this.#headOf(draft, state, since), objects };
    } catch (error) {
      if (error instanceof Unready) return error;
      throw error;
    }
  }

  #headOf(draft: Draft, state: StateRecord, since: number | undefined): Head {
    const { base, commit } = draft;
    const mine = { client: this.#client, flight: this.#flight + 1, commit };
    const others = base.head.clients.filter(({ client }) => client !== this.#client);
    const clients = [mine, ...others].slice(0, MAX_CLIENTS);
    const gathered = gatheredBy(base.head, draft.stored === undefined ? since : undefined);
    return { ...draft.headWith(state), nonce: this.#options.newId(), clients, gathered };
  }

  async #put(objects: readonly ObjectToPut[]): Promise<void> {
    const { store, calls, segments } = this.#options;
    await inParallel(objects, PUTS_AT_ONCE, async ({ name, length, bytes: whole, pieces }) => {
      const bytes = whole();
      await calls.retrying(undefined, (call) => store.put(name, bytes, call));
      for (const [piece, ref] of pieces) piece.stored = ref;
      if (pieces.length === 0 && length <= KEPT_OBJECT) segments.add(name, 0, bytes);
    });
  }

  /** Whether the head is ours now. @throws StorageError where that cannot be found out now */
  async #flip(base: Current, { head, results }: Prepared, items: readonly Item[]): Promise<boolean> {
    const { store, calls, heads, now } = this.#options;
    this.#flight += 1;
    const bytes = encodeHead(head);
    const unsettled = { base, flight: this.#flight, items, results };
    let failure: StorageError | undefined;
    // Whether an attempt has replaced the head, or still may. `retryable` says nothing about that.
    let mayHaveHappened = false;
    for (let attempt = 0; attempt < MAX_FLIPS; attempt++) {
      if (attempt > 0) await calls.pause(Math.min(2_000, 50 * 2 ** attempt));
      this.#unsettled = unsettled;
      const sentAt = now();
      try {
        const tag = await calls.once(undefined, (call) => store.swapHead(bytes, base.tag, call));
        if (tag !== undefined) {
          this.#unsettled = undefined;
          await heads.adopt(head, tag, sentAt);
          return true;
        }
        // The store may have sent the request twice: then the second was refused because of the first.
        mayHaveHappened = true;
        failure = undefined;
      } catch (error) {
        if (!isStorageError(error)) throw error;
        mayHaveHappened ||= error.mayHaveHappened;
        if (!mayHaveHappened) this.#unsettled = undefined;
        if (!error.mayHaveHappened && !error.retryable) throw error;
        failure = error;
      }
      const newest = await heads.refresh();
      const fate = mayHaveHappened || newest.tag === base.tag ? this.#fateOf(unsettled, newest) : 'absent';
      if (fate === 'unknown') throw forgotten(failure);
      if (fate !== 'open') {
        this.#unsettled = undefined;
        return fate === 'won';
      }
      if (failure?.retryable === false) throw failure;
    }
    throw failure ?? new StorageError('unavailable', 'The store refuses a flip of the head that nobody else has made');
  }

  /** Finds out what became of a flip without an answer; where it may still arrive, it is made to come too late. */
  async #settle(): Promise<void> {
    const { heads, store, calls, newId } = this.#options;
    const unsettled = this.#unsettled;
    for (let attempt = 0; unsettled !== undefined; attempt++) {
      const now = await heads.refresh();
      // Somebody else has settled it, and another flip may be under way by now.
      if (this.#unsettled !== unsettled) return;
      const fate = this.#fateOf(unsettled, now);
      if (fate !== 'open') {
        for (const [i, { id }] of unsettled.items.entries())
          this.#remember(id, fate === 'won' ? (unsettled.results[i] as CommitResult) : fate);
        this.#unsettled = undefined;
        return;
      }
      if (attempt > 0) await calls.pause(Math.min(2_000, 50 * 2 ** attempt));
      if (attempt >= MAX_FLIPS) throw new StorageError('unavailable', 'What became of a commit cannot be found out');
      const fence = encodeHead({ ...now.head, commit: now.head.commit + 1, nonce: newId() });
      await calls
        .once(undefined, (call) => store.swapHead(fence, now.tag, call))
        .catch((error: unknown) => {
          if (!isStorageError(error) || !(error.mayHaveHappened || error.retryable)) throw error;
        });
    }
  }

  /** What a head says of a flip. */
  #fateOf({ base, flight }: Unsettled, { head, tag }: Current): 'open' | 'won' | 'absent' | 'unknown' {
    if (tag === base.tag) return 'open';
    if (head.clients.some((one) => one.client === this.#client && one.flight === flight)) return 'won';
    // A head that remembers nobody from before the flip may have forgotten this client too.
    const oldest = head.clients[MAX_CLIENTS - 1];
    return oldest !== undefined && oldest.commit > base.head.commit ? 'unknown' : 'absent';
  }

  #answer(items: readonly Item[], results: readonly unknown[]): void {
    items.forEach((item, i) => {
      if (item.isWithdrawn) return;
      this.#finish(item, results[i] as CommitResult);
      item.resolve(results[i]);
    });
  }

  #finish(item: Item, result: Outcome): void {
    if (item.id === undefined) return;
    this.#pending.delete(item.id);
    this.#remember(item.id, result);
  }

  /** What whoever asked was told, or would be. */
  #said(id: string): Outcome | undefined {
    const outcome = this.#outcomes.get(id);
    return outcome === UNSENT ? undefined : outcome;
  }

  /** It may have happened all the same only where its flip was sent, and nobody knows what became of that. */
  #fail(item: Item, error: unknown): void {
    const mayHaveHappened = this.#unsettled?.items.includes(item) === true;
    if (item.id !== undefined) {
      this.#pending.delete(item.id);
      if (!mayHaveHappened) this.#remember(item.id, UNSENT);
    }
    // Of a batch the outcome is asked.
    item.reject(mayHaveHappened || item.id === undefined ? saying(error, mayHaveHappened) : error);
  }

  #remember(id: string | undefined, result: Outcome | typeof UNSENT): void {
    // What was said first stands.
    if (id === undefined || this.#said(id) !== undefined) return;
    if (this.#outcomes.size >= MAX_OUTCOMES) {
      const oldest = this.#outcomes.keys().next().value;
      if (oldest !== undefined) this.#outcomes.delete(oldest);
      this.#hasForgotten = true;
    }
    this.#outcomes.set(id, result);
  }
}

/** Bytes that a batch brings along. */
function contentsOf(batch: Batch | undefined): number {
  let bytes = 0;
  for (const write of batch?.writes ?? []) {
    if (write.kind === 'create') bytes += write.content?.length ?? 0;
    else if (write.kind === 'write') for (const part of write.parts) bytes += part.bytes.length;
  }
  return bytes;
}

function isConflict(result: unknown): boolean {
  return (result as CommitResult | undefined)?.kind === 'conflict';
}

/** The same failure, saying whether what failed may have happened. */
function saying(error: unknown, mayHaveHappened: boolean): unknown {
  if (!isStorageError(error) || error.mayHaveHappened === mayHaveHappened) return error;
  const { kind, message, retryable, cause } = error;
  return new StorageError(kind, message, { retryable, mayHaveHappened, cause });
}

function forgotten(cause?: unknown): StorageError {
  return new StorageError('unavailable', 'More clients have committed since than the head remembers', { cause });
}
