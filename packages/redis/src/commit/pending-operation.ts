import type { BackendCall, Batch, CommitResult, Write } from '@scratchfs/core';
import { StorageError } from '@scratchfs/core';
import type { StagedContent } from '../format/request/batch.js';
import { costOf, MAX_REQUEST_BYTES, MAX_REQUEST_COST } from './batch-cost.js';
import { contentBytesOf } from './content-staging.js';

/** An operation's result once it is decided. `absent`: it was not applied and never will be. */
export type FinalResult = CommitResult | 'absent';

/** The part of an operation that is kept after its reply was lost. */
export interface UnresolvedOperation {
  /** The operation's number; 0 for a read-only batch, which the server does not record. */
  readonly sequence: number;
  /** System time at which the operation began, in milliseconds. */
  readonly begun: number;
  /** Fields of the head that were created for this operation. To be deleted if the operation is not applied. */
  readonly ownedFields: string[];
}

/** Kinds of batches. The batches of one request have the same kind. */
export type BatchKind = 'check' | 'remove' | 'change';

/** An operation that is queued or on its way. */
export interface PendingOperation extends UnresolvedOperation {
  readonly batch: Batch;
  readonly kind: BatchKind;
  /** Estimated cost; see `costOf`. */
  readonly cost: number;
  sequence: number;
  readonly result: Promise<CommitResult>;
  readonly settle: (result: CommitResult) => void;
  readonly fail: (error: unknown) => void;
  readonly call: BackendCall | undefined;
  /** True if the server may have received the operation. Otherwise the operation can be withdrawn. */
  isSent: boolean;
  /** Stops the upload of contents and staged writes that precede the commit. */
  preparation: AbortController | undefined;
  /** True if an abort of the caller's signal withdraws the operation immediately. */
  isListening: boolean;
  stagedContents?: ReadonlyMap<Write, StagedContent>;
}

export function newOperation(batch: Batch, sequence: number, call: BackendCall | undefined): PendingOperation {
  let settle: PendingOperation['settle'] = () => {};
  let fail: PendingOperation['fail'] = () => {};
  const result = new Promise<CommitResult>((resolve, reject) => {
    settle = resolve;
    fail = reject;
  });
  return {
    batch,
    kind: kindOf(batch),
    cost: costOf(batch),
    sequence,
    begun: Date.now(),
    ownedFields: [],
    result,
    settle,
    fail,
    call,
    isSent: false,
    preparation: undefined,
    isListening: false,
  };
}

/**
 * Classifies a batch. Read-only batches run another script. Batches that remove names and otherwise only touch
 * directories run even on a server without free memory, so they must not share a request with writes that need memory.
 */
function kindOf({ writes }: Batch): BatchKind {
  if (writes.length === 0) return 'check';
  let removes = false;
  for (const { kind } of writes) {
    if (kind !== 'remove' && kind !== 'touch') return 'change';
    removes ||= kind === 'remove';
  }
  return removes ? 'remove' : 'change';
}

/** Reports whether an operation exceeds what one request should carry. */
export function needsPreparation({ batch, cost }: PendingOperation): boolean {
  if (cost > MAX_REQUEST_COST) return true;
  let bytes = 0;
  for (const write of batch.writes) bytes += contentBytesOf(write);
  return bytes > MAX_REQUEST_BYTES;
}

/** Rejects an operation's promise. The caller may have stopped waiting, so an unhandled rejection is suppressed. */
export function rejectOperation(operation: PendingOperation, error: unknown): void {
  operation.result.catch(() => {});
  operation.fail(error);
}

export function isUndecided(
  one: PendingOperation | UnresolvedOperation | FinalResult,
): one is PendingOperation | UnresolvedOperation {
  return typeof one === 'object' && 'begun' in one;
}

export function isInFlight(
  operation: PendingOperation | UnresolvedOperation | undefined,
): operation is PendingOperation {
  return operation !== undefined && 'batch' in operation;
}

/**
 * Returns the part of an operation that is kept while its outcome is unknown; the batch is dropped, because it may hold
 * large contents.
 */
export function unresolvedPartOf({ sequence, begun, ownedFields }: UnresolvedOperation): UnresolvedOperation {
  return { sequence, begun, ownedFields };
}

export function isApplied(outcome: FinalResult | 'unknown'): boolean {
  return typeof outcome === 'object' && outcome.kind === 'ok';
}

export function abandonedError(mayHaveHappened = false): StorageError {
  return new StorageError('unavailable', 'The operation was given up before it arrived', { mayHaveHappened });
}
