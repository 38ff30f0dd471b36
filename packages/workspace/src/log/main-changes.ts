import { parentPath } from '@scratchfs/core';
import type { ChangeSide, MainChange, OperationChange } from '../operation.js';

/**
 * Returns changes as a person counts and lists them, in the given order. A move is one change. So is a removed directory
 * with everything in it, and a moved one with everything in it that is otherwise unchanged.
 * @param limit if the list would be longer, a directory that was created or brought back also counts as one change with
 *   everything in it, provided its `files` are known. Default: no limit
 */
export function mainChanges(
  changes: readonly OperationChange[],
  limit: number = Number.POSITIVE_INFINITY,
): MainChange[] {
  const byPath = new Map(changes.map((change) => [change.path, change]));
  const origins = new Set(changes.map(({ from }) => from));
  const isUnder = (path: string, matches: (above: OperationChange) => boolean): boolean => {
    for (let above = parentPath(path); above !== '/'; above = parentPath(above)) {
      const change = byPath.get(above);
      if (change !== undefined && matches(change)) return true;
    }
    return false;
  };
  const isMovedAlong = ({ path, from, after }: OperationChange): boolean =>
    from !== undefined &&
    isSame(byPath.get(from)?.before ?? null, after) &&
    isUnder(path, (above) => above.from !== undefined && from === above.from + path.slice(above.path.length));
  const main = changes.filter((change) => {
    const { path, after } = change;
    if (after !== null) return !isMovedAlong(change);
    return !origins.has(path) && !isUnder(path, (above) => above.after === null);
  });
  const isBroughtBack = ({ path, before }: OperationChange): boolean =>
    before === null && isUnder(path, (above) => above.before === null && above.files !== undefined);
  const listed = main.length > limit ? main.filter((change) => !isBroughtBack(change)) : main;
  return listed.map(({ files, ...change }) => {
    const { from, before, after } = change;
    const type = from !== undefined ? 'moved' : before === null ? 'added' : after === null ? 'removed' : 'changed';
    const isWhole = type === 'removed' || (type === 'added' && listed.length < main.length);
    return { ...change, type, ...(isWhole && files !== undefined && { files }) };
  });
}

function isSame(a: ChangeSide, b: ChangeSide): boolean {
  if (a === null || b === null || a === 'disk' || b === 'disk') return a === b;
  return a.kind === b.kind && a.mode === b.mode && a.hash === b.hash && a.target === b.target;
}
