import type { Operation, OperationChange } from '@scratchfs/workspace';

/** Effect of a call on one path, as `structuredContent` has it. */
export interface Change {
  readonly path: string;
  readonly type: 'added' | 'removed' | 'changed' | 'moved';
  readonly from?: string | undefined;
}

/** Maximum number of changes in a result. */
export const MAX_CHANGES = 200;

/** Returns the changes of operations, for programs, at most `MAX_CHANGES`. */
export function changesOf(operations: readonly Operation[]): Change[] {
  return operations
    .flatMap(({ changes }) => changes)
    .slice(0, MAX_CHANGES)
    .map(changeOf);
}

export function changeOf({ path, from, before, after }: OperationChange): Change {
  if (from !== undefined) return { path, type: 'moved', from };
  if (before === null) return { path, type: 'added' };
  return { path, type: after === null ? 'removed' : 'changed' };
}
