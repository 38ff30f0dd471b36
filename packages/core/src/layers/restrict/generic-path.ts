import type { Aim } from '../../engine/composed-guard.js';
import type { EntryKind, Stats } from '../../entry.js';
import { FsError, type FsErrorCode } from '../../errors.js';
import type { FileSystem } from '../../file-system.js';
import { joinPath, normalizePath } from '../../paths.js';
import { type CallSequence, invoke } from '../call-sequence.js';
import { lookAt, PathWalk } from '../path-walk.js';
import type { GuardChain } from './guard-chain.js';

/** The end of a resolved path. */
export interface Arrival {
  /** The path without links, except perhaps its last name. */
  readonly path: string;
  /** Undefined if nothing exists there. */
  readonly stats: Stats | undefined;
  /** Missing parent directories, outermost first. Empty unless {@link Way} allows them to be missing. */
  readonly missing: readonly string[];
}

export interface Way {
  readonly follow: boolean;
  /** True if the call would create missing parent directories. */
  readonly makesParents?: boolean;
}

/**
 * Walks a path over any filesystem, name by name and link by link, and asks the guards about each as the engine does.
 * The filesystem does not guarantee that the result still holds when it is used.
 */
export function* arrive(
  target: FileSystem,
  guards: GuardChain,
  path: string,
  way: Way,
  aim: Aim,
): CallSequence<Arrival> {
  const walk = new PathWalk(normalizePath(path, aim.syscall, false));
  let entered: { readonly path: string; readonly stats: Stats } | undefined;
  for (let child = walk.next(); child !== undefined; child = walk.next()) {
    const { isLast, rest } = walk;
    const at = child;
    const fail = (code: FsErrorCode): never => {
      guards.stuck(at, rest, aim);
      throw new FsError(code, { syscall: aim.syscall, path: aim.given });
    };
    if (!isLast) guards.pass(child, rest, aim);
    const found = yield* seen(target, child, () => guards.stuck(at, rest, aim));
    if (typeof found === 'string') {
      if (found !== 'ENOENT') return fail(found);
      const makesParents = way.makesParents === true;
      if (isLast && !makesParents) return { path: child, stats: undefined, missing: [] };
      // No directory is created at the target of a dangling link.
      if (!makesParents || walk.isInLink) return fail('ENOENT');
      return beyond(child, rest);
    }
    if (found.kind === 'symlink' && (!isLast || way.follow)) {
      if (!walk.hop()) return fail('ELOOP');
      askAbout(guards, child, { ...aim, access: 'look' }, found);
      walk.follow(yield* invoke<string>(target, 'readlink', [child]));
      continue;
    }
    if (found.kind !== 'directory' && !isLast) return fail('ENOTDIR');
    walk.at = child;
    entered = { path: child, stats: found };
  }
  const stats = entered?.path === walk.at ? entered.stats : yield* invoke<Stats>(target, 'lstat', [walk.at]);
  return { path: walk.at, stats, missing: [] };
}

/** Looks at a path. If the lower filesystem refuses that, an error of the guards comes first. */
function* seen(target: FileSystem, path: string, askFirst: () => void): CallSequence<Stats | FsErrorCode> {
  try {
    return yield* lookAt(target, path);
  } catch (error) {
    askFirst();
    throw error;
  }
}

/** Asks the guards about the end of a path. */
export function askAbout(guards: GuardChain, path: string, aim: Aim, stats: Stats | undefined): void {
  const { access, syscall, given } = aim;
  const kind: EntryKind | undefined = stats?.kind ?? aim.makes;
  const size = stats?.kind === 'file' ? stats.size : undefined;
  guards.ask({ path, access, kind, size, syscall, given });
}

function beyond(first: string, names: readonly string[]): Arrival {
  const missing = [first];
  for (const name of [...names].reverse()) missing.push(joinPath(missing.at(-1) as string, name));
  const path = missing.pop() as string;
  return { path, stats: undefined, missing };
}
