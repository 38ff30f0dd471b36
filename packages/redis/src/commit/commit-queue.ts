import { setImmediate as nextTurn } from 'node:timers/promises';
import { type BackendCall, type Batch, type CommitResult, StorageError, type Write } from '@scratchfs/core';
import { isAborted, throwIfAborted } from '../connection/abort.js';
import { type Session, type Terms, textOf } from '../connection/client-session.js';
import { writeAnnouncements } from '../format/announcements.js';
import { type Done, isOvertaken, readConflict, readDone, readOutcome } from '../format/reply/commit-reply.js';
import type { Staged } from '../format/request/batch.js';
import { type Request, RequestWriter } from '../format/request/commit-request.js';
import { scripts } from '../lua/scripts.js';
import { MAIN } from '../shared-resources.js';
import { Pace, workDone } from './adaptive-batch-size.js';
import { MAX_BYTES, MAX_WORK, workOf } from './batch-cost.js';
import { bytesOf, stageContents } from './content-staging.js';
import { outcomeOf } from './idempotent-command.js';
import { withoutOverwritten } from './overwritten-writes.js';
import { RememberedOperations } from './recent-operations.js';
import type { Acknowledged, Sequences } from './sequences.js';
import { Prepared, requestOf } from './staged-commits.js';
import { Held } from './validated-reads.js';

/** Operations of one request: of those that only look, and of others. */
const MAX_LOOKS = 128;
const MAX_GROUP = 48;
/** Names on their ways: there are few, but where paths are deep and share nothing. */
const MAX_NAMES = 4_096;
/** From so many others on they are shared out evenly among the requests. */
const SHARED_OUT = 32;
/** Requests under way: what comes meanwhile gathers for the next one. */
const MAX_UNDER_WAY = 2;

/** What became of an operation, as far as it is known here. */
type Settled = CommitResult | 'absent';

/** What is kept of an operation whose answer did not come. */
interface Unanswered {
  /** 0 for one that changes nothing and need not be remembered. */
  readonly sequence: number;
  /** By the system's clock. */
  readonly begun: number;
  /** Fields of the head that were made for it: given back where it is not applied. */
  readonly lent: string[];
}

type Kind = 'looks' | 'removes' | 'changes';

interface Operation extends Unanswered {
  readonly batch: Batch;
  readonly kind: Kind;
  readonly work: number;
  sequence: number;
  readonly answer: Promise<CommitResult>;
  readonly settle: (result: CommitResult) => void;
  readonly fail: (error: unknown) => void;
  readonly call: BackendCall | undefined;
  isSent: boolean;
  /** Ends what is sent ahead. */
  stop: AbortController | undefined;
  /** Whether an abort is heard of at once. */
  isListening: boolean;
  staged?: ReadonlyMap<Write, Staged>;
}

/**
 * Batches on their way. Those of one turn of the event loop share a request. Each has a number of its own, under which
 * the server remembers its result until this client has it; a number below the lowest that is not settled never comes
 * again. So a request may arrive twice, or late, and nothing is applied twice.
 */
export class Commits {
  readonly #waiting: Operation[] = [];
  /** Of those whose answer did not come what they brought is let go: who wants to know asks for it. */
  readonly #operations = new RememberedOperations<Operation | Unanswered, Settled>(hasNotEnded);
  readonly #prepared: Prepared;
  readonly #pace = new Pace();
  readonly #held = new Held();
  #underWay = 0;
  /** Operations of the requests under way, but for those that only look. */
  #sent = 0;
  #isScheduled = false;
  /** Bytes that the next request will have room for. */
  #usual: number | undefined;

  constructor(
    readonly session: Session,
    readonly sequences: Sequences,
    readonly field: string,
    /** Told how many objects wait to be freed. */
    readonly onGarbage: (waiting: number) => void,
    /** Given the number of what watchers are told of a request; its operations have ended when they were. */
    readonly onTold: (entry: number) => Promise<void> | undefined,
  ) {
    this.#prepared = new Prepared(session, sequences, field, onGarbage);
  }

  /** @param after is waited for before the batch is sent; until then it can be withdrawn. */
  commit(batch: Batch, call: BackendCall | undefined, after?: Promise<void>): Promise<CommitResult> {
    // What only looks may do so again.
    const known = batch.writes.length === 0 ? undefined : this.#operations.get(batch.operationId);
    return known === undefined ? this.#enqueue(batch, call, after).answer : this.#again(known);
  }

  /** For one that has come before. */
  async #again(known: Operation | Unanswered | Settled): Promise<CommitResult> {
    if (known === 'absent') throw new StorageError('unavailable', 'The operation was given up before it was sent');
    if (!hasNotEnded(known)) return known;
    if (isUnderWay(known)) return known.answer;
    throw new StorageError('unavailable', 'The operation was sent before, and its answer did not come');
  }

  /** What became of an operation of this client. */
  async outcome(operationId: string): Promise<Settled | 'unknown'> {
    for (;;) {
      const known = this.#operations.result(operationId);
      if (known !== undefined) return known;
      const sent = this.#sentAs(operationId);
      if (sent === undefined) return this.#neverSent(operationId);
      const text = await outcomeOf(this.session, this.sequences, this.field, sent.sequence);
      // Meanwhile it may have been answered, or have gone on under another number.
      if (this.#sentAs(operationId)?.sequence === sent.sequence)
        return this.#learn(operationId, sent, this.#read(text, sent));
    }
  }

  /** One that was sent, and was not answered. */
  #sentAs(operationId: string): Unanswered | undefined {
    const operation = this.#operations.open(operationId);
    if (!isUnderWay(operation)) return operation;
    return operation.isSent ? keptOf(operation) : undefined;
  }

  /** Of one that nobody knows it can be said only while nothing has been forgotten. */
  #neverSent(operationId: string): 'absent' | 'unknown' {
    const operation = this.#operations.open(operationId);
    if (operation === undefined && this.#operations.isIncomplete) return 'unknown';
    if (isUnderWay(operation)) this.#drop(operation, givenUp());
    this.#operations.end(operationId, 'absent');
    return 'absent';
  }

  /** What an answer says. Where results have been forgotten nobody knows that it did not happen. */
  #read(text: string, { begun }: Unanswered): Settled | 'unknown' {
    const outcome = readOutcome(text);
    return outcome === 'absent' && this.session.hasForgotten(begun) ? 'unknown' : outcome;
  }

  /** Takes what the server has answered. */
  #learn(operationId: string, sent: Unanswered, outcome: Settled | 'unknown'): Settled | 'unknown' {
    const operation = this.#operations.open(operationId);
    if (isUnderWay(operation)) this.#answered(operation, outcome);
    else if (outcome === 'unknown') this.#giveUp(sent);
    else this.#ended(operationId, sent, outcome);
    return outcome;
  }

  #enqueue(given: Batch, call: BackendCall | undefined, after: Promise<void> | undefined): Operation {
    const batch = given.writes.length < 2 ? given : { ...given, writes: withoutOverwritten(given.writes) };
    let settle: Operation['settle'] = () => {};
    let fail: Operation['fail'] = () => {};
    const answer = new Promise<CommitResult>((resolve, reject) => {
      settle = resolve;
      fail = reject;
    });
    const sequence = batch.writes.length === 0 ? 0 : this.sequences.next();
    const work = workOf(batch);
    const operation: Operation = {
      batch,
      kind: kindOf(batch),
      work,
      sequence,
      begun: Date.now(),
      lent: [],
      answer,
      settle,
      fail,
      call,
      isSent: false,
      stop: undefined,
      isListening: false,
    };
    if (sequence > 0) this.#operations.add(batch.operationId, operation);
    if (after === undefined) this.#begin(operation);
    else {
      this.#listen(operation);
      void after.then(() => {
        if (sequence === 0 || this.#operations.get(batch.operationId) === operation) this.#begin(operation);
      });
    }
    return operation;
  }

  #begin(operation: Operation): void {
    if (isLarge(operation)) {
      this.#listen(operation);
      void this.#sendLarge(operation);
    } else this.#wait(operation);
  }

  /** As long as it is not sent an operation can be withdrawn. Most are sent before anybody could abort them. */
  #listen(operation: Operation): void {
    if (operation.isListening) return;
    const signal = operation.call?.signal;
    if (signal === undefined) return;
    operation.isListening = true;
    const withdraw = (): void => {
      if (!operation.isSent) this.#drop(operation, signal.reason);
    };
    const end = (): void => signal.removeEventListener('abort', withdraw);
    signal.addEventListener('abort', withdraw, { once: true });
    operation.answer.then(end, end);
  }

  #wait(operation: Operation): void {
    this.#waiting.push(operation);
    this.#schedule();
  }

  /** Large contents go ahead, and so do writes that are too many for one request. */
  async #sendLarge(operation: Operation): Promise<void> {
    const { batch } = operation;
    const stop = new AbortController();
    operation.stop = stop;
    try {
      // To look through a large batch takes its time: others have their turn before and after.
      await nextTurn();
      throwIfAborted(operation.call);
      if (batch.writes.length === 0) {
        this.#settle(operation, await this.#prepared.check(batch, stop.signal));
        return;
      }
      const staged = await stageContents(this.session, this.field, batch.writes, operation.lent, stop.signal);
      operation.staged = staged;
      if (stop.signal.aborted) throw stop.signal.reason;
      const inline = batch.writes.reduce((sum, write) => sum + (staged.has(write) ? 0 : bytesOf(write)), 0);
      if (operation.work <= MAX_WORK && inline <= MAX_BYTES) this.#wait(operation);
      else await this.#sendPrepared(operation, staged, stop.signal);
    } catch (error) {
      if (operation.isSent) this.#fail(operation, error);
      else this.#drop(operation, error);
    }
  }

  async #sendPrepared(operation: Operation, staged: ReadonlyMap<Write, Staged>, signal: AbortSignal): Promise<void> {
    const { batch } = operation;
    for (let race = 1; ; race++) {
      // One that came while the last step was on its way has not been heard.
      throwIfAborted(operation.call);
      const made = await this.#prepared.make(batch, staged, race, signal);
      if (signal.aborted) {
        if (made.kind === 'made') this.#prepared.giveBack(made.prepared.key, made.isLocked);
        throw signal.reason;
      }
      if (made.kind === 'conflict') {
        this.#settle(operation, made);
        return;
      }
      const { version, prepared, isLocked } = made;
      operation.isSent = true;
      // What it relied on was looked at before; the state must still be the same.
      const checks = prepared.replacesAll ? batch.checks : [];
      const request = requestOf({ ...batch, checks }, { sequence: operation.sequence, version, prepared });
      const { acknowledged, restore } = this.sequences.acknowledge();
      let text: string;
      try {
        const done = await this.#run(request, [batch], acknowledged, { holdsLock: isLocked });
        text = done.results[0] as string;
        this.onGarbage(done.waiting);
      } catch (error) {
        restore();
        operation.lent.push(prepared.key);
        throw error;
      }
      const outcome = this.#read(text, operation);
      if (!isApplied(outcome)) this.#prepared.giveBack(prepared.key, isLocked);
      if (!isOvertaken(text)) {
        this.#answered(operation, outcome);
        return;
      }
      // Somebody wrote meanwhile: nothing has happened, and nothing will under this number.
      this.sequences.settle(operation.sequence);
      operation.sequence = this.sequences.next();
      operation.isSent = false;
    }
  }

  #schedule(): void {
    if (this.#isScheduled || this.#underWay >= MAX_UNDER_WAY || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      const group = this.#nextGroup();
      if (group.operations.length > 0) void this.#send(group.operations, group.request);
      this.#schedule();
    });
  }

  /** As many operations as one request may have. One that cannot be written down fails alone. */
  #nextGroup(): { readonly operations: Operation[]; readonly request: Request } {
    const operations: Operation[] = [];
    const request = new RequestWriter(this.#usual);
    let work = 0;
    const waiting = this.#waiting.splice(0);
    // While the server has one request, the client makes the other.
    const isLast = this.#underWay + 1 >= MAX_UNDER_WAY;
    let all = this.#sent;
    for (const { sequence } of waiting) if (sequence > 0) all += 1;
    const share = all < SHARED_OUT ? MAX_GROUP : Math.min(MAX_GROUP, Math.ceil(all / MAX_UNDER_WAY));
    for (const next of waiting) {
      const first = operations[0];
      const isOfAKind = first === undefined || next.kind === first.kind;
      const most = next.sequence === 0 ? MAX_LOOKS : share;
      const isFull = operations.length >= most || request.bytes >= MAX_BYTES || request.names >= MAX_NAMES;
      if (isAborted(next.call)) {
        this.#drop(next, next.call?.signal?.reason);
        continue;
      }
      if (isFull || !isOfAKind || (work > 0 && work + next.work > this.#pace.most)) {
        this.#putOff(next, isLast);
        continue;
      }
      try {
        const { batch, sequence, staged } = next;
        if (sequence === 0) request.addLook(batch);
        else request.add(batch, { sequence, staged });
        operations.push(next);
        work += next.work;
      } catch (error) {
        // What has no room beside others may have it alone.
        if (error instanceof RangeError && operations.length > 0) this.#putOff(next, isLast);
        else this.#drop(next, error);
      }
    }
    this.#usual = request.room;
    return { operations, request };
  }

  /** For another request; where none can be sent before long an abort is heard of meanwhile. */
  #putOff(operation: Operation, isLast: boolean): void {
    this.#waiting.push(operation);
    if (isLast) this.#listen(operation);
  }

  async #send(operations: readonly Operation[], request: Request): Promise<void> {
    for (const operation of operations) operation.isSent = true;
    this.#underWay += 1;
    const { kind } = operations[0] as Operation;
    const sent = kind === 'looks' ? 0 : operations.length;
    this.#sent += sent;
    try {
      if (kind === 'looks') await this.#look(operations, request);
      else await this.#change(operations, request, kind === 'removes');
    } catch (error) {
      for (const operation of operations) this.#fail(operation, error);
    } finally {
      this.#underWay -= 1;
      this.#sent -= sent;
      this.#schedule();
    }
  }

  async #look(operations: readonly Operation[], request: Request): Promise<void> {
    const checks = operations.map(({ batch }) => batch.checks);
    const held = this.#held.stateOf(checks);
    const [, counter, state, ...failed] = await this.session.run(scripts.confirm, this.field, [held ?? ''], {
      body: request,
    });
    const version = Number(textOf(counter));
    const conflicts = new Map(failed.map((text) => readConflict(textOf(text))));
    const now = Buffer.concat([counter as Buffer, state as Buffer]);
    if (failed.length === 0 && held?.equals(now) !== true) this.#held.learn(now, checks);
    operations.forEach((operation, i) => {
      this.#settle(operation, conflicts.get(i) ?? { kind: 'ok', version });
    });
  }

  async #change(operations: readonly Operation[], request: Request, isRemoval: boolean): Promise<void> {
    const { acknowledged, restore } = this.sequences.acknowledge();
    try {
      const batches = operations.map(({ batch }) => batch);
      const { waiting, spent, results } = await this.#run(request, batches, acknowledged, { removes: isRemoval });
      operations.forEach((operation, i) => {
        this.#answered(operation, this.#read(results[i] as string, operation));
      });
      this.onGarbage(waiting);
      this.#pace.learn(workDone(operations, results), spent);
    } catch (error) {
      restore();
      throw error;
    }
  }

  /** The commit script; answers when those who watch here have heard of it. */
  async #run(
    request: Request,
    batches: readonly Batch[],
    acknowledged: Acknowledged,
    { holdsLock = false, removes = false }: Pick<Terms, 'holdsLock' | 'removes'>,
  ): Promise<Done> {
    const { session } = this;
    const news = (): Buffer => writeAnnouncements(batches.map(({ changes }) => changes ?? []));
    const terms = { body: request, isSmall: request.isSmall, acknowledged, holdsLock, removes, news };
    const done = readDone(await session.run(scripts.commit, this.field, request.contents, terms));
    if (done.entry === undefined) session.isWatched &&= this.field !== MAIN;
    else await this.onTold(done.entry);
    return done;
  }

  #answered(operation: Operation, outcome: Settled | 'unknown'): void {
    if (outcome === 'unknown') {
      this.#giveUp(operation);
      this.#fail(operation, givenUp());
      return;
    }
    if (outcome === 'absent') operation.stop?.abort(givenUp());
    this.#settle(operation, outcome);
  }

  #settle(operation: Operation, result: Settled): void {
    const standing = this.#ended(operation.batch.operationId, operation, result);
    if (standing === 'absent') reject(operation, givenUp());
    else operation.settle(standing);
  }

  /** Answers what stands. */
  #ended(operationId: string, sent: Unanswered, result: Settled): Settled {
    if (isApplied(result)) this.sequences.settle(sent.sequence);
    else this.#giveUp(sent);
    return sent.sequence > 0 ? this.#operations.end(operationId, result) : result;
  }

  /** It will not be applied any more. */
  #giveUp({ sequence, lent }: Unanswered): void {
    this.sequences.settle(sequence);
    this.#giveBack(lent);
  }

  #giveBack(lent: string[]): void {
    for (const key of lent.splice(0)) this.#prepared.giveBack(key, false);
  }

  /** For one that was sent, and that nobody can answer yet. */
  #fail(operation: Operation, error: unknown): void {
    const { operationId } = operation.batch;
    this.sequences.failed(operation.sequence);
    if (this.#operations.get(operationId) === operation) this.#operations.set(operationId, keptOf(operation));
    // It has been called absent meanwhile.
    else this.#giveBack(operation.lent);
    reject(operation, error);
  }

  /** For one that was never sent. */
  #drop(operation: Operation, error: unknown): void {
    operation.stop?.abort(error);
    const at = this.#waiting.indexOf(operation);
    if (at >= 0) this.#waiting.splice(at, 1);
    this.sequences.forget(operation.sequence);
    this.#giveBack(operation.lent);
    if (operation.sequence > 0) this.#operations.end(operation.batch.operationId, 'absent');
    reject(operation, error);
  }
}

/**
 * What operations share a request: those that only look need another script, and those that only remove are let through
 * where the server has no memory left.
 */
function kindOf({ writes }: Batch): Kind {
  if (writes.length === 0) return 'looks';
  let removes = false;
  for (const { kind } of writes) {
    if (kind !== 'remove' && kind !== 'touch') return 'changes';
    removes ||= kind === 'remove';
  }
  return removes ? 'removes' : 'changes';
}

/** Nobody may wait for it any more. */
function reject(operation: Operation, error: unknown): void {
  operation.answer.catch(() => {});
  operation.fail(error);
}

function hasNotEnded(one: Operation | Unanswered | Settled): one is Operation | Unanswered {
  return typeof one === 'object' && 'begun' in one;
}

function isUnderWay(operation: Operation | Unanswered | undefined): operation is Operation {
  return operation !== undefined && 'batch' in operation;
}

function keptOf({ sequence, begun, lent }: Unanswered): Unanswered {
  return { sequence, begun, lent };
}

function isApplied(outcome: Settled | 'unknown'): boolean {
  return typeof outcome === 'object' && outcome.kind === 'ok';
}

function givenUp(): StorageError {
  return new StorageError('unavailable', 'The operation was given up before it arrived');
}

/** Whether an operation is more than one request should carry. */
function isLarge({ batch, work }: Operation): boolean {
  if (work > MAX_WORK) return true;
  let bytes = 0;
  for (const write of batch.writes) bytes += bytesOf(write);
  return bytes > MAX_BYTES;
}
