import type { Backend, Batch, Check, CommitResult, Want, Write } from '../backend.js';
import { FsError, isStorageError, OutcomeUnknownError, StorageError } from '../errors.js';
import type { Capabilities, Checkpoint } from '../file-system.js';
import { Family } from '../tree/tree.js';
import { checkInteger, checkOptions } from './arguments.js';
import { bounded, systemTimer, type Timer, unlessAborted } from './calls.js';
import type { Context } from './context.js';
import type { Cursor } from './cursor.js';
import { randomId, systemRandom } from './defaults.js';
import type { Executor } from './executor.js';
import { FactStore } from './fact-store.js';
import { Hub } from './hub.js';
import { Session } from './session.js';
import { slicesOf } from './slices.js';
import { Missing } from './source.js';
import { TransactionExecutor } from './transaction-executor.js';
import { limitError, type View } from './view.js';

export interface RemoteOptions {
  /** Milliseconds after which an unanswered request is given up. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** How often a request is sent again after a failure that may pass. Default 3. */
  readonly retries?: number | undefined;
  /** Epoch milliseconds. Default: the system's clock. */
  readonly clock?: (() => number) | undefined;
  /** A whole number from 0 to `below` - 1, for ids and pauses. Default: the platform's random numbers. */
  readonly random?: ((below: number) => number) | undefined;
  /** For deadlines and pauses. Default: the system's timers. */
  readonly timer?: Timer | undefined;
}

/** Runs of one operation against other writers before it is given up. */
const MAX_ATTEMPTS = 64;
/** Between two attempts. */
const MAX_PAUSE_MS = 200;
/** Runs of one transaction against other writers, which are longer. */
const MAX_TRANSACTIONS = 16;
/** Loads of one run: an operation that still misses something by then asks for what cannot be had. */
const MAX_LOADS = 10_000;
/** How long an aborted or failed commit may take to find out what became of it. */
const SETTLE_MS = 800;
/** Bytes that a walk loads ahead in one request. */
const TREE_BUDGET = 4 * 2 ** 20;
const ROOT: Want = { kind: 'path', path: '/', content: 0 };

/**
 * Operations over a backend that is far away. An operation runs on a sparse tree; where it touches what is not known
 * that is loaded, and it runs again; then its writes go as one batch with everything it relied on as checks, and on a
 * conflict all begins anew. What one load brought in is of one moment; whatever else was used is confirmed.
 */
export class RemoteExecutor implements Executor {
  readonly kind = 'async';
  readonly hub = new Hub({ remembersLinks: true });
  readonly capabilities: Capabilities;
  readonly facts = new FactStore();
  readonly family: Family;
  readonly #backend: Backend;
  readonly #options: RemoteOptions;
  readonly #timer: Timer;
  readonly #random: (below: number) => number;
  readonly #timeoutMs: number;
  readonly #retries: number;
  #loads = 0;

  constructor(backend: Backend, options: RemoteOptions = {}) {
    const given = checkOptions(options, ['timeoutMs', 'retries', 'clock', 'random', 'timer'], 'asyncStorage');
    this.#backend = backend;
    this.#options = options;
    this.#timer = given.timer ?? systemTimer;
    this.#timeoutMs = given.timeoutMs === undefined ? 30_000 : checkInteger(given.timeoutMs, 'timeoutMs', 1);
    this.#retries = given.retries === undefined ? 3 : checkInteger(given.retries, 'retries');
    this.#random = given.random ?? systemRandom;
    this.family = new Family(() => randomId(this.#random));
    this.capabilities = Object.freeze({ ...backend.capabilities });
  }

  async run<R>(context: Context, operation: (view: View) => R, signal?: AbortSignal): Promise<R> {
    signal?.throwIfAborted();
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const session = new Session(this, context, true);
      const result = await this.attempt(session, () => operation(session.view), signal);
      if (await this.settle(session, signal)) {
        if (result.ok) return result.value;
        throw result.error;
      }
      await this.#pause(attempt, signal);
    }
    throw gaveUp(MAX_ATTEMPTS);
  }

  /** Runs code over a session's view until nothing is missing. A failed run has no effect but what it relied on. */
  async attempt<R>(
    session: Session,
    work: () => R,
    signal?: AbortSignal,
  ): Promise<{ ok: true; value: R } | { ok: false; error: unknown }> {
    for (let loads = 0; loads < MAX_LOADS; loads++) {
      const mark = session.mark();
      try {
        return { ok: true, value: work() };
      } catch (error) {
        session.undo(mark, error instanceof Missing);
        if (!(error instanceof Missing)) return { ok: false, error };
        await this.load(error.wants, signal);
        if (session.isSingle) session.restart();
        else session.checkProgress(error.wants);
      }
    }
    throw new StorageError('corrupt', 'The storage keeps answering with something other than what was asked for');
  }

  /** Makes a session's effects real, or finds that what it relied on no longer holds: then it has to run again. */
  async settle(session: Session, signal?: AbortSignal): Promise<boolean> {
    const { checks, writes } = session.recorder;
    if (writes.length === 0 && session.isOfOneMoment) return true;
    const batch: Batch = {
      operationId: this.newOperationId(),
      checks: dedupe(checks),
      writes,
      limits: session.context.limits,
    };
    const result = await this.#commit(batch, signal);
    if (result.kind === 'limit') throw overLimit(result, writes);
    if (result.kind === 'conflict') {
      this.facts.clear();
      return false;
    }
    if (writes.length > 0) this.facts.apply(writes, result.version);
    if (session.changes.length > 0) this.hub.publish(session.changes, session.tree);
    return true;
  }

  newOperationId(): string {
    return randomId(this.#random);
  }

  get loads(): number {
    return this.#loads;
  }

  async load(asked: readonly Want[], signal?: AbortSignal): Promise<void> {
    // Before anything is known the root has no id yet: only paths can be asked for.
    const wants = this.facts.root === undefined ? asked.map((want) => (want.kind === 'path' ? want : ROOT)) : asked;
    // Numbered when it is sent: what it brings is from then or later.
    this.#loads += 1;
    const load = this.#loads;
    const answers = await this.#retrying(signal, (stop) => this.#backend.load(wants, { signal: stop }));
    const pages: Want[] = [];
    wants.forEach((want, i) => {
      const facts = answers[i];
      if (facts === undefined)
        throw new StorageError('corrupt', 'The storage answered fewer facts than were asked for');
      this.facts.add(want, facts, load);
      if (facts.kind === 'list' && want.kind === 'list' && !facts.complete)
        pages.push({ ...want, after: facts.names.at(-1) });
    });
    if (pages.length > 0) await this.load(pages, signal);
  }

  async *iterate<T>(
    context: Context,
    start: (view: View) => Cursor<T>,
    signal?: AbortSignal,
  ): AsyncIterableIterator<T> {
    signal?.throwIfAborted();
    const session = new Session(this, context);
    yield* this.#steps(session, start, signal);
  }

  async collect<T>(context: Context, start: (view: View) => Cursor<T>, signal?: AbortSignal): Promise<T[]> {
    signal?.throwIfAborted();
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const session = new Session(this, context);
      const items = await this.#all(session, start, signal);
      if (items !== undefined && (await this.settle(session, signal))) return items;
      await this.#pause(attempt, signal);
    }
    throw gaveUp(MAX_ATTEMPTS);
  }

  /** All items of a cursor, or undefined where another writer came in between. */
  async #all<T>(
    session: Session,
    start: (view: View) => Cursor<T>,
    signal: AbortSignal | undefined,
  ): Promise<T[] | undefined> {
    const items: T[] = [];
    try {
      for await (const item of this.#steps(session, start, signal)) items.push(item);
      return items;
    } catch (error) {
      if (!isStorageError(error, 'conflict')) throw error;
      this.facts.clear();
      return undefined;
    }
  }

  async *#steps<T>(
    session: Session,
    start: (view: View) => Cursor<T>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<T, void, undefined> {
    if (this.facts.root === undefined) await this.load([ROOT], signal);
    session.restart();
    yield* this.items(session, start, signal);
  }

  /** A cursor's items over a session, with what it misses loaded a subtree at a time. */
  async *items<T>(
    session: Session,
    start: (view: View) => Cursor<T>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<T, void, undefined> {
    const cursor = start(session.view);
    const next = async (): Promise<T | undefined> => {
      for (;;) {
        try {
          return cursor.next();
        } catch (error) {
          if (!(error instanceof Missing)) throw error;
          await this.load(error.wants.map(widen), signal);
          session.checkProgress(error.wants);
        }
      }
    };
    yield* slicesOf(next, signal);
  }

  async checkpoint(context: Context, name: string | undefined, signal?: AbortSignal): Promise<Checkpoint> {
    const references = this.#references('checkpoint');
    const checkpoint: Checkpoint = Object.freeze({
      id: this.newOperationId(),
      ...(name === undefined ? {} : { name }),
      createdAt: context.clock(),
    });
    const max = context.limits.maxCheckpoints;
    const answer = await this.#retrying(signal, (stop) =>
      references.create(checkpoint.id, name, checkpoint.createdAt, max, { signal: stop }),
    );
    if (answer === 'exists')
      throw new FsError('EEXIST', { syscall: 'checkpoint', path: name, hint: 'A checkpoint has this name' });
    if (answer === 'limit')
      throw limitError(
        'ENOSPC',
        'maxCheckpoints',
        max as number,
        (max as number) + 1,
        max as number,
        'checkpoint',
        name ?? '',
      );
    return checkpoint;
  }

  async checkpoints(signal?: AbortSignal): Promise<Checkpoint[]> {
    const references = this.#references('checkpoints');
    const list = await this.#retrying(signal, (stop) => references.list({ signal: stop }));
    return list.map(({ id, name, createdAt }) =>
      Object.freeze({ id, ...(name === undefined ? {} : { name }), createdAt }),
    );
  }

  async rollback(context: Context, checkpoint: Checkpoint | string, signal?: AbortSignal): Promise<void> {
    const references = this.#references('rollback');
    const id = await this.#idOf(checkpoint, 'rollback', signal);
    const answer = await this.#once(signal, (stop) => references.restore(id, context.limits, { signal: stop }));
    if (answer === 'missing') throw noCheckpoint('rollback', id);
    if (answer !== 'ok') throw overLimit(answer, []);
    this.facts.clear();
    this.hub.reset();
  }

  async drop(checkpoint: Checkpoint | string, signal?: AbortSignal): Promise<void> {
    const references = this.#references('drop');
    const id = await this.#idOf(checkpoint, 'drop', signal);
    if (!(await this.#once(signal, (stop) => references.drop(id, { signal: stop })))) throw noCheckpoint('drop', id);
  }

  async compare<T>(): Promise<T[]> {
    throw new FsError('ENOTSUP', {
      syscall: 'diff',
      hint: 'Checkpoints of this storage cannot be compared in place yet: compare two snapshots of it',
    });
  }

  async fork(signal?: AbortSignal): Promise<RemoteExecutor> {
    const { fork } = this.#backend;
    if (fork === undefined)
      throw new FsError('ENOTSUP', {
        syscall: 'fork',
        hint: 'This storage cannot fork: restore a snapshot into another one',
      });
    const backend = await this.#once(signal, (stop) => fork.call(this.#backend, { signal: stop }));
    return new RemoteExecutor(backend, this.#options);
  }

  async transaction<T>(context: Context, work: (executor: Executor) => Promise<T>, signal?: AbortSignal): Promise<T> {
    for (let attempt = 0; attempt < MAX_TRANSACTIONS; attempt++) {
      signal?.throwIfAborted();
      const branch = new TransactionExecutor(this, new Session(this, context), signal);
      if (this.facts.root === undefined) await this.load([ROOT], signal);
      branch.session.restart();
      const begun = work(branch).finally(() => branch.settled());
      const outcome = await unlessAborted(signal, begun).then(
        (value) => ({ ok: true as const, value }),
        (error: unknown) => ({ ok: false as const, error }),
      );
      if (!outcome.ok) {
        // What made it fail may have been a mixture of two moments: then it deserves another run.
        branch.session.recorder.writes.length = 0;
        branch.session.changes.length = 0;
      }
      signal?.throwIfAborted();
      if (await this.settle(branch.session, signal)) {
        if (outcome.ok) return outcome.value;
        throw outcome.error;
      }
      await this.#pause(attempt, signal);
    }
    throw gaveUp(MAX_TRANSACTIONS);
  }

  async close(): Promise<void> {
    await this.#backend.close();
  }

  // ── requests ───────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Sends a batch until it is known what became of it. An abort before the batch was applied rejects with the signal's
   * reason; once it was applied the call has succeeded, abort or not.
   */
  async #commit(batch: Batch, signal: AbortSignal | undefined): Promise<CommitResult> {
    let sent = batch;
    for (let attempt = 0; ; attempt++) {
      try {
        return await bounded(this.#timer, this.#timeoutMs, signal, (stop) =>
          this.#backend.commit(sent, { signal: stop }),
        );
      } catch (error) {
        if (signal?.aborted !== true && !mayHaveHappened(error)) throw error;
        if (sent.writes.length > 0) {
          const outcome = await this.#outcome(sent.operationId, error, signal);
          if (outcome !== 'absent') return outcome;
          // It never happened and never will under this id: it may go again under another.
          sent = { ...sent, operationId: this.newOperationId() };
        }
        signal?.throwIfAborted();
        if (attempt >= this.#retries) throw error;
      }
      await this.#pause(attempt + 1, signal);
    }
  }

  /** @throws OutcomeUnknownError where the storage cannot say */
  async #outcome(
    operationId: string,
    cause: unknown,
    signal: AbortSignal | undefined,
  ): Promise<CommitResult | 'absent'> {
    const tries = signal?.aborted === true ? 1 : this.#retries + 1;
    const ms = signal?.aborted === true ? SETTLE_MS : this.#timeoutMs;
    for (let attempt = 0; attempt < tries; attempt++) {
      try {
        const outcome = await bounded(this.#timer, ms, undefined, (stop) =>
          this.#backend.outcome(operationId, { signal: stop }),
        );
        if (outcome === 'unknown') break;
        return outcome;
      } catch (error) {
        if (!isStorageError(error)) throw error;
        await this.#pause(attempt, undefined);
      }
    }
    throw new OutcomeUnknownError(operationId, cause);
  }

  /** For requests that change nothing. */
  async #retrying<T>(signal: AbortSignal | undefined, call: (stop: AbortSignal) => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await bounded(this.#timer, this.#timeoutMs, signal, call);
      } catch (error) {
        if (signal?.aborted === true) throw signal.reason;
        if (!isStorageError(error) || !error.retryable || attempt >= this.#retries) throw error;
        await this.#pause(attempt, signal);
      }
    }
  }

  /** For requests that change something and are not recorded: a lost answer is not guessed. */
  async #once<T>(signal: AbortSignal | undefined, call: (stop: AbortSignal) => Promise<T>): Promise<T> {
    try {
      return await bounded(this.#timer, this.#timeoutMs, signal, call);
    } catch (error) {
      if (signal?.aborted === true || !mayHaveHappened(error)) throw error;
      throw new OutcomeUnknownError('', error);
    }
  }

  async #pause(attempt: number, signal: AbortSignal | undefined): Promise<void> {
    const ms = Math.min(MAX_PAUSE_MS, 5 * 2 ** Math.min(attempt, 8)) * (0.5 + this.#random(1000) / 2000);
    await this.#timer.sleep(attempt === 0 ? 0 : ms, signal ?? new AbortController().signal);
    signal?.throwIfAborted();
  }

  #references(syscall: string): NonNullable<Backend['references']> {
    const { references } = this.#backend;
    if (references === undefined)
      throw new FsError('ENOTSUP', { syscall, hint: 'This storage keeps no checkpoints: use a snapshot' });
    return references;
  }

  async #idOf(checkpoint: Checkpoint | string, syscall: string, signal: AbortSignal | undefined): Promise<string> {
    const wanted = typeof checkpoint === 'string' ? checkpoint : checkpoint?.id;
    if (typeof wanted !== 'string') throw new TypeError('A checkpoint, its id or its name is needed');
    if (typeof checkpoint !== 'string') return wanted;
    const known = (await this.checkpoints(signal)).find((one) => one.id === wanted || one.name === wanted);
    if (known === undefined) throw noCheckpoint(syscall, wanted);
    return known.id;
  }
}

/** A listing that a walk needs: with what is beneath it, as far as one request carries. */
function widen(want: Want): Want {
  return want.kind === 'list' && want.after === undefined
    ? { kind: 'tree', at: want.at, budget: TREE_BUDGET, contents: false }
    : want;
}

function mayHaveHappened(error: unknown): boolean {
  return (
    isStorageError(error) &&
    (error.kind === 'unavailable' || error.kind === 'timeout') &&
    !(error instanceof OutcomeUnknownError)
  );
}

function dedupe(checks: readonly Check[]): Check[] {
  const seen = new Map<string, Check>();
  for (const check of checks) {
    const version = check.kind === 'empty' ? '' : check.version;
    seen.set(`${check.kind} ${check.id} ${version} ${check.path}`, check);
  }
  return [...seen.values()];
}

function overLimit(result: Extract<CommitResult, { kind: 'limit' }>, writes: readonly Write[]): FsError {
  const last = writes.find((write) => 'path' in write && write.kind !== 'touch');
  const path = last !== undefined && 'path' in last ? last.path : '/';
  const code = result.limit === 'maxFileSize' ? 'EFBIG' : 'ENOSPC';
  return limitError(code, result.limit, result.used, result.requested, result.allowed, 'write', path);
}

function noCheckpoint(syscall: string, wanted: string): FsError {
  return new FsError('ENOENT', {
    syscall,
    path: wanted,
    hint: 'This filesystem holds no such checkpoint: it was dropped, or belongs to another one',
  });
}

function gaveUp(attempts: number): StorageError {
  return new StorageError('conflict', `The operation lost ${attempts} races against other writers and was given up`);
}
