import { setImmediate as nextTurn } from 'node:timers/promises';
import { type BackendCall, type Batch, type CommitResult, StorageError, type Write } from '@scratchfs/core';
import { isAborted, throwIfAborted } from '../connection/abort.js';
import { type ClientSession, type RunOptions, replyText } from '../connection/client-session.js';
import { isDamage, isWithoutReply } from '../connection/errors.js';
import { MAIN_STATE } from '../connection/keys.js';
import { writeAnnouncements } from '../format/announcements.js';
import {
  type CommitReply,
  isSuperseded,
  readCommitReply,
  readConflict,
  readOutcome,
} from '../format/reply/commit-reply.js';
import { corruptReply, wholeNumber } from '../format/reply/corrupt.js';
import type { StagedContent } from '../format/request/batch.js';
import { type CommitRequest, CommitRequestWriter } from '../format/request/commit-request.js';
import type { Acknowledgement } from '../format/request/request-header.js';
import { scripts } from '../lua/scripts.js';
import { AdaptiveBatchSize, appliedCost } from './adaptive-batch-size.js';
import { MAX_REQUEST_BYTES, MAX_REQUEST_COST } from './batch-cost.js';
import { contentBytesOf, stageContents } from './content-staging.js';
import { requestOutcome } from './idempotent-command.js';
import { dropOverwritten } from './overwritten-writes.js';
import {
  abandonedError,
  type BatchKind,
  type FinalResult,
  isApplied,
  isInFlight,
  isUndecided,
  needsPreparation,
  newOperation,
  type PendingOperation,
  rejectOperation,
  type UnresolvedOperation,
  unresolvedPartOf,
} from './pending-operation.js';
import { RecentOperations } from './recent-operations.js';
import type { Sequences } from './sequences.js';
import { StagedCommits, singleBatchRequest } from './staged-commits.js';
import { ValidatedReads } from './validated-reads.js';

/** Maximum number of read-only batches per request. */
const MAX_READ_ONLY_BATCHES = 128;
/** Maximum number of writing batches per request. */
const MAX_WRITE_BATCHES = 48;
/** Number of path components from which no batch is added to a request. */
const MAX_REQUEST_PATHS = 4_096;
/** Number of pending operations from which they are divided evenly between the requests in flight. */
const MIN_OPERATIONS_TO_BALANCE = 32;
/** Number of requests in flight from which further batches are queued, to be sent together in the next request. */
const MAX_REQUESTS_IN_FLIGHT = 2;

interface Group {
  readonly operations: PendingOperation[];
  readonly request: CommitRequest;
}

/**
 * Group commit: batches of one turn of the event loop may share a request.
 *
 * Each operation with writes has a sequence number. The server stores the operation's result under it until the client
 * acknowledges the result, and refuses numbers below the client's floor; see {@link Sequences}. So a request may arrive
 * late or twice without being applied twice.
 */
export class CommitQueue {
  readonly #waiting: PendingOperation[] = [];
  /** An operation whose reply was lost is replaced by the part of it with which `outcome` asks the server. */
  readonly #operations = new RecentOperations<PendingOperation | UnresolvedOperation, FinalResult>(isUndecided);
  readonly #stagedCommits: StagedCommits;
  readonly #batchSize = new AdaptiveBatchSize();
  readonly #validatedReads = new ValidatedReads();
  #requestsInFlight = 0;
  /** Operations in the requests in flight, without read-only ones. */
  #writesInFlight = 0;
  #isScheduled = false;
  /** Initial capacity in bytes of the next request's buffer, estimated from the last one. */
  #capacity: number | undefined;

  constructor(
    readonly session: ClientSession,
    readonly sequences: Sequences,
    readonly field: string,
    /** Receives the number of objects that wait to be freed. */
    readonly onGarbage: (queuedObjects: number) => void,
    /** Waits a limited time until this client's watchers have received an entry of the change stream. */
    readonly whenDelivered: (entry: number) => Promise<void> | undefined,
  ) {
    this.#stagedCommits = new StagedCommits(session, sequences, field, onGarbage);
  }

  /**
   * Commits a batch. A batch with writes whose operation id is already known is not sent again.
   * @param after awaited before the batch is queued; an abort during the wait withdraws the batch
   */
  commit(batch: Batch, call: BackendCall | undefined, after?: Promise<void>): Promise<CommitResult> {
    // A read-only batch may be sent again under the same id.
    const known = batch.writes.length === 0 ? undefined : this.#operations.get(batch.operationId);
    return known === undefined ? this.#enqueue(batch, call, after).result : this.#resultOfKnown(known);
  }

  async #resultOfKnown(known: PendingOperation | UnresolvedOperation | FinalResult): Promise<CommitResult> {
    if (known === 'absent') throw abandonedError();
    if (!isUndecided(known)) return known;
    if (isInFlight(known)) return known.result;
    throw new StorageError('unavailable', 'The operation was sent before, and its answer did not come');
  }

  /** Returns the outcome of one of this client's operations, asking the server if necessary. */
  async outcome(operationId: string): Promise<FinalResult | 'unknown'> {
    for (;;) {
      const known = this.#operations.result(operationId);
      if (known !== undefined) return known;
      const sent = this.#sentOperation(operationId);
      if (sent === undefined) return this.#outcomeOfUnsent(operationId);
      const text = await requestOutcome(this.session, this.sequences, this.field, sent.sequence);
      // While the request was under way the operation may have been settled, or retried under another number.
      if (this.#sentOperation(operationId)?.sequence === sent.sequence)
        return this.#applyOutcome(operationId, sent, this.#readOutcome(text, sent));
    }
  }

  /** Returns an operation that was sent and has no result yet. */
  #sentOperation(operationId: string): UnresolvedOperation | undefined {
    const operation = this.#operations.pending(operationId);
    if (!isInFlight(operation)) return operation;
    return operation.isSent ? unresolvedPartOf(operation) : undefined;
  }

  /**
   * Withdraws an operation that waits to be sent. An unknown id is certainly absent only while no operation was
   * forgotten.
   */
  #outcomeOfUnsent(operationId: string): 'absent' | 'unknown' {
    const operation = this.#operations.pending(operationId);
    if (operation === undefined && this.#operations.hasForgotten) return 'unknown';
    if (isInFlight(operation)) this.#withdraw(operation, abandonedError());
    this.#operations.end(operationId, 'absent');
    return 'absent';
  }

  /** Parses an outcome. If the server has lost results since the operation began, "absent" proves nothing. */
  #readOutcome(text: string, { begun }: UnresolvedOperation): FinalResult | 'unknown' {
    const outcome = readOutcome(text);
    return outcome === 'absent' && this.session.hasLostResultsSince(begun) ? 'unknown' : outcome;
  }

  #applyOutcome(
    operationId: string,
    sent: UnresolvedOperation,
    outcome: FinalResult | 'unknown',
  ): FinalResult | 'unknown' {
    const operation = this.#operations.pending(operationId);
    if (isInFlight(operation)) this.#finish(operation, outcome);
    else if (outcome === 'unknown') this.#release(sent);
    else this.#record(operationId, sent, outcome);
    return outcome;
  }

  #enqueue(given: Batch, call: BackendCall | undefined, after: Promise<void> | undefined): PendingOperation {
    const batch = given.writes.length < 2 ? given : { ...given, writes: dropOverwritten(given.writes) };
    const sequence = batch.writes.length === 0 ? 0 : this.sequences.next();
    const operation = newOperation(batch, sequence, call);
    if (sequence > 0) this.#operations.add(batch.operationId, operation);
    if (after === undefined) this.#start(operation);
    else {
      this.#withdrawOnAbort(operation);
      void after.then(() => {
        if (sequence === 0 || this.#operations.get(batch.operationId) === operation) this.#start(operation);
      });
    }
    return operation;
  }

  #start(operation: PendingOperation): void {
    if (needsPreparation(operation)) {
      this.#withdrawOnAbort(operation);
      void this.#sendLarge(operation);
    } else this.#push(operation);
  }

  /**
   * Withdraws the operation when its signal aborts before it is sent. Called only for operations that wait: most are
   * sent in the same turn of the event loop, and a listener for each would cost time.
   */
  #withdrawOnAbort(operation: PendingOperation): void {
    if (operation.isListening) return;
    const signal = operation.call?.signal;
    if (signal === undefined) return;
    operation.isListening = true;
    const withdraw = (): void => {
      if (!operation.isSent) this.#withdraw(operation, signal.reason);
    };
    const end = (): void => signal.removeEventListener('abort', withdraw);
    signal.addEventListener('abort', withdraw, { once: true });
    operation.result.then(end, end);
  }

  #push(operation: PendingOperation): void {
    this.#waiting.push(operation);
    this.#schedule();
  }

  /**
   * Sends an operation that exceeds one request. Large contents are uploaded first; if the other writes still exceed
   * one request, they are staged. The checks of a read-only batch are evaluated in several requests.
   */
  async #sendLarge(operation: PendingOperation): Promise<void> {
    const { batch } = operation;
    const preparation = new AbortController();
    operation.preparation = preparation;
    try {
      // Scanning a large batch takes time, so other work gets a turn of the event loop first.
      await nextTurn();
      throwIfAborted(operation.call);
      if (batch.writes.length === 0) {
        this.#settle(operation, await this.#stagedCommits.check(batch, preparation.signal));
        return;
      }
      const stagedContents = await stageContents(
        this.session,
        this.field,
        batch.writes,
        operation.ownedFields,
        preparation.signal,
      );
      operation.stagedContents = stagedContents;
      if (preparation.signal.aborted) throw preparation.signal.reason;
      const inlineBytes = batch.writes.reduce(
        (sum, write) => sum + (stagedContents.has(write) ? 0 : contentBytesOf(write)),
        0,
      );
      if (operation.cost <= MAX_REQUEST_COST && inlineBytes <= MAX_REQUEST_BYTES) this.#push(operation);
      else await this.#sendStaged(operation, stagedContents, preparation.signal);
    } catch (error) {
      this.#reject(operation, error);
    }
  }

  async #sendStaged(
    operation: PendingOperation,
    stagedContents: ReadonlyMap<Write, StagedContent>,
    signal: AbortSignal,
  ): Promise<void> {
    const { batch } = operation;
    for (let attempt = 1; ; attempt++) {
      // An abort during the last request had no effect, because the operation was sent then.
      throwIfAborted(operation.call);
      const staged = await this.#stagedCommits.stage(batch, stagedContents, attempt, signal);
      if (signal.aborted) {
        if (staged.kind === 'staged') this.#stagedCommits.discard(staged.stagedState.key, staged.isLocked);
        throw signal.reason;
      }
      if (staged.kind === 'conflict') {
        this.#settle(operation, staged);
        return;
      }
      const { version, stagedState, isLocked } = staged;
      operation.isSent = true;
      // The checks of a batch that begins with `clear` are sent with this request. Those of other batches were
      // evaluated during staging, and the script verifies that the state has not changed since.
      const checks = stagedState.replacesAll ? batch.checks : [];
      const request = singleBatchRequest({ ...batch, checks }, { sequence: operation.sequence, version, stagedState });
      const { acknowledged, restore } = this.sequences.acknowledge();
      let text: string;
      try {
        const reply = await this.#runCommit(request, [batch], acknowledged, { holdsLock: isLocked });
        text = reply.results[0] as string;
        this.onGarbage(reply.queuedObjects);
      } catch (error) {
        restore();
        operation.ownedFields.push(stagedState.key);
        throw error;
      }
      const outcome = this.#readOutcome(text, operation);
      if (!isApplied(outcome)) this.#stagedCommits.discard(stagedState.key, isLocked);
      if (!isSuperseded(text)) {
        this.#finish(operation, outcome);
        return;
      }
      // Another write came first: the staged commit was not applied and never will be under this number.
      this.sequences.settle(operation.sequence);
      operation.sequence = this.sequences.next();
      operation.isSent = false;
    }
  }

  #schedule(): void {
    if (this.#isScheduled || this.#requestsInFlight >= MAX_REQUESTS_IN_FLIGHT || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      const group = this.#nextGroup();
      if (group.operations.length > 0) void this.#sendGroup(group);
      this.#schedule();
    });
  }

  /** Fills the next request from the queue. An operation that cannot be encoded fails alone. */
  #nextGroup(): Group {
    const operations: PendingOperation[] = [];
    const request = new CommitRequestWriter(this.#capacity);
    let cost = 0;
    const waiting = this.#waiting.splice(0);
    const isLastSlot = this.#requestsInFlight + 1 >= MAX_REQUESTS_IN_FLIGHT;
    // While the server runs one request, the client encodes the next. Equal requests keep both busy.
    let pending = this.#writesInFlight;
    for (const { sequence } of waiting) if (sequence > 0) pending += 1;
    const share =
      pending < MIN_OPERATIONS_TO_BALANCE
        ? MAX_WRITE_BATCHES
        : Math.min(MAX_WRITE_BATCHES, Math.ceil(pending / MAX_REQUESTS_IN_FLIGHT));
    for (const next of waiting) {
      const first = operations[0];
      const isSameKind = first === undefined || next.kind === first.kind;
      const maxBatches = next.sequence === 0 ? MAX_READ_ONLY_BATCHES : share;
      const isFull =
        operations.length >= maxBatches || request.bytes >= MAX_REQUEST_BYTES || request.pathCount >= MAX_REQUEST_PATHS;
      if (isAborted(next.call)) {
        this.#withdraw(next, next.call?.signal?.reason);
        continue;
      }
      if (isFull || !isSameKind || (cost > 0 && cost + next.cost > this.#batchSize.maxCost)) {
        this.#postpone(next, isLastSlot);
        continue;
      }
      try {
        const { batch, sequence, stagedContents } = next;
        if (sequence === 0) request.addReadOnly(batch);
        else request.add(batch, { sequence, stagedContents });
        operations.push(next);
        cost += next.cost;
      } catch (error) {
        // A batch that does not fit beside others may fit into a request of its own.
        if (error instanceof RangeError && operations.length > 0) this.#postpone(next, isLastSlot);
        else this.#withdraw(next, error);
      }
    }
    this.#capacity = request.suggestedCapacity;
    return { operations, request };
  }

  /** Leaves an operation for a later request. If no request can be sent soon, an abort must withdraw it immediately. */
  #postpone(operation: PendingOperation, isLastSlot: boolean): void {
    this.#waiting.push(operation);
    if (isLastSlot) this.#withdrawOnAbort(operation);
  }

  async #sendGroup({ operations, request }: Group): Promise<void> {
    for (const operation of operations) operation.isSent = true;
    this.#requestsInFlight += 1;
    const writes = operations[0]?.kind === 'check' ? 0 : operations.length;
    this.#writesInFlight += writes;
    try {
      await this.#sendRequest(operations, request);
    } catch (error) {
      if (operations.length > 1 && isDamage(error)) await this.#sendEach(operations);
      else for (const operation of operations) this.#reject(operation, error);
    } finally {
      this.#requestsInFlight -= 1;
      this.#writesInFlight -= writes;
      this.#schedule();
    }
  }

  /**
   * Sends the operations of a failed group again, each in a request of its own, so that only those that meet the damage
   * fail. They keep their numbers, so none is applied twice.
   */
  async #sendEach(operations: readonly PendingOperation[]): Promise<void> {
    for (const operation of operations) {
      const { batch, sequence, stagedContents } = operation;
      const request = new CommitRequestWriter(this.#capacity);
      try {
        if (sequence === 0) request.addReadOnly(batch);
        else request.add(batch, { sequence, stagedContents });
        await this.#sendRequest([operation], request);
      } catch (error) {
        this.#reject(operation, error);
      }
    }
  }

  #sendRequest(operations: readonly PendingOperation[], request: CommitRequest): Promise<void> {
    const { kind } = operations[0] as PendingOperation;
    return kind === 'check' ? this.#validate(operations, request) : this.#write(operations, request, kind);
  }

  async #validate(operations: readonly PendingOperation[], request: CommitRequest): Promise<void> {
    const checks = operations.map(({ batch }) => batch.checks);
    const knownState = this.#validatedReads.stateWhereAllHeld(checks);
    const [, counter, state, ...failed] = await this.session.run(scripts.validate, this.field, [knownState ?? ''], {
      body: request,
    });
    const version = wholeNumber(replyText(counter), 'a counter');
    if (!Buffer.isBuffer(counter) || !Buffer.isBuffer(state)) throw corruptReply('a state');
    const conflicts = new Map(failed.map((text) => readConflict(replyText(text))));
    const currentState = Buffer.concat([counter, state]);
    if (failed.length === 0 && knownState?.equals(currentState) !== true)
      this.#validatedReads.add(currentState, checks);
    operations.forEach((operation, i) => {
      this.#settle(operation, conflicts.get(i) ?? { kind: 'ok', version });
    });
  }

  async #write(operations: readonly PendingOperation[], request: CommitRequest, kind: BatchKind): Promise<void> {
    const { acknowledged, restore } = this.sequences.acknowledge();
    try {
      const batches = operations.map(({ batch }) => batch);
      const options = { onlyRemoves: kind === 'remove' };
      const { queuedObjects, writtenReferences, results } = await this.#runCommit(
        request,
        batches,
        acknowledged,
        options,
      );
      const outcomes = operations.map((operation, i) => this.#readOutcome(results[i] as string, operation));
      operations.forEach((operation, i) => {
        this.#finish(operation, outcomes[i] as FinalResult | 'unknown');
      });
      this.onGarbage(queuedObjects);
      this.#batchSize.adapt(appliedCost(operations, results), writtenReferences);
    } catch (error) {
      restore();
      throw error;
    }
  }

  /** Runs the commit script, then `whenDelivered` for the entry that it has added to the change stream. */
  async #runCommit(
    request: CommitRequest,
    batches: readonly Batch[],
    acknowledged: Acknowledgement,
    { holdsLock = false, onlyRemoves = false }: Pick<RunOptions, 'holdsLock' | 'onlyRemoves'>,
  ): Promise<CommitReply> {
    const { session } = this;
    const announcements = (): Buffer => writeAnnouncements(batches.map(({ changes }) => changes ?? []));
    const { fitsFastPath } = request;
    const options = {
      body: request,
      fitsFastPath,
      acknowledged,
      holdsLock,
      onlyRemoves,
      announcements,
      isChange: true,
    };
    const reply = readCommitReply(
      await session.run(scripts.commit, this.field, request.chunks, options),
      batches.length,
    );
    if (reply.entry === undefined) session.isWatched &&= this.field !== MAIN_STATE;
    else await this.whenDelivered(reply.entry);
    return reply;
  }

  #finish(operation: PendingOperation, outcome: FinalResult | 'unknown'): void {
    if (outcome === 'unknown') {
      this.#release(operation);
      this.#fail(operation, abandonedError(true));
      return;
    }
    if (outcome === 'absent') operation.preparation?.abort(abandonedError());
    this.#settle(operation, outcome);
  }

  #settle(operation: PendingOperation, result: FinalResult): void {
    const recorded = this.#record(operation.batch.operationId, operation, result);
    if (recorded === 'absent') rejectOperation(operation, abandonedError());
    else operation.settle(recorded);
  }

  /** Records a result. If the operation already has one, returns that instead: the first result stands. */
  #record(operationId: string, sent: UnresolvedOperation, result: FinalResult): FinalResult {
    if (isApplied(result)) this.sequences.settle(sent.sequence);
    else this.#release(sent);
    return sent.sequence > 0 ? this.#operations.end(operationId, result) : result;
  }

  /**
   * Frees the number and the fields of an operation that was not applied, or whose outcome cannot be learned any more.
   */
  #release({ sequence, ownedFields }: UnresolvedOperation): void {
    this.sequences.settle(sequence);
    this.#discardFields(ownedFields);
  }

  #discardFields(fields: string[]): void {
    for (const key of fields.splice(0)) this.#stagedCommits.discard(key, false);
  }

  #reject(operation: PendingOperation, error: unknown): void {
    // A request that never left this client, or that the server refused, will not be applied.
    const isUnsent = !operation.isSent || (isWithoutReply(error) && !error.mayHaveHappened);
    if (isUnsent) this.#withdraw(operation, error);
    else this.#fail(operation, error);
  }

  /** Rejects an operation that was sent and whose outcome is not known. */
  #fail(operation: PendingOperation, error: unknown): void {
    const { operationId } = operation.batch;
    this.sequences.failed(operation.sequence);
    if (this.#operations.get(operationId) === operation) this.#operations.set(operationId, unresolvedPartOf(operation));
    // The operation is read-only, or its outcome has been recorded in the meantime.
    else this.#discardFields(operation.ownedFields);
    rejectOperation(operation, error);
  }

  /** Rejects an operation that will certainly not be applied, and frees its number and its fields. */
  #withdraw(operation: PendingOperation, error: unknown): void {
    operation.preparation?.abort(error);
    const at = this.#waiting.indexOf(operation);
    if (at >= 0) this.#waiting.splice(at, 1);
    this.sequences.discard(operation.sequence);
    this.#discardFields(operation.ownedFields);
    if (operation.sequence > 0) this.#operations.end(operation.batch.operationId, 'absent');
    rejectOperation(operation, error);
  }
}
