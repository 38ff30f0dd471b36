import { type CallOptions, compareNames } from '@scratchfs/core';
import { filesIn } from '../diff/path-diffs.js';
import { WorkspaceError } from '../errors.js';
import type { OperationLog } from '../log/operation-log.js';
import type { OperationRecord } from '../log/operation-record.js';
import type { OperationChange } from '../operation.js';
import type { AcceptRecord, DiskWrite } from './accept-record.js';
import type { AttemptChange } from './attempt-change.js';

/**
 * Returns writes to the disk as changes of an operation, sorted by path.
 * @param planned changes of the attempt by path, which say what was moved
 */
export function changesOfWrites(
  writes: readonly DiskWrite[],
  planned: ReadonlyMap<string, AttemptChange> = new Map(),
): OperationChange[] {
  const removed = new Map(writes.filter(({ after }) => after === null).map((write) => [write.path, write]));
  const files = filesIn(writes.filter(({ before, after }) => (after ?? before)?.kind !== 'directory'));
  return writes
    .map(({ path, before, after }) => {
      const from = planned.get(path)?.from;
      const old = from === undefined ? undefined : removed.get(from);
      const isMove = before === null && after !== null && old?.before?.kind === after.kind;
      const isWhole = (before === null || after === null) && (after ?? before)?.kind === 'directory';
      return { path, ...(isMove && { from }), before, after, ...(isWhole && { files: files.get(path) ?? 0 }) };
    })
    .sort((a, b) => compareNames(a.path, b.path));
}

/** Returns the changes that undo those of an operation. */
export function inverseChanges(changes: readonly OperationChange[]): OperationChange[] {
  const targets = new Map(changes.flatMap(({ path, from }) => (from === undefined ? [] : [[from, path]])));
  return changes.map(({ path, before, after, files }) => {
    const from = targets.get(path);
    return {
      path,
      before: after,
      after: before,
      ...(from !== undefined && { from }),
      ...(files !== undefined && { files }),
    };
  });
}

/**
 * Returns what an accept, or the undo or redo of one, changed on the disk. Returns undefined for other operations, and if
 * the accept is no longer kept.
 */
export async function effectOnDisk(
  log: OperationLog,
  { accept, operation }: OperationRecord,
  options: CallOptions,
): Promise<readonly OperationChange[] | undefined> {
  const { tool, target, changes } = operation;
  if (isOutside(accept)) return changes;
  if ((tool !== 'undo' && tool !== 'redo') || target === undefined) return undefined;
  try {
    return isOutside((await log.record(target, options)).accept) ? changes : undefined;
  } catch (error) {
    if (error instanceof WorkspaceError && error.code === 'not-found') return undefined;
    throw error;
  }
}

function isOutside(accept: AcceptRecord | undefined): boolean {
  return accept !== undefined && !(accept.as === 'apply' && accept.isLive === true);
}
