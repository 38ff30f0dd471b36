import { type Check, UNKNOWN_VERSION } from '../../backend.js';
import { isWithin, parentPath } from '../../paths.js';
import type { Steps } from '../scheduling/time-slice.js';
import type { NodeCache } from './node-cache.js';
import { isSameCheck } from './preconditions.js';

/** Number of preconditions up to which they are sent individually. */
const MAX_SINGLE_CHECKS = 128;

/**
 * Replaces the preconditions on a common directory and on entries under it by two: the directory has the same id, and
 * nothing under it has changed since it was loaded. They imply the others if everything that was read under it was
 * loaded with the directory or later. Returns undefined if that is not known, or saves nothing. A conflict of the
 * second is imprecise: the change may be in an entry that was not read.
 */
export function* coarsePreconditions(checks: readonly Check[], cache: NodeCache): Steps<readonly Check[] | undefined> {
  if (checks.length <= MAX_SINGLE_CHECKS) return undefined;
  const top = commonDirectory(checks);
  yield;
  const above = checks.filter(({ path }) => !isWithin(path, top));
  const own = checks.find(({ path, kind }) => path === top && kind !== 'empty');
  const directory = own?.id === undefined || own.id === null ? undefined : cache.record(own.id)?.directory;
  if (own?.id === undefined || own.id === null || directory === undefined) return undefined;
  if (directory.counted === false || directory.tree === UNKNOWN_VERSION || above.length > MAX_SINGLE_CHECKS)
    return undefined;
  const since = own.id;
  const ids = new Map(checks.map(({ path, id }) => [path, id]));
  yield;
  // The cached record may be newer than the one that was read, so the versions must be equal.
  const isKnown = (check: Check): boolean => {
    const id = check.id ?? ids.get(parentPath(check.path));
    return id !== undefined && id !== null && cache.isSince(id, since) && isAsKnown(check, cache);
  };
  for (const [i, check] of checks.entries()) {
    if (i % MAX_SINGLE_CHECKS === 0) yield;
    if (isWithin(check.path, top) && !isKnown(check)) return undefined;
  }
  const way: Check = { kind: 'entry', path: top, id: own.id };
  return [...above, way, { kind: 'tree', path: top, id: own.id, version: directory.tree }];
}

/** Reports whether a precondition matches the latest known record. */
function isAsKnown(check: Check, cache: NodeCache): boolean {
  const record = check.id === null ? undefined : cache.record(check.id);
  if (check.kind === 'entry') return check.version === undefined || record?.version === check.version;
  if (check.kind === 'empty') return record?.directory?.count === 0;
  return record?.directory?.[check.kind] === check.version;
}

/** Returns the deepest common directory of the preconditions, except those that only confirm a path. */
function commonDirectory(checks: readonly Check[]): string {
  let top: string | undefined;
  for (const check of checks) {
    // A precondition without a version only confirms which node a path leads to, such as a directory above another
    // entry.
    if (check.kind === 'entry' && check.id !== null && check.version === undefined) continue;
    const directory = check.kind === 'entry' ? parentPath(check.path) : check.path;
    top ??= directory;
    while (!isWithin(directory, top)) top = parentPath(top);
  }
  return top ?? '/';
}

/** Returns the preconditions without duplicates. */
export function* dedupe(checks: readonly Check[]): Steps<Check[]> {
  const seen = new Map<string, Check[]>();
  const once: Check[] = [];
  for (const [i, check] of checks.entries()) {
    if (i % MAX_SINGLE_CHECKS === MAX_SINGLE_CHECKS - 1) yield;
    const others = seen.get(check.path);
    if (others?.some((other) => isSameCheck(other, check))) continue;
    if (others === undefined) seen.set(check.path, [check]);
    else others.push(check);
    once.push(check);
  }
  return once;
}
