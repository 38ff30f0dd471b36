import { AsyncLocalStorage } from 'node:async_hooks';
import type { Head } from '../delta/delta-node.js';
import type { WorkspaceError } from '../errors.js';
import type { Conflict, Operation, OperationLabel } from '../operation.js';

/** What commits made inside a call of `operation` or `labelled` are part of. */
export interface OperationContext {
  readonly label: OperationLabel;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Head when the call began: conflicts that it has were reported before, so that a write settles them. */
  readonly head: Head;
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
