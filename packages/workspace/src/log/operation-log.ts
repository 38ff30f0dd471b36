import { type CallOptions, type FileSystem, isFsError, StorageError, systemClock } from '@scratchfs/core';
import { getMany } from '@scratchfs/core/internal';
import type { AcceptRecord } from '../accept/accept-record.js';
import type { Head } from '../delta/delta-node.js';
import { decodeHead, type EncodedHead, encodeHead } from '../delta/encode.js';
import { applyChanges, changesBetween, withUnchangedNames } from '../delta/head-changes.js';
import { WorkspaceError } from '../errors.js';
import type { Operation, OperationChange } from '../operation.js';
import { createTogether, type StoredTogether } from './create-together.js';
import { describeChanges, summarize } from './describe-changes.js';
import { decodeRecord, encodeRecord, type OperationRecord, seal, unseal } from './operation-record.js';

/** Number of operations after which the head is stored, so that opening usually replays fewer than that. */
const OPERATIONS_PER_HEAD = 100;
/** Maximum number of records that are read in one step. */
const RECORDS_PER_READ = 100;
/** Maximum number of records that are kept in memory. */
const MAX_RECORDS = 256;
/** Time in milliseconds after which a client looks for operations that were deleted before it has seen them. */
const LOOK_AGAIN_MS = 60_000;
/** Maximum number of operations that can be undone. */
const MAX_UNDOABLE = 1_000;

/** State of an attempt after an operation. */
export interface LogState {
  readonly head: Head;
  /** Number of the last operation. */
  readonly last: number;
  /** Operations that undo can take back, oldest first. */
  readonly undoable: readonly number[];
  /** Operations that redo can make again, the next one last. */
  readonly undone: readonly number[];
}

/** An operation that is about to be appended. */
export interface NewOperation {
  readonly actor: string;
  readonly tool: string;
  readonly summary?: string | undefined;
  readonly ok?: boolean | undefined;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly ms: number;
  readonly target?: number | undefined;
  readonly batch?: string | undefined;
  /** Number of the operation that the head was made from. If the log has later ones, nothing is appended. */
  readonly after?: number | undefined;
  readonly accept?: AcceptRecord | undefined;
  /** Set for an operation that changes the disk. Default: how the heads differ. */
  readonly changes?: readonly OperationChange[] | undefined;
}

/**
 * The operations of an attempt. Each is one file, created exclusively under the next number: that number is the
 * compare-and-swap between processes.
 */
export class OperationLog {
  readonly #store: FileSystem;
  readonly #folder: string;
  readonly #attempt: string;
  readonly #tell: (operation: Operation) => void;
  #state: LogState;
  readonly #records = new Map<number, OperationRecord>();
  /** Operation numbers under which this client tried to append batches, by batch id. */
  readonly #batches = new Map<string, number>();
  /** Operation numbers of recent batches in the log, by batch id. */
  readonly #done = new Map<string, number>();
  /** Epoch milliseconds at which no later operation existed. */
  #seenAt = systemClock();

  private constructor(
    store: FileSystem,
    folder: string,
    attempt: string,
    state: LogState,
    tell: (operation: Operation) => void,
  ) {
    this.#store = store;
    this.#folder = folder;
    this.#attempt = attempt;
    this.#state = state;
    this.#tell = tell;
  }

  /**
   * Opens the log of an attempt, which need not exist yet.
   * @param folder folder of the attempt in the store
   * @param empty head of an attempt that does not exist yet
   * @param tell called for each operation that becomes known later
   */
  static async open(
    store: FileSystem,
    folder: string,
    attempt: string,
    empty: Head,
    tell: (operation: Operation) => void = () => {},
  ): Promise<OperationLog> {
    const state = (await readState(store, folder, Number.POSITIVE_INFINITY)) ?? stateOfHead(empty);
    const log = new OperationLog(store, folder, attempt, state, () => {});
    await log.#readAhead();
    await log.catchUp({});
    const opened = new OperationLog(store, folder, attempt, log.#state, tell);
    for (const [id, record] of log.#records) opened.#records.set(id, record);
    return opened;
  }

  get state(): LogState {
    return this.#state;
  }

  /** Stores the head that a new attempt begins with. */
  static async begin(store: FileSystem, folder: string, head: Head): Promise<void> {
    await store.mkdir(`${folder}/state`, { recursive: true });
    await store.mkdir(`${folder}/operations`, { recursive: true });
    await store.writeFile(statePath(folder, 0), seal(encodeState(stateOfHead(head))));
  }

  /** Reads the operations that other clients have appended. */
  async catchUp(options: CallOptions = {}): Promise<LogState> {
    for (;;) {
      const record = await this.#read(this.#state.last + 1, options);
      if (record !== undefined) this.#take(record);
      else if (!this.#isDue || !(await this.#skipDeleted(options))) break;
    }
    return this.#state;
  }

  /** True if this client has last looked for deleted operations more than a minute ago. */
  get #isDue(): boolean {
    return Math.abs(systemClock() - this.#seenAt) > LOOK_AGAIN_MS;
  }

  /**
   * Goes on from a stored head if garbage collection has deleted the next operation, whose number would seem to be free.
   * Returns false if there are no later operations.
   */
  async #skipDeleted({ signal }: CallOptions): Promise<boolean> {
    const now = systemClock();
    const { last } = this.#state;
    const isLater = (await this.#ids(signal)).some((id) => id > last);
    const stored = isLater ? await readState(this.#store, this.#folder, Number.POSITIVE_INFINITY) : undefined;
    if (stored !== undefined && stored.last > this.#state.last) this.#state = stored;
    else this.#seenAt = now;
    return isLater;
  }

  /**
   * Appends the operation that leads from the current head to another one. Returns undefined if another client was
   * faster, whose operation is then part of the state, or if one of the paths `absent` of the store exists.
   */
  async append(
    head: Head,
    { at, actor, tool, summary, ok = true, ms, target, batch, after, accept, changes: given }: NewOperation,
    options: CallOptions = {},
    stored: StoredTogether = {},
  ): Promise<Operation | undefined> {
    const before = this.#state;
    if (this.#isDue) await this.catchUp(options);
    // A read may have caught up since the head was made.
    if (this.#state !== before || (after !== undefined && after !== before.last)) return undefined;
    const changes = changesBetween(before.head, head);
    const described = given ?? describeChanges(changes, before.head, head);
    const operation: Operation = {
      id: before.last + 1,
      attempt: this.#attempt,
      at,
      actor,
      tool,
      summary: summary ?? summarize(described),
      ok,
      ms,
      changes: described,
      ...(target !== undefined && { target }),
      ...(tool === 'accept' && accept !== undefined && { as: accept.as }),
    };
    const record: OperationRecord = {
      operation,
      batch,
      changes: withUnchangedNames(changes, before.head, head),
      accept,
    };
    if (batch !== undefined) this.#batches.set(batch, operation.id);
    const path = this.#path(operation.id);
    const present = await createTogether(this.#store, { path, content: encodeRecord(record) }, stored, options);
    if (present !== undefined) {
      if (present !== path) return undefined;
      const other = await this.#read(operation.id, options);
      // The same batch may have been stored by a call whose reply was lost.
      if (other?.batch !== undefined && other.batch === batch) return this.#take(other, head);
      await this.catchUp(options);
      return undefined;
    }
    const done = this.#take(record, head);
    if (operation.id % OPERATIONS_PER_HEAD === 0) await this.#saveState().catch(() => undefined);
    return done;
  }

  /** Returns the operation of a batch; undefined if it is not among the latest known ones. */
  operationOf(batch: string): Operation | undefined {
    const id = this.#done.get(batch);
    return id === undefined ? undefined : this.#records.get(id)?.operation;
  }

  /**
   * Returns the operation of a batch; `absent` if no recent operation has it and none will, `unknown` if it may still
   * arrive.
   */
  async outcomeOf(batch: string): Promise<Operation | 'absent' | 'unknown'> {
    await this.catchUp({});
    const done = this.operationOf(batch);
    if (done !== undefined) return done;
    const tried = this.#batches.get(batch);
    return tried === undefined || tried <= this.#state.last ? 'absent' : 'unknown';
  }

  /** @throws WorkspaceError `not-found` */
  async record(id: number, options: CallOptions = {}): Promise<OperationRecord> {
    const known =
      this.#records.get(id) ?? (id <= this.#state.last && id > 0 ? await this.#read(id, options) : undefined);
    if (known === undefined)
      throw new WorkspaceError(
        'not-found',
        id > 0 && id <= this.#state.last
          ? `Operation ${id} of attempt ${this.#attempt} is no longer kept`
          : `Attempt ${this.#attempt} has no operation ${id}: its last one is ${this.#state.last}`,
      );
    return known;
  }

  /** Returns the head after an operation; 0 for the one that the attempt began with. */
  async headAt(id: number, options: CallOptions = {}): Promise<Head> {
    if (id === this.#state.last) return this.#state.head;
    if (id !== 0) await this.record(id, options);
    const from = await readState(this.#store, this.#folder, id);
    if (from === undefined) throw new StorageError('corrupt', `Attempt ${this.#attempt} has no stored beginning`);
    let { head } = from;
    for (let next = from.last + 1; next <= id; next++) {
      const { changes, operation } = await this.record(next, options);
      head = applyChanges(head, changes, versionFor(this.#attempt, operation));
    }
    return head;
  }

  /** Reads all records after the stored head together. */
  async #readAhead(): Promise<void> {
    const first = this.#state.last + 1;
    const ids = (await this.#ids()).filter((id) => id >= first);
    const last = Math.max(first - 1, ...ids);
    const missing = (): StorageError =>
      new StorageError(
        'corrupt',
        `Operations of attempt ${this.#attempt} are missing in the store between ${first} and ${last}`,
      );
    if (last - first + 1 !== ids.length) throw missing();
    let next = first;
    for await (const record of this.recordsBetween(first, last)) {
      if (record.operation.id !== next++) throw missing();
      this.#take(record);
    }
    if (next <= last) throw missing();
  }

  /** Returns the records of the operations from `first` to `last`, in this order, except those that are no longer kept. */
  async *recordsBetween(first: number, last: number, options: CallOptions = {}): AsyncGenerator<OperationRecord> {
    for (let from = first; from <= last; from += RECORDS_PER_READ) {
      const ids = Array.from({ length: Math.min(RECORDS_PER_READ, last - from + 1) }, (_, i) => from + i);
      const records = new Map(ids.map((id) => [id, this.#records.get(id)]));
      const unread = ids.filter((id) => records.get(id) === undefined);
      const paths = unread.map((id) => this.#path(id));
      // Many records in one step: a call for each took 2.5 ms of CPU time in a process that has just started.
      const entries = paths.length === 0 ? [] : await this.#store.run(getMany, [paths], options);
      for (const [i, id] of unread.entries()) {
        const content = entries[i]?.content;
        if (content !== undefined) records.set(id, this.#decode(new TextDecoder().decode(content), id));
      }
      yield* ids.flatMap((id) => records.get(id) ?? []);
    }
  }

  /** Returns the numbers of the operations in the store. */
  async #ids(signal?: AbortSignal): Promise<number[]> {
    try {
      return (await this.#store.readdir(`${this.#folder}/operations`, { signal })).map(Number);
    } catch (error) {
      if (isFsError(error, 'ENOENT')) return [];
      throw error;
    }
  }

  async #read(id: number, options: CallOptions): Promise<OperationRecord | undefined> {
    let text: string;
    try {
      text = await this.#store.readText(this.#path(id), options);
    } catch (error) {
      if (isFsError(error, 'ENOENT')) return undefined;
      throw error;
    }
    return this.#decode(text, id);
  }

  #decode(text: string, id: number): OperationRecord {
    return decodeRecord(text, `Operation ${id} of attempt ${this.#attempt}`);
  }

  #take(record: OperationRecord, head?: Head): Operation {
    const { operation, changes } = record;
    // A concurrent call may have taken it, and later ones, since it was read.
    if (operation.id <= this.#state.last) return operation;
    const { undoable, undone } = stacksAfter(this.#state, record);
    this.#state = {
      head: head ?? applyChanges(this.#state.head, changes, versionFor(this.#attempt, operation)),
      last: operation.id,
      undoable,
      undone,
    };
    this.#records.set(operation.id, record);
    if (record.batch !== undefined) this.#done.set(record.batch, operation.id);
    for (const [oldest, { batch }] of this.#records) {
      if (this.#records.size <= MAX_RECORDS) break;
      this.#records.delete(oldest);
      if (batch !== undefined) this.#done.delete(batch);
    }
    for (const [batch, id] of this.#batches) {
      if (id >= operation.id - MAX_RECORDS) break;
      this.#batches.delete(batch);
    }
    this.#tell(operation);
    return operation;
  }

  async #saveState(): Promise<void> {
    await this.#store.writeFile(statePath(this.#folder, this.#state.last), seal(encodeState(this.#state)));
  }

  #path(id: number): string {
    return `${this.#folder}/operations/${padded(id)}`;
  }
}

/**
 * Returns the version of what an operation changed. It contains the time, because the number of an operation that
 * failed is used again.
 */
export function versionFor(attempt: string, { id, at }: Pick<Operation, 'id' | 'at'>): string {
  return `${attempt}:${id}:${at}`;
}

function stateOfHead(head: Head): LogState {
  return { head, last: 0, undoable: [], undone: [] };
}

/** Returns what undo and redo can do after an operation. */
function stacksAfter(
  { undoable, undone }: LogState,
  { operation: { id, tool, target }, batch }: OperationRecord,
): Pick<LogState, 'undoable' | 'undone'> {
  // An edit that a caller has labelled so has a batch.
  if (tool === 'refresh' && batch === undefined) return { undoable, undone };
  if (tool === 'undo' && target !== undefined)
    return { undoable: undoable.filter((one) => one !== target), undone: [...undone, target] };
  if (tool === 'redo' && target !== undefined)
    return { undoable: [...undoable, target], undone: undone.filter((one) => one !== target) };
  return { undoable: [...undoable, id].slice(-MAX_UNDOABLE), undone: [] };
}

interface EncodedState extends Omit<LogState, 'head'> {
  readonly head: EncodedHead;
}

function encodeState(state: LogState): EncodedState {
  return { ...state, head: encodeHead(state.head) };
}

/** Reads the newest stored state at or before an operation; undefined if there is none. */
async function readState(store: FileSystem, folder: string, last: number): Promise<LogState | undefined> {
  let names: string[];
  try {
    names = await store.readdir(`${folder}/state`);
  } catch (error) {
    if (isFsError(error, 'ENOENT')) return undefined;
    throw error;
  }
  const newest = Math.max(...names.map(Number).filter((id) => id <= last));
  if (newest === Number.NEGATIVE_INFINITY) return undefined;
  const text = await store.readText(statePath(folder, newest));
  const state = unseal(text, `The state ${newest} in ${folder}`) as unknown as EncodedState;
  return { head: decodeHead(state.head), last: state.last, undoable: state.undoable, undone: state.undone };
}

function statePath(folder: string, id: number): string {
  return `${folder}/state/${padded(id)}`;
}

function padded(id: number): string {
  return String(id).padStart(9, '0');
}
