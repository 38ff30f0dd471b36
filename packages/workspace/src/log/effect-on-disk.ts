import type { CallOptions } from '@scratchfs/core';
import { isOfLiveOperation } from '../accept/accept-record.js';
import { inverseChanges } from '../accept/disk-changes.js';
import { WorkspaceError } from '../errors.js';
import type { OperationChange } from '../operation.js';
import type { OperationLog } from './operation-log.js';
import type { OperationRecord } from './operation-record.js';

/**
 * Returns what an accept, or the undo or redo of one, changed on the disk. Returns undefined for other operations, if the
 * accept is no longer kept, and for a merge of a version that did not record it.
 */
export async function effectOnDisk(
  log: OperationLog,
  { accept, operation }: OperationRecord,
  options: CallOptions,
): Promise<readonly OperationChange[] | undefined> {
  const { tool, target, changes } = operation;
  if (accept !== undefined) {
    return isOfLiveOperation(accept) || changes.some(({ before, after }) => before === 'disk' || after === 'disk')
      ? undefined
      : changes;
  }
  if ((tool !== 'undo' && tool !== 'redo') || target === undefined) return undefined;
  try {
    const effect = await effectOnDisk(log, await log.record(target, options), options);
    return effect && (tool === 'redo' ? effect : inverseChanges(effect));
  } catch (error) {
    if (error instanceof WorkspaceError && error.code === 'not-found') return undefined;
    throw error;
  }
}
