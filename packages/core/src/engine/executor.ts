import type { NodeId } from '../backend.js';
import type { Capabilities, Checkpoint } from '../file-system.js';
import type { ChangeFeed } from './change-feed.js';
import type { Context } from './context.js';
import type { Cursor } from './cursor.js';
import type { LocalQuota, Quota } from './quota.js';
import type { View } from './view.js';

/**
 * Runs operations over a storage. Each storage has one, shared by all filesystems on it. A fork, a transaction and the
 * state of a checkpoint have executors of their own.
 */
export interface Executor {
  readonly kind: 'sync' | 'async';
  readonly capabilities: Capabilities;
  readonly feed: ChangeFeed;
  readonly quota: Quota;
  /** Returns the id for a new node. Undefined if ids are drawn at random. */
  readonly newId?: () => NodeId;
  /**
   * Runs an operation; over a remote storage repeatedly, until everything it needs is loaded and its effects are
   * accepted.
   */
  run<R>(context: Context, operation: (view: View) => R, signal?: AbortSignal): Promise<R>;
  /** Like `run`, for an operation that also reads a checkpoint. Guards are not asked about the checkpoint. */
  runBeside<R>(
    context: Context,
    which: Checkpoint | string,
    operation: (view: View, kept: View) => R,
    signal?: AbortSignal,
    syscall?: string,
  ): Promise<R>;
  iterate<T>(context: Context, start: (view: View) => Cursor<T>, signal?: AbortSignal): AsyncIterableIterator<T>;
  /** Like `iterate`, but collects all items, from one point in time. */
  collect<T>(context: Context, start: (view: View) => Cursor<T>, signal?: AbortSignal): Promise<T[]>;
  checkpoint(context: Context, name: string | undefined, signal?: AbortSignal): Promise<Checkpoint>;
  checkpoints(signal?: AbortSignal): Promise<Checkpoint[]>;
  rollback(context: Context, checkpoint: Checkpoint | string, signal?: AbortSignal): Promise<void>;
  drop(checkpoint: Checkpoint | string, signal?: AbortSignal): Promise<void>;
  /** Runs a cursor over two states: a checkpoint each, or undefined for the current one. */
  compare<T>(
    context: Context,
    a: Checkpoint | string | undefined,
    b: Checkpoint | string | undefined,
    start: (a: View, b: View) => Cursor<T>,
    signal?: AbortSignal,
  ): Promise<T[]>;
  /** Returns a read-only executor of a checkpoint's state. */
  at(checkpoint: Checkpoint | string, signal?: AbortSignal): Promise<Executor>;
  /** `from`: the checkpoint whose state the fork starts with; by default the current state. */
  fork(from: Checkpoint | string | undefined, signal?: AbortSignal): Promise<Executor>;
  transaction<T>(context: Context, work: (executor: Executor) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Closes the executor, and over a backend the backend. Has no effect on a remote transaction. */
  close(): Promise<void>;
}

/** An executor over memory. */
export interface SyncExecutor extends Executor {
  readonly kind: 'sync';
  readonly quota: LocalQuota;
  runSync<R>(context: Context, operation: (view: View) => R): R;
  runBesideSync<R>(
    context: Context,
    which: Checkpoint | string,
    operation: (view: View, kept: View) => R,
    syscall?: string,
  ): R;
  iterateSync<T>(context: Context, start: (view: View) => Cursor<T>): IterableIterator<T>;
  checkpointSync(context: Context, name: string | undefined): Checkpoint;
  checkpointsSync(): Checkpoint[];
  rollbackSync(checkpoint: Checkpoint | string): void;
  dropSync(checkpoint: Checkpoint | string): void;
  compareSync<T>(
    context: Context,
    a: Checkpoint | string | undefined,
    b: Checkpoint | string | undefined,
    start: (a: View, b: View) => Cursor<T>,
  ): T[];
  atSync(checkpoint: Checkpoint | string): SyncExecutor;
  at(checkpoint: Checkpoint | string, signal?: AbortSignal): Promise<SyncExecutor>;
  forkSync(from?: Checkpoint | string): SyncExecutor;
  fork(from: Checkpoint | string | undefined, signal?: AbortSignal): Promise<SyncExecutor>;
  transactionSync<T>(work: (executor: SyncExecutor) => T): T;
  /**
   * Returns a view for one of the filesystem's own operations, which leave no changes if they throw. Call `leave` after
   * an operation that may have changed something.
   */
  enter(context: Context): View;
  leave(view: View): void;
}
