import { AsyncLocalStorage } from 'node:async_hooks';
import type { WorkspaceError } from '../errors.js';
import type { Conflict, EntryState, Operation, OperationLabel } from '../operation.js';

/** What commits made inside a call of `operation` or `labelled` are part of. */
export interface OperationContext {
  readonly label: OperationLabel;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /**
   * The disk's state at each path of a conflict that a result had told of when the call began. A write settles a conflict
   * only if it is one of these: the log may know of others, which the caller has never seen.
   */
  readonly told: ReadonlyMap<string, EntryState | null>;
  /** Operations that were committed. */
  readonly operations: Operation[];
  /** Paths that were merged with what the person changed. */
  readonly merged: Set<string>;
  readonly conflicts: Map<string, Conflict>;
  /** Why the attempt refused the last write. A layer between caller and attempt, such as a sandbox, may hide it. */
  refusal?: WorkspaceError | undefined;
  /** Logs that were looked at. Undefined unless the work is a single call, which looks at each log once. */
  readonly looked?: Set<object> | undefined;
}

/** Passes the label of an operation through the engine to the commit. */
export const operationContext = new AsyncLocalStorage<OperationContext>();
