import type { Operation } from '@scratchfs/workspace';
import type { OpenAttempt } from '../server/shared-workspace.js';
import { counted } from './format.js';

interface Changed {
  readonly path: string;
  readonly from?: string | undefined;
}

type Visibility = Pick<OpenAttempt, 'attempt' | 'sandbox'>;

/** Reports whether the file tools show a path, or would if it existed. */
export async function isVisible(
  path: string,
  { attempt, sandbox }: Visibility,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  return !attempt.hides(path) && (await sandbox.canRead(path, { signal }));
}

/** Keeps the changes whose paths the file tools show, and counts the others. */
export async function visibleOnly<T extends Changed>(
  changes: readonly T[],
  open: Visibility,
  signal?: AbortSignal,
): Promise<{ readonly shown: T[]; readonly hidden: number }> {
  const shown: T[] = [];
  for (const change of changes) {
    const paths = change.from === undefined ? [change.path] : [change.path, change.from];
    let isShown = true;
    for (const path of paths) isShown &&= await isVisible(path, open, signal);
    if (isShown) shown.push(change);
  }
  return { shown, hidden: changes.length - shown.length };
}

/** A line for the number of hidden paths. */
export function hiddenLines(count: number): string[] {
  return count === 0 ? [] : [`[${counted(count, 'changed path')} hidden.]`];
}

/** Returns an operation without what is hidden. Its summary may name a path, so it is left out too. */
export async function visibleOperation(
  operation: Operation,
  open: OpenAttempt,
  signal: AbortSignal,
): Promise<Operation> {
  const { shown, hidden } = await visibleOnly(operation.changes, open, signal);
  if (hidden === 0) return operation;
  return { ...operation, changes: shown, summary: `${counted(hidden, 'changed path')} hidden` };
}
