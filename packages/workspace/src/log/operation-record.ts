import { createHash } from 'node:crypto';
import { StorageError } from '@scratchfs/core';
import { type AcceptRecord, isOfLiveOperation } from '../accept/accept-record.js';
import { changesOfWrites } from '../accept/disk-changes.js';
import { decodeChanges, type EncodedChanges, encodeChanges } from '../delta/encode.js';
import type { HeadChanges } from '../delta/head-changes.js';
import { WorkspaceError } from '../errors.js';
import type { Operation } from '../operation.js';

/** Format of records and heads in the store. */
export const FORMAT = 1;

/** An operation in the log, with the changes that undo and redo need. */
export interface OperationRecord {
  readonly operation: Operation;
  /** Id of the engine's batch, or of the note of an accept, by which the operation is found again. */
  readonly batch?: string | undefined;
  readonly changes: HeadChanges;
  /** Defined for an accept, and for an operation of a live attempt. */
  readonly accept?: AcceptRecord | undefined;
}

/** Returns a text of the store: a checksum, a line feed, JSON. */
export function seal(value: object): string {
  const json = JSON.stringify({ format: FORMAT, ...value });
  return `${checksum(json)}\n${json}`;
}

/**
 * Returns the value of a sealed text. @param what name for errors
 * @throws StorageError `corrupt` if it is damaged; WorkspaceError `foreign-store` if its format is of another version
 */
export function unseal(text: string, what: string): Record<string, unknown> {
  const end = text.indexOf('\n');
  const json = text.slice(end + 1);
  if (end < 0 || checksum(json) !== text.slice(0, end))
    throw new StorageError('corrupt', `${what} in the store of the workspace is damaged`);
  const value = JSON.parse(json) as Record<string, unknown>;
  if (value.format !== FORMAT)
    throw new WorkspaceError(
      'foreign-store',
      `${what} has format ${String(value.format)}, and this version of scratchfs knows only ${FORMAT}: use the newer version that wrote it`,
    );
  return value;
}

export function encodeRecord({ operation, batch, changes, accept }: OperationRecord): string {
  return seal({ operation, batch, changes: encodeChanges(changes), accept });
}

export function decodeRecord(text: string, what: string): OperationRecord {
  const { operation, batch, changes, accept } = unseal(text, what);
  return {
    operation: operationWithEffect(operation as Operation, accept as AcceptRecord | undefined),
    batch: batch as string | undefined,
    changes: decodeChanges(changes as EncodedChanges),
    accept: accept as AcceptRecord | undefined,
  };
}

/**
 * Returns the operation of a record as this version describes it. Earlier versions described an accept by what it changed
 * in the attempt, but kept what it wrote to the disk.
 */
function operationWithEffect(operation: Operation, accept: AcceptRecord | undefined): Operation {
  if (accept === undefined || isOfLiveOperation(accept)) return operation;
  if (accept.as !== 'apply') return { ...operation, as: accept.as };
  const described = new Map(operation.changes.map((change) => [change.path, change]));
  return { ...operation, as: accept.as, changes: changesOfWrites(accept.writes, described) };
}

function checksum(json: string): string {
  return createHash('sha256').update(json).digest('hex').slice(0, 16);
}
