import {
  type Backend,
  type BackendCall,
  type Batch,
  type CallOptions,
  type CommitResult,
  FsError,
  isWithin,
  type Limits,
  type LoadRequest,
  type LoadResult,
  parentPath,
  pathSegments,
  quote,
  StorageError,
  type Version,
} from '@scratchfs/core';
import type { PathRead } from '../accept/writes-at-work.js';
import { entryAt, type Head } from '../delta/delta-node.js';
import { ShownIds } from '../delta/own-ids.js';
import { isTold, settledHead } from '../delta/settled.js';
import { exceededLimit } from '../delta/usage.js';
import type { Contents } from '../log/contents.js';
import { type LogState, type NewOperation, type OperationLog, versionFor } from '../log/operation-log.js';
import type { Conflict, Operation } from '../operation.js';
import type { Refresher } from '../refresh/refresher.js';
import { BatchWriter, MAX_CONTENT } from './batch-writer.js';
import type { Lower } from './lower.js';
import { type OperationContext, operationContext } from './operation-context.js';
import { View } from './view.js';

export interface AttemptBackendOptions {
  readonly lower: Lower;
  readonly contents: Contents;
  readonly log: OperationLog;
  /** Name of the attempt. */
  readonly name: string;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  readonly refresher: Refresher;
  /**
   * Returns a head in which moved directories, all or the wanted ones, show their files where they lie on the disk now.
   */
  readonly follow?:
    | ((head: Head, options: CallOptions, isWanted?: (path: string) => boolean) => Promise<Head>)
    | undefined;
  /** Limits of what the attempt adds to the directory. */
  readonly limits?: Limits | undefined;
  /**
   * Completes what a killed process began to write to the disk. Returns true while an accept of another client is at
   * work: then the disk may be between two states.
   */
  readonly settle?: (() => Promise<boolean>) | undefined;
  /**
   * Runs work that reads paths while no accept writes to them. Runs it again, with true, if such an accept has begun
   * before it ended.
   */
  readonly whileUnwritten?:
    | (<T>(reads: readonly PathRead[], work: (isAgain: boolean) => Promise<T>, options: CallOptions) => Promise<T>)
    | undefined;
  /**
   * Called before each commit with writes; throws if the attempt cannot be changed. With `isGuarded` it need not look in
   * the store whether the attempt was discarded: the commit stores nothing if one of the `guards` exists.
   */
  readonly checkWritable?: ((isGuarded: boolean) => Promise<void>) | undefined;
  /**
   * Paths of the store that exist if `settle` has something to do, or if the attempt was discarded. With `isGuarded`,
   * the step that stores the operation checks that they do not exist, which saves earlier reads of the store.
   */
  readonly guards?: readonly string[] | undefined;
  /**
   * For a live attempt: writes the changes that lead to `next` to the disk, and appends the operation. Returns undefined
   * if it has to be made again.
   */
  readonly writeThrough?: ((next: Head, operation: AttemptOperation) => Promise<Operation | undefined>) | undefined;
}

/** An operation made from the state after the operation number `after`. */
export type AttemptOperation = NewOperation & { readonly after: number };

/** Maximum number of tries of an operation of a live attempt, if other processes keep changing its paths. */
const MAX_WRITES = 50;

/** An attempt as a backend of the engine: its changes over the lower directory. Each batch of writes is one operation. */
export class AttemptBackend implements Backend {
  readonly capabilities = { checkpoints: false, forks: false, sharedWatch: false };
  readonly #options: AttemptBackendOptions;
  readonly #ids = new ShownIds();
  #queue: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  /** Ids of batches that were reported as absent. They are refused if they arrive later. */
  readonly #absent = new Set<string>();

  constructor(options: AttemptBackendOptions) {
    this.#options = options;
  }

  load(requests: readonly LoadRequest[], call?: BackendCall): Promise<readonly LoadResult[]> {
    const reads = requests.map((one) => ({ kind: one.kind, path: one.kind === 'path' ? one.path : one.at.path }));
    return this.#whileUnwritten(reads, () => this.#load(requests, call), call);
  }

  /** Runs work that reads paths, and appends nothing, while no accept writes to them. */
  #whileUnwritten<T>(reads: readonly PathRead[], work: () => Promise<T>, call: BackendCall | undefined): Promise<T> {
    const { log, whileUnwritten } = this.#options;
    if (whileUnwritten === undefined) return work();
    const again = (isAgain: boolean): Promise<T> => {
      if (isAgain) operationContext.getStore()?.looked?.delete(log);
      return work();
    };
    return whileUnwritten(reads, again, signalOf(call));
  }

  async #load(requests: readonly LoadRequest[], call: BackendCall | undefined): Promise<readonly LoadResult[]> {
    this.#enter(call);
    const { head } = await this.#newest(call);
    const view = this.view(await this.#followed(head, call, shownBy(requests)));
    const results: LoadResult[] = [];
    for (const request of requests) results.push(await view.load(request, call));
    return results;
  }

  /**
   * Returns the state of the log. Reads new operations first, in a single call (see `isSingleCall`) only the first
   * time.
   */
  async #newest(call: BackendCall | undefined): Promise<LogState> {
    const { log } = this.#options;
    const looked = operationContext.getStore()?.looked;
    if (looked?.has(log)) return log.state;
    const state = await log.catchUp(signalOf(call));
    looked?.add(log);
    return state;
  }

  async #followed(head: Head, call: BackendCall | undefined, isWanted?: (path: string) => boolean): Promise<Head> {
    return (await this.#options.follow?.(head, signalOf(call), isWanted)) ?? head;
  }

  view(head: Head): View {
    const { lower, contents } = this.#options;
    return new View(head, lower, contents, this.#ids);
  }

  /** Commits a batch, whose writes become one operation. Commits with writes run one after the other. */
  commit(batch: Batch, call?: BackendCall): Promise<CommitResult> {
    const work = (): Promise<CommitResult> => this.#commit(batch, call);
    return batch.writes.length === 0 ? this.#whileUnwritten(batch.checks, work, call) : this.inTurn(work);
  }

  /** Runs work that appends to the log, after the commits and the other work that were queued before. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  async outcome(operationId: string): Promise<CommitResult | 'absent' | 'unknown'> {
    await this.#queue;
    const { log, name } = this.#options;
    const operation = await log.outcomeOf(operationId);
    if (operation === 'absent') this.#absent.add(operationId);
    return typeof operation === 'string' ? operation : { kind: 'ok', version: versionFor(name, operation) };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#queue;
  }

  #enter(call: BackendCall | undefined): void {
    call?.signal?.throwIfAborted();
    if (this.#isClosed) throw new StorageError('closed', 'The attempt is closed');
  }

  async #commit(batch: Batch, call: BackendCall | undefined): Promise<CommitResult> {
    const { log, contents, lower, name, clock, checkWritable, writeThrough, guards = [] } = this.#options;
    const { operationId, checks, writes } = batch;
    // A live attempt writes to the disk before the store, so the guards must be checked earlier.
    let isGuarded = writeThrough === undefined;
    for (let tries = 0; ; tries++, isGuarded = false) {
      this.#enter(call);
      if (writeThrough !== undefined && tries === MAX_WRITES)
        throw new FsError('EBUSY', { path: firstPath(batch), hint: BUSY });
      // Writes need not read new operations: if another client has appended one, the append fails and this runs again.
      const { head: known, last } = writes.length > 0 ? log.state : await this.#newest(call);
      const done = log.operationOf(operationId);
      if (done !== undefined) return { kind: 'ok', version: versionFor(name, done) };
      if (this.#absent.has(operationId))
        throw new StorageError('unavailable', 'The operation was given up before it arrived');
      const at = clock();
      const version = versionFor(name, { id: last + 1, at });
      let head = known;
      if (writes.length > 0) {
        await checkWritable?.(isGuarded);
        const refreshed = await this.refresh(head, touchedBy(batch), version, isGuarded, call);
        if (refreshed === undefined) continue;
        head = refreshed;
      }
      if (writes.length === 0) head = await this.#followed(head, call);
      const failed = await this.view(head).failed(checks, call);
      if (failed.length > 0) return { kind: 'conflict', checks: failed };
      if (writes.length === 0) return { kind: 'ok', version };
      const tooLarge = await this.#tooLargeFile(head, batch, call);
      if (tooLarge !== undefined) return tooLarge;
      const writer = new BatchWriter(head, lower, contents, version, call);
      try {
        for (const write of writes) await writer.apply(write);
        const context = operationContext.getStore();
        const settled = settledBy(batch, head, context);
        const next = settledHead(head, writer.head, settled, version);
        const exceeded = this.#exceeded(head, next, batch.limits);
        if (exceeded !== undefined) return exceeded;
        // Files that were read since the checks must still be the ones that were checked.
        const changed = await this.view(head).failed(checks, call);
        if (changed.length > 0) return { kind: 'conflict', checks: changed };
        const { actor = 'user', tool = 'edit', summary, ok } = context?.label ?? {};
        const ms = context === undefined ? 0 : Math.max(0, at - context.startedAt);
        const described = { at, actor, tool, summary, ok, ms, batch: operationId, after: last };
        let operation: Operation | undefined;
        if (writeThrough === undefined) {
          const entries = await contents.toStore(writer.hashes, signalOf(call));
          const stored = { contents: entries, absent: isGuarded ? guards : [] };
          operation = await log.append(next, described, signalOf(call), stored);
        } else {
          await contents.save(writer.hashes, signalOf(call));
          operation = await writeThrough(next, described);
        }
        if (operation === undefined) continue;
        contents.stored(writer.hashes);
        context?.operations.push(operation);
        for (const path of settled)
          if (entryAt(next, pathSegments(path))?.conflict === undefined) context?.conflicts.delete(path);
        return { kind: 'ok', version };
      } finally {
        contents.drop(writer.hashes);
      }
    }
  }

  /**
   * Compares paths with the disk. Changes of the person that are found become an operation of their own, unless
   * `settle` reports an accept at work. Returns the head; undefined if it is not the current one any more, so that the
   * caller has to begin again.
   * @param paths undefined for all that the attempt has changed
   */
  async refresh(
    head: Head,
    paths: Iterable<string> | undefined,
    version: Version,
    isGuarded: boolean,
    call?: BackendCall,
  ): Promise<Head | undefined> {
    const { log, contents, refresher, clock, settle, guards = [] } = this.#options;
    const isAccepting = !isGuarded && (await settle?.()) === true;
    const { head: known, last } = log.state;
    if (known !== head) return undefined;
    if (isAccepting) return head;
    const followed = await this.#followed(head, call);
    if (followed !== head) {
      const summary = 'Follow directories that another attempt has moved on disk';
      await log.append(
        followed,
        { at: clock(), actor: 'user', tool: 'refresh', summary, ms: 0, after: last },
        signalOf(call),
      );
      return undefined;
    }
    const refreshed = await refresher.refresh(head, paths, version, call);
    try {
      const { merged, conflicts, hashes, isNew } = refreshed;
      // The differences may be one half of an accept, which may be taken back.
      if (isNew && (await settle?.()) === true) return log.state.head === head ? head : undefined;
      const context = operationContext.getStore();
      for (const path of merged) context?.merged.add(path);
      for (const conflict of conflicts) context?.conflicts.set(conflict.path, conflict);
      await contents.save(hashes, signalOf(call));
      if (!isNew) return refreshed.head;
      const summary = summaryOf(merged, conflicts);
      const described = { at: clock(), actor: 'user', tool: 'refresh', summary, ms: 0, after: last };
      await log.append(refreshed.head, described, signalOf(call), { absent: isGuarded ? guards : [] });
      return undefined;
    } finally {
      contents.drop(refreshed.hashes);
    }
  }

  /** Returns the limit that a file exceeds, for the first such file. A file that only shrinks exceeds none. */
  async #tooLargeFile(
    head: Head,
    { writes, limits }: Batch,
    call: BackendCall | undefined,
  ): Promise<CommitResult | undefined> {
    const limit = 'maxFileSize';
    const allowed = Math.min(MAX_CONTENT, limits[limit] ?? MAX_CONTENT, this.#options.limits?.[limit] ?? MAX_CONTENT);
    for (const write of writes) {
      if (write.kind !== 'create' && write.kind !== 'write') continue;
      const requested = write.kind === 'create' ? (write.content?.byteLength ?? 0) : write.size;
      if (requested <= allowed) continue;
      const [record] = await this.view(head).records([write.path], call);
      const used = record?.kind === 'file' ? record.size : 0;
      if (requested > used) return { kind: 'limit', limit, allowed, used, requested };
    }
    return undefined;
  }

  #exceeded(before: Head, after: Head, limits: Limits): CommitResult | undefined {
    return exceededLimit(before, after, limits) ?? exceededLimit(before, after, this.#options.limits ?? {});
  }
}

/**
 * Returns a function that reports whether the results of requests depend on where the files of a moved directory lie.
 */
function shownBy(requests: readonly LoadRequest[]): (path: string) => boolean {
  return (moved) =>
    requests.some((request) => {
      const path = request.kind === 'path' ? request.path : request.at.path;
      return (
        isWithin(path, moved) || (isWithin(moved, path) && (request.kind === 'tree' || parentPath(moved) === path))
      );
    });
}

const BUSY = 'Other processes keep changing the paths. Nothing was written: try again';

function firstPath(batch: Batch): string {
  return [...touchedBy(batch)][0] ?? '/';
}

/**
 * Returns the written paths whose conflict the caller knew before its call of `operation` or `labelled`; none without
 * such a call.
 */
function settledBy({ writes }: Batch, head: Head, context: OperationContext | undefined): string[] {
  if (context === undefined) return [];
  const paths = new Set<string>();
  for (const write of writes) {
    if ('to' in write) paths.add(write.to);
    else if ('path' in write && write.kind !== 'touch') paths.add(write.path);
  }
  return [...paths].filter((path) => {
    const conflict = entryAt(head, pathSegments(path))?.conflict;
    return conflict !== undefined && isTold(path, conflict, context.told);
  });
}

function touchedBy({ checks, writes }: Batch): Set<string> {
  const paths = new Set<string>();
  for (const check of checks) if (check.kind === 'entry' && check.id !== null) paths.add(check.path);
  for (const write of writes) {
    if ('path' in write) paths.add(write.path);
    if ('from' in write) paths.add(write.from);
    if ('to' in write) paths.add(write.to);
  }
  return paths;
}

function summaryOf(merged: readonly string[], conflicts: readonly Conflict[]): string {
  const parts: string[] = [];
  if (merged.length > 0) parts.push(`Take over what changed on disk: ${listed(merged)}`);
  if (conflicts.length > 0)
    parts.push(
      `${merged.length > 0 ? 'in' : 'In'} conflict with the disk: ${listed(conflicts.map(({ path }) => path))}`,
    );
  return parts.join('; ');
}

function listed(paths: readonly string[]): string {
  const shown = paths.slice(0, 3).map((path) => quote(path));
  return paths.length > 3 ? `${shown.join(', ')} and ${paths.length - 3} more` : shown.join(', ');
}

function signalOf(call: BackendCall | undefined): { readonly signal?: AbortSignal } {
  return call?.signal === undefined ? {} : { signal: call.signal };
}
