import type { Announcement, Batch, CommitResult } from '../backend.js';
import { withMayHaveHappened } from '../engine/remote/may-have-happened.js';
import { onAbort } from '../engine/scheduling/on-abort.js';
import { runInSlices, type Steps } from '../engine/scheduling/time-slice.js';
import type { Versions } from '../engine/tree-backend/tree-reader.js';
import { isStorageError, StorageError } from '../errors.js';
import { CommitBackoff } from './commit-backoff.js';
import { compactionStart, progressAfter } from './compaction.js';
import { CommitSharedStore, Draft } from './draft.js';
import type { StoredContents } from './extents.js';
import { FetchRounds } from './fetch-rounds.js';
import { type Fetcher, isUnreadable, MAX_CONCURRENT_GETS, ObjectMissing } from './fetcher.js';
import { type Head, MAX_REMEMBERED_CLIENTS, type StateRecord } from './head.js';
import { encodeHead } from './head-format.js';
import type { Current, Heads } from './heads.js';
import { vanishedError } from './heads.js';
import { LoadPlanner } from './load-planner.js';
import { OBJECTS, partName } from './object-name.js';
import type { ObjectStore, StoredObject } from './object-store.js';
import { type ObjectToPut, ObjectWriter } from './object-writer.js';
import type { RangeCache } from './range-cache.js';
import { BytesNotLoaded, type Ref, refKey } from './ref.js';
import { inParallel, type StoreCalls } from './store-calls.js';
import type { Pages } from './stored-page.js';

/** Maximum number of operations per commit. */
const MAX_COMMIT_OPERATIONS = 256;
/** Bytes of contents after which a commit takes no more operations. */
const MAX_COMMIT_CONTENT_BYTES = 32 * 2 ** 20;
/** Attempts to commit a group of operations before it fails. Most of them end with a lost race. */
const MAX_RACES = 100;
/**
 * Age after which a head is read again while objects are put. By then other clients may have committed more often than
 * a head remembers, so that a lost response could not be resolved.
 */
const MAX_HEAD_AGE_MS = 20_000;
/** Maximum number of times that a swap of the head is sent. */
const MAX_SWAP_ATTEMPTS = 4;
const MAX_CONCURRENT_PUTS = 4;
/** Maximum number, and total bytes, of the objects that are put in one step with the swap of the head. */
const MAX_ONE_STEP_OBJECTS = 16;
const MAX_ONE_STEP_BYTES = 2 ** 20;
/** A store counts as near if the requests of a commit take fewer milliseconds than this. */
const MAX_NEAR_COMMIT_MS = 10;
const MAX_REMEMBERED_OUTCOMES = 10_000;
/**
 * Number of commits without compaction after stored data could not be read, so that the unreadable data does not make
 * other writes fail.
 */
const COMPACTION_RETRY_COMMITS = 64;
const MAX_UNREADABLE_REFS = 10_000;
/** Maximum size of an object that is cached when it has been written. */
const MAX_CACHED_OBJECT_BYTES = 8 * 2 ** 20;

/**
 * An edit of records of the head, such as checkpoints, forks and limits, on a draft of the next head. It does not
 * change the tree, except that it may restore a checkpoint. It runs again on another draft after a lost race.
 */
export type HeadEdit<R> = (draft: Draft) => R;

interface PendingOperation {
  readonly id?: string;
  /** The work: either a batch or an edit. */
  readonly batch?: Batch;
  readonly work?: HeadEdit<unknown>;
  readonly signal?: AbortSignal | undefined;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly completed: Promise<unknown>;
  /** True for an edit that runs even after the queue was closed, such as the removal of a fork's record. */
  readonly survivesClose?: boolean;
  isWithdrawn: boolean;
}

/** An object with its bytes, as it is stored. */
interface WholeObject {
  readonly object: ObjectToPut;
  readonly bytes: Uint8Array;
  readonly parts: readonly StoredObject[];
}

interface PreparedCommit {
  /** Events of the batches that were applied. */
  readonly changes: readonly Announcement[];
  readonly draft: Draft;
  readonly results: readonly unknown[];
  readonly head: Head;
  readonly objects: readonly ObjectToPut[];
}

type Outcome = CommitResult | 'absent' | 'unknown';
/** Outcome of an operation that failed without taking effect, so that it can be sent again. */
const UNSENT = 'unsent';

/** A swap of the head whose outcome is not known yet. */
interface Unsettled {
  readonly base: Current;
  readonly sequence: number;
  readonly items: readonly PendingOperation[];
  readonly prepared: PreparedCommit;
  /** True if an attempt may have replaced the head, or still may, because its response was lost. */
  mayHaveHappened: boolean;
}

export interface CommitQueueOptions {
  readonly store: ObjectStore;
  readonly calls: StoreCalls;
  readonly heads: Heads;
  readonly fetcher: Fetcher;
  readonly rangeCache: RangeCache;
  readonly pages: Pages;
  readonly versions: Versions;
  readonly contents: StoredContents;
  readonly read: (ref: Ref) => Uint8Array | undefined;
  readonly hold: () => () => void;
  readonly newId: () => string;
  readonly now: () => number;
  /** Prefix of object names. */
  readonly prefix: string;
  /** Greatest size in bytes of a stored object, and of the head. */
  readonly partBytes: number;
  /**
   * Called for each commit of this client that is known to have succeeded. `base`: the head on which it was prepared.
   */
  readonly onCommitted: (base: Head, head: Head, changes: readonly Announcement[]) => void;
}

/**
 * Commits of one client, one after another. Waiting batches are grouped: their objects are put before the head is
 * swapped once, or in one step with it. If another client was faster, the commit is prepared again on the new head. If
 * the outcome of the swap is unknown, it is determined from the head's record of this client.
 */
export class CommitQueue {
  readonly #options: CommitQueueOptions;
  readonly #client: string;
  readonly #queue: PendingOperation[] = [];
  readonly #outcomes = new Map<string, Outcome | typeof UNSENT>();
  #hasForgotten = false;
  readonly #pending = new Map<string, PendingOperation>();
  #running: Promise<void> | undefined;
  /** Set while a swap of the head is under way: its operations can no longer be withdrawn. */
  #isSwapping = false;
  #sequence = 0;
  #unsettled: Unsettled | undefined;
  /**
   * True if the requests of the last commit were so quick that waiting for a turn of the event loop would slow commits.
   */
  #isNear = false;
  readonly #backoff: CommitBackoff;
  /** Number of the commit from which on this client compacts again. */
  #compactsFrom = 0;
  /** Contents that a compaction could not read, for later ones to leave out. */
  readonly #unreadable = new Set<string>();

  constructor(options: CommitQueueOptions) {
    this.#options = options;
    this.#client = options.newId();
    this.#backoff = new CommitBackoff({ ...options, isAlone: options.prefix !== OBJECTS }, this.#client);
  }

  /** Applies a batch, grouped with other waiting ones. A batch whose outcome is known does not take effect again. */
  async commit(batch: Batch): Promise<CommitResult> {
    const id = batch.operationId;
    if (this.#isUnsettled(id)) await this.#settle();
    const known = this.#settledOutcome(id);
    if (known === 'absent') throw new StorageError('unavailable', 'The operation was given up before it arrived');
    if (known === 'unknown') throw outcomeForgotten();
    if (known !== undefined) return known;
    const { completed } = this.#pending.get(id) ?? this.#submit({ id, batch });
    return completed as Promise<CommitResult>;
  }

  /**
   * Runs an edit of the head's records. If it is aborted before its head swap is sent, it does not happen.
   */
  async edit<R>(work: HeadEdit<R>, signal?: AbortSignal, survivesClose = false): Promise<R> {
    const item = this.#submit({ work, signal, survivesClose });
    const abort = (): void => void (this.#isWaiting(item) && this.#withdraw(item));
    const forget = onAbort(signal, abort);
    try {
      return (await item.completed) as R;
    } finally {
      forget();
    }
  }

  async outcome(operationId: string): Promise<Outcome> {
    const item = this.#pending.get(operationId);
    if (item !== undefined && this.#isWaiting(item)) this.#withdraw(item);
    else await item?.completed.catch(() => {});
    if (this.#isUnsettled(operationId)) await this.#settle();
    const known = this.#settledOutcome(operationId);
    if (known !== undefined) return known;
    // The outcome of an unknown operation is certain only if none was forgotten.
    if (this.#hasForgotten && !this.#outcomes.has(operationId)) return 'unknown';
    this.#remember(operationId, 'absent');
    return 'absent';
  }

  /** Reports whether the newest commit that a head records is one of this client. */
  wasLast({ clients }: Head): boolean {
    return clients[0]?.client === this.#client;
  }

  async close(): Promise<void> {
    this.#backoff.close();
    for (const item of this.#queue.splice(0)) {
      if (item.survivesClose === true) this.#queue.push(item);
      else item.reject(new StorageError('closed', 'The storage is closed'));
    }
    await this.#running?.catch(() => {});
  }

  #submit(asked: Pick<PendingOperation, 'id' | 'work' | 'batch' | 'signal' | 'survivesClose'>): PendingOperation {
    let resolve: PendingOperation['resolve'] = () => {};
    let reject: PendingOperation['reject'] = () => {};
    const completed = new Promise<unknown>((...ends) => {
      [resolve, reject] = ends;
    });
    const item = { ...asked, resolve, reject, completed, isWithdrawn: false };
    if (item.id !== undefined) this.#pending.set(item.id, item);
    this.#queue.push(item);
    this.#running ??= this.#run();
    return item;
  }

  #isUnsettled(operationId: string): boolean {
    return this.#unsettled?.items.some(({ id }) => id === operationId) === true;
  }

  /** Reports whether an operation can still be withdrawn: no swap of the head that contains it is in progress. */
  #isWaiting(item: PendingOperation): boolean {
    return !this.#isSwapping || this.#queue.includes(item);
  }

  #withdraw(item: PendingOperation): void {
    item.isWithdrawn = true;
    this.#finish(item, 'absent');
    item.reject(new StorageError('unavailable', 'The operation was withdrawn', { mayHaveHappened: false }));
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      let items: readonly PendingOperation[] | undefined;
      try {
        // Waits so that requests of the same turn are grouped, also those by callers that have just got a result.
        await (this.#isNear ? this.#options.calls.shortTurn() : this.#options.calls.nextTurn());
        items = this.#nextGroup();
        if (items.length === 0) continue;
        await this.#settle();
        await this.#attempt(items);
      } catch (error) {
        for (const item of items ?? this.#queue.splice(0)) if (!item.isWithdrawn) this.#fail(item, error);
      } finally {
        this.#isSwapping = false;
      }
    }
    this.#running = undefined;
  }

  /** Returns the next group: batches go together; an edit goes alone. */
  #nextGroup(): PendingOperation[] {
    const items: PendingOperation[] = [];
    let bytes = 0;
    while (items.length < MAX_COMMIT_OPERATIONS && bytes < MAX_COMMIT_CONTENT_BYTES) {
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

  async #attempt(group: readonly PendingOperation[]): Promise<void> {
    const { heads, now } = this.#options;
    const { known } = heads;
    let isFresh = known === undefined;
    let base: Current = known ?? (await heads.refresh());
    for (let race = 0; race < MAX_RACES; race++) {
      const turn = await this.#backoff.wait(base, this.#sequence + 1);
      isFresh ||= turn !== base;
      base = turn;
      // An abort takes effect here if it came before the operation was queued, or during a swap that was lost.
      for (const item of group) if (item.signal?.aborted === true) this.#withdraw(item);
      const items = group.filter((item) => !item.isWithdrawn);
      if (items.length === 0) return;
      try {
        const prepared = await this.#prepare(base, items);
        if (!prepared.draft.isChanged) {
          // The state on which the results are based may be outdated.
          if (isFresh) {
            if (prepared.results.some(isConflict)) this.#backoff.lost();
            return this.#resolveAll(items, prepared.results);
          }
          base = await heads.refresh();
          isFresh = true;
          continue;
        }
        // The commit is prepared again without the withdrawn operations, so that no objects are put for them.
        if (items.some((item) => item.isWithdrawn)) continue;
        const sentAt = now();
        const whole = this.#inOneStep(prepared.objects);
        const isOld = !isFresh && prepared.objects.length > 0 && heads.age > MAX_HEAD_AGE_MS;
        const [isLater, newest]: readonly [boolean, Current, unknown] = await Promise.all([
          prepared.objects.length > 0 && this.#backoff.mustYield(base),
          isOld ? heads.refresh() : base,
          whole === undefined ? this.#put(prepared.objects) : undefined,
        ]);
        isFresh ||= isOld;
        if (isLater || newest.tag !== base.tag) {
          base = newest;
          continue;
        }
        if (items.some((item) => item.isWithdrawn)) continue;
        this.#isSwapping = true;
        if (await this.#swapHead(base, prepared, items, whole)) {
          this.#isNear = now() - sentAt < MAX_NEAR_COMMIT_MS;
          this.#announce(base.head, prepared);
          this.#resolveAll(items, prepared.results);
          this.#backoff.won(prepared.head.commit);
          return;
        }
        this.#backoff.lost();
        this.#isSwapping = false;
        base = heads.known ?? (await heads.refresh());
        isFresh = true;
      } catch (error) {
        if (!(error instanceof ObjectMissing)) throw error;
        const newer = await heads.refresh();
        if (newer.tag === base.tag && !this.#postponesCompaction(base.head))
          throw vanishedError(`${error.object} is missing`);
        base = newer;
        isFresh = true;
      }
    }
    throw new StorageError('conflict', `The commit lost ${MAX_RACES} races against other writers and was given up`);
  }

  /** Runs the items on a head, loading what they read. Returns the next head and the objects to put. */
  async #prepare(base: Current, items: readonly PendingOperation[]): Promise<PreparedCommit> {
    const { hold } = this.#options;
    let since = this.#compactionStart(base.head);
    // The hold ends with the preparation: everything read stays cached during a hold, and a commit may take minutes.
    const rounds = new FetchRounds();
    const release = hold();
    try {
      for (;;) {
        try {
          const prepared = await runInSlices(this.#tryToPrepare(base, items, since), undefined);
          if (!(prepared instanceof BytesNotLoaded)) return prepared;
          rounds.next([...prepared.refs, ...prepared.optional]);
          await this.#fetch(prepared);
        } catch (error) {
          if (!isStorageError(error, 'corrupt') || !this.#postponesCompaction(base.head)) throw error;
          since = undefined;
        }
      }
    } finally {
      release();
    }
  }

  /**
   * Fetches bytes. Contents for compaction that cannot be read are remembered, so that later compactions leave them
   * out.
   */
  async #fetch({ refs, optional }: BytesNotLoaded): Promise<void> {
    const { fetcher, read } = this.#options;
    try {
      await fetcher.fetch([...refs, ...optional]);
      return;
    } catch (error) {
      if (optional.length === 0 || !isUnreadable(error)) throw error;
    }
    if (this.#unreadable.size > MAX_UNREADABLE_REFS) this.#unreadable.clear();
    const isMissing = (ref: Ref): boolean => read(ref) === undefined;
    await inParallel(optional.filter(isMissing), MAX_CONCURRENT_GETS, async (ref) => {
      await fetcher.fetch([ref]).catch((error: unknown) => {
        if (!isUnreadable(error)) throw error;
        this.#unreadable.add(refKey(ref));
      });
    });
    await fetcher.fetch(refs.filter(isMissing));
  }

  /** Returns a commit number: this client compacts objects of later commits. Undefined if it does not compact now. */
  #compactionStart(head: Head): number | undefined {
    if (head.commit < this.#compactsFrom || !this.#backoff.mayCompact(head)) return undefined;
    return compactionStart(head);
  }

  /**
   * If a compaction was due, postpones it to a later commit and returns true: perhaps only the compaction needed the
   * unreadable bytes.
   */
  #postponesCompaction(head: Head): boolean {
    if (this.#compactionStart(head) === undefined) return false;
    this.#compactsFrom = head.commit + COMPACTION_RETRY_COMMITS;
    return true;
  }

  /** Prepares the commit, or returns which bytes have to be loaded first. */
  *#tryToPrepare(
    base: Current,
    items: readonly PendingOperation[],
    since: number | undefined,
  ): Steps<PreparedCommit | BytesNotLoaded> {
    const { pages, read, versions, contents, newId } = this.#options;
    const commit = base.head.commit + 1;
    const planner = new LoadPlanner(pages, read);
    for (const { batch } of items) if (batch !== undefined) yield* planner.batch(base.reader, batch);
    if (since !== undefined) yield* planner.scattered(base.state, since, this.#unreadable);
    const { refs, optional } = planner;
    if (refs.length + optional.length > 0) return new BytesNotLoaded(refs, optional);
    try {
      const draft = new Draft(base, new CommitSharedStore(contents, commit, newId), versions, pages);
      const results: unknown[] = [];
      const changes: Announcement[] = [];
      for (const { batch, work } of items) {
        const result = batch === undefined ? work?.(draft) : yield* draft.apply(batch);
        results.push(result);
        if (batch?.changes !== undefined && (result as CommitResult).kind === 'ok') changes.push(...batch.changes);
        yield;
      }
      if (!draft.isChanged) return { draft, changes, results, head: base.head, objects: [] };
      const { epoch } = base.head;
      const writer = new ObjectWriter({ ...this.#options, epoch, commit, compactAfter: since });
      const before = { inodes: base.state.inodes, record: base.head.state };
      const { objects, ...state } =
        draft.stored === undefined
          ? yield* writer.write(draft.tree.freeze(), before)
          : { ...draft.stored, objects: [] };
      return { draft, changes, results, head: this.#headOf(draft, state, since), objects };
    } catch (error) {
      if (error instanceof BytesNotLoaded) return error;
      throw error;
    }
  }

  #headOf(draft: Draft, state: StateRecord, since: number | undefined): Head {
    const { base, commit } = draft;
    const mine = { client: this.#client, flight: this.#sequence + 1, commit };
    const others = base.head.clients.filter(({ client }) => client !== this.#client);
    const clients = [mine, ...others].slice(0, MAX_REMEMBERED_CLIENTS);
    const gathered = progressAfter(base.head, draft.stored === undefined ? since : undefined);
    return { ...draft.headWith(state), nonce: this.#options.newId(), clients, gathered };
  }

  async #put(objects: readonly ObjectToPut[]): Promise<void> {
    const { store, calls } = this.#options;
    await inParallel(objects, MAX_CONCURRENT_PUTS, async (object) => {
      const whole = this.#assemble(object);
      await inParallel(whole.parts, MAX_CONCURRENT_PUTS, ({ name, bytes }) =>
        calls.retrying(undefined, (call) => store.put(name, bytes, call)),
      );
      this.#isStored(whole);
    });
  }

  #assemble(object: ObjectToPut): WholeObject {
    const { partBytes } = this.#options;
    const bytes = object.bytes();
    const parts = Array.from({ length: Math.ceil(bytes.length / partBytes) }, (_, part) => ({
      name: partName(object.name, part),
      bytes: bytes.length <= partBytes ? bytes : bytes.subarray(part * partBytes, (part + 1) * partBytes),
    }));
    return { object, bytes, parts };
  }

  /**
   * Returns the objects to put in one step with the swap of the head. Undefined if the store cannot do that, if there
   * are no objects, or if they are many or large.
   */
  #inOneStep(objects: readonly ObjectToPut[]): readonly WholeObject[] | undefined {
    const { store, partBytes } = this.#options;
    if (store.commit === undefined || objects.length === 0) return undefined;
    const bytes = objects.reduce((sum, { length }) => sum + length, 0);
    const parts = objects.reduce((sum, { length }) => sum + Math.ceil(length / partBytes), 0);
    if (bytes > MAX_ONE_STEP_BYTES || parts > MAX_ONE_STEP_OBJECTS) return undefined;
    return objects.map((object) => this.#assemble(object));
  }

  #isStored({ object: { name, length, pieces }, bytes }: WholeObject): void {
    for (const [piece, ref] of pieces) piece.stored = ref;
    if (pieces.length === 0 && length <= MAX_CACHED_OBJECT_BYTES) this.#options.rangeCache.add(name, 0, bytes);
  }

  /** Reports the changes of a commit to watchers. */
  #announce(base: Head, { draft, head, changes }: PreparedCommit): void {
    const isRestored = draft.stored !== undefined && draft.stored !== base.state;
    this.#options.onCommitted(base, head, isRestored ? [{ type: 'reset', path: '/' }] : changes);
  }

  /**
   * Swaps the head. Returns false if another client was faster.
   * @throws StorageError `full` if the head is too large; others if the store fails or the outcome cannot be determined
   */
  async #swapHead(
    base: Current,
    prepared: PreparedCommit,
    items: readonly PendingOperation[],
    whole: readonly WholeObject[] | undefined,
  ): Promise<boolean> {
    const { head } = prepared;
    const { store, calls, heads, now, partBytes } = this.#options;
    const bytes = encodeHead(head);
    if (bytes.length > partBytes)
      throw new StorageError(
        'full',
        `The head would have ${bytes.length} bytes, the store takes ${partBytes}: drop checkpoints, or close forks`,
      );
    this.#sequence += 1;
    const unsettled: Unsettled = { base, sequence: this.#sequence, items, prepared, mayHaveHappened: false };
    let failure: StorageError | undefined;
    for (let attempt = 0; attempt < MAX_SWAP_ATTEMPTS; attempt++) {
      if (attempt > 0) await calls.pause(Math.min(2_000, 50 * 2 ** attempt));
      this.#unsettled = unsettled;
      const sentAt = now();
      try {
        const tag = await calls.once(undefined, (call) =>
          whole === undefined || store.commit === undefined
            ? store.swapHead(bytes, base.tag, call)
            : store.commit(
                whole.flatMap(({ parts }) => parts),
                bytes,
                base.tag,
                call,
              ),
        );
        if (tag !== undefined) {
          this.#unsettled = undefined;
          for (const object of whole ?? []) this.#isStored(object);
          await heads.adopt(head, tag, sentAt);
          return true;
        }
        failure = undefined;
      } catch (error) {
        if (!isStorageError(error)) throw error;
        unsettled.mayHaveHappened ||= error.mayHaveHappened;
        if (!unsettled.mayHaveHappened) this.#unsettled = undefined;
        if (!error.mayHaveHappened && !error.retryable) throw error;
        failure = error;
      }
      const newest = await heads.refresh();
      const fate = this.#fateOf(unsettled, newest);
      if (fate === 'unknown') throw outcomeForgotten(failure);
      if (fate !== 'open') {
        this.#unsettled = undefined;
        if (fate === 'won') for (const object of whole ?? []) this.#isStored(object);
        return fate === 'won';
      }
      if (failure?.retryable === false) throw failure;
    }
    throw (
      failure ??
      new StorageError('unavailable', 'The store refuses to replace the head although no other client has replaced it')
    );
  }

  /**
   * Determines the outcome of the last swap, if it is unknown. If its request may still arrive, writes another head
   * first, so that the request fails.
   */
  async #settle(): Promise<void> {
    const { heads, store, calls, newId } = this.#options;
    const unsettled = this.#unsettled;
    for (let attempt = 0; unsettled !== undefined; attempt++) {
      const now = await heads.refresh();
      // Another call has determined the outcome, and another swap may be in progress.
      if (this.#unsettled !== unsettled) return;
      const fate = this.#fateOf(unsettled, now);
      if (fate !== 'open') {
        for (const [i, { id }] of unsettled.items.entries())
          this.#remember(id, fate === 'won' ? (unsettled.prepared.results[i] as CommitResult) : fate);
        this.#unsettled = undefined;
        if (fate === 'won') this.#announce(unsettled.base.head, unsettled.prepared);
        return;
      }
      if (attempt > 0) await calls.pause(Math.min(2_000, 50 * 2 ** attempt));
      if (attempt >= MAX_SWAP_ATTEMPTS)
        throw new StorageError('unavailable', 'What became of a commit cannot be found out');
      const fence = encodeHead({ ...now.head, commit: now.head.commit + 1, nonce: newId() });
      await calls
        .once(undefined, (call) => store.swapHead(fence, now.tag, call))
        .catch((error: unknown) => {
          if (!isStorageError(error) || !(error.mayHaveHappened || error.retryable)) throw error;
        });
    }
  }

  /** Determines the outcome of a swap from the newest head; `open` while that is still the old one. */
  #fateOf(
    { base, sequence, mayHaveHappened }: Unsettled,
    { head, tag }: Current,
  ): 'open' | 'won' | 'absent' | 'unknown' {
    if (tag === base.tag) return 'open';
    if (head.clients.some((one) => one.client === this.#client && one.flight === sequence)) return 'won';
    // No attempt can have replaced the head.
    if (!mayHaveHappened) return 'absent';
    // A head without clients from before the swap may have forgotten this client too.
    const oldest = head.clients[MAX_REMEMBERED_CLIENTS - 1];
    return oldest !== undefined && oldest.commit > base.head.commit ? 'unknown' : 'absent';
  }

  #resolveAll(items: readonly PendingOperation[], results: readonly unknown[]): void {
    items.forEach((item, i) => {
      if (item.isWithdrawn) return;
      this.#finish(item, results[i] as CommitResult);
      item.resolve(results[i]);
    });
  }

  #finish(item: PendingOperation, result: Outcome): void {
    if (item.id === undefined) return;
    this.#pending.delete(item.id);
    this.#remember(item.id, result);
  }

  /** Returns the outcome of an operation, if it is known and final: an operation that is `UNSENT` may be sent again. */
  #settledOutcome(id: string): Outcome | undefined {
    const outcome = this.#outcomes.get(id);
    return outcome === UNSENT ? undefined : outcome;
  }

  /** Rejects an operation. The error says that it may have happened only if the outcome of its swap is unknown. */
  #fail(item: PendingOperation, error: unknown): void {
    const mayHaveHappened = this.#unsettled?.items.includes(item) === true;
    if (item.id !== undefined) {
      this.#pending.delete(item.id);
      if (!mayHaveHappened) this.#remember(item.id, UNSENT);
    }
    item.reject(withMayHaveHappened(error, mayHaveHappened));
  }

  #remember(id: string | undefined, result: Outcome | typeof UNSENT): void {
    // A final outcome is not replaced.
    if (id === undefined || this.#settledOutcome(id) !== undefined) return;
    if (this.#outcomes.size >= MAX_REMEMBERED_OUTCOMES) {
      const oldest = this.#outcomes.keys().next().value;
      if (oldest !== undefined) this.#outcomes.delete(oldest);
      this.#hasForgotten = true;
    }
    this.#outcomes.set(id, result);
  }
}

/** Returns the number of content bytes in a batch. */
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

function outcomeForgotten(cause?: unknown): StorageError {
  return new StorageError('unavailable', 'More clients have committed since than the head remembers', { cause });
}
