import type { Check, Version } from '../../backend.js';
import { isWithin, parentPath } from '../../paths.js';
import type { Steps } from '../scheduling/time-slice.js';

/** Maximum number of preconditions that are compared one by one: up to it, that is faster than using tables. */
export const MAX_LINEAR_CHECKS = 12;
/** Preconditions examined per step. */
const CHECKS_PER_STEP = 128;

/** Like {@link preconditionsOf}, but also removes duplicates. Faster for a small number of preconditions. */
export function preconditionsOfFew(checks: readonly Check[]): readonly Check[] {
  return checks.filter((check, i) => {
    for (let at = 0; at < i; at++) if (isSameCheck(checks[at] as Check, check)) return false;
    return !isWay(check) || !isPassed(check.path, checks);
  });
}

/** Reports whether a precondition concerns an existing entry under a path. */
function isPassed(way: string, checks: readonly Check[]): boolean {
  for (const { id, path } of checks) if (id !== null && path !== way && isWithin(path, way)) return true;
  return false;
}

/**
 * Returns the preconditions without those that only say which node a path leads to, if another one is on an existing
 * entry under that path. A path that leads to a node passes directories, but the result depends only on the node. The
 * directories matter only if nothing was found in them.
 */
export function* preconditionsOf(checks: readonly Check[]): Steps<readonly Check[]> {
  if (checks.length < 2) return checks;
  const passed = new Set<string>();
  for (const [i, { id, path }] of checks.entries()) {
    if (i % CHECKS_PER_STEP === CHECKS_PER_STEP - 1) yield;
    if (id === null) continue;
    for (let at = path; at !== '/'; ) {
      at = parentPath(at);
      if (passed.has(at)) break;
      passed.add(at);
    }
  }
  yield;
  return checks.filter((check) => !isWay(check) || !passed.has(check.path));
}

/** Reports whether a precondition only says which node a path leads to. */
function isWay(check: Check): boolean {
  return check.kind === 'entry' && check.id !== null && check.version === undefined;
}

export function isSameCheck(a: Check, b: Check): boolean {
  return a.path === b.path && a.kind === b.kind && a.id === b.id && versionOf(a) === versionOf(b);
}

function versionOf(check: Check): Version | undefined {
  return 'version' in check ? check.version : undefined;
}
