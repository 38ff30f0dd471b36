import { compareNames } from '@scratchfs/core';
import { filesIn } from '../diff/path-diffs.js';
import type { OperationChange } from '../operation.js';
import type { DiskWrite } from './accept-record.js';
import type { AttemptChange } from './attempt-change.js';

/**
 * Returns writes to the disk as changes of an operation, sorted by path.
 * @param planned changes by path, which say what was moved
 */
export function changesOfWrites(
  writes: readonly DiskWrite[],
  planned: ReadonlyMap<string, Pick<AttemptChange, 'from'>> = new Map(),
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
