import { AsyncLocalStorage } from 'node:async_hooks';
import type { WorkspaceError } from '../errors.js';
import type { Conflict, EntryState, Operation, OperationLabel } from '../operation.js';

/** Data of a call, such as `operation` or `labelled`, that the commits made inside it read and add to. */
export interface OperationContext {
  readonly label: OperationLabel;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /**
   * The disk's state at each path of a conflict that the caller was told of before the call began. A write settles only
   * these conflicts: the log may have others, which the caller does not know.
   */
  readonly told: ReadonlyMap<string, EntryState | null>;
  /** Operations that were committed. */
  readonly operations: Operation[];
  /** Paths that were merged with what the person changed. */
  readonly merged: Set<string>;
  readonly conflicts: Map<string, Conflict>;
  /**
   * Error with which the attempt last refused a write. A layer in between, such as a sandbox, may hide it from the
   * caller.
   */
  refusal?: WorkspaceError | undefined;
  /** Logs whose new operations need not be read again in a single call. Undefined for other work. */
  readonly looked?: Set<object> | undefined;
}

/** Passes the label of an operation through the engine to the commit. */
export const operationContext = new AsyncLocalStorage<OperationContext>();
