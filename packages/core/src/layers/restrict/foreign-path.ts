import type { Aim } from '../../engine/composed-guard.js';
import type { EntryKind, Stats } from '../../entry.js';
import { FsError, type FsErrorCode, isFsError } from '../../errors.js';
import type { FileSystem } from '../../file-system.js';
import { joinPath, normalizePath, parentPath, pathSegments } from '../../paths.js';
import { ask, type Rule } from '../steps.js';
import type { GuardChain } from './guard-chain.js';

/** Links followed in one path before ELOOP, as Linux has it. */
const MAX_HOPS = 40;

/** Where a path arrives. */
export interface Arrival {
  /** Without links, but perhaps for its last name. */
  readonly path: string;
  /** Undefined where nothing is there. */
  readonly stats: Stats | undefined;
  /** Missing directories on the way, outermost first; only where they may be missing. */
  readonly missing: readonly string[];
}

export interface Way {
  readonly follow: boolean;
  /** Directories on the way may be missing, and would be made. */
  readonly makesParents?: boolean;
}

/**
 * Walks a path over any filesystem, name by name and hop by hop, and asks the guards on the way as the engine does. What
 * it found may have changed when it is used: how far that goes is up to the filesystem.
 */
export function* arrive(target: FileSystem, guards: GuardChain, path: string, way: Way, aim: Aim): Rule<Arrival> {
  const names = pathSegments(normalizePath(path, aim.syscall, false)).reverse();
  let at = '/';
  let stats: Stats | undefined;
  let hops = 0;
  let linked = 0;
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    linked = Math.min(linked, names.length + 1);
    if (name === '' || name === '.') continue;
    if (name === '..') {
      at = parentPath(at);
      stats = undefined;
      continue;
    }
    const child = joinPath(at, name);
    const fail = (code: FsErrorCode): never => {
      guards.stuck(child, names, aim);
      throw new FsError(code, { syscall: aim.syscall, path: aim.given });
    };
    if (names.length > 0) guards.pass(child, names, aim);
    const found = yield* look(target, child);
    if (typeof found === 'string' && found !== 'ENOENT') return fail(found);
    if (typeof found === 'string') {
      if (names.length === 0 && !(way.makesParents === true && linked > 0))
        return { path: child, stats: undefined, missing: [] };
      // Nothing is made where a link points nowhere.
      if (way.makesParents !== true || linked > 0) return fail('ENOENT');
      return beyond(child, names);
    }
    if (found.kind === 'symlink' && (names.length > 0 || way.follow)) {
      if (++hops > MAX_HOPS) return fail('ELOOP');
      askAbout(guards, child, { ...aim, access: 'look' }, found);
      const text = (yield* ask<string>(target, 'readlink', [child])).replaceAll('\\', '/');
      if (text[0] === '/') at = '/';
      stats = undefined;
      const rest = text.replace(/\/+$/, '').split('/').reverse();
      names.push(...rest);
      linked = names.length;
      continue;
    }
    if (found.kind !== 'directory' && names.length > 0) return fail('ENOTDIR');
    at = child;
    stats = found;
  }
  stats ??= yield* ask<Stats>(target, 'lstat', [at]);
  return { path: at, stats, missing: [] };
}

/** Asks about the end of a path. */
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

function* look(target: FileSystem, path: string): Rule<Stats | FsErrorCode> {
  try {
    return yield* ask<Stats>(target, 'lstat', [path]);
  } catch (error) {
    if (isFsError(error) && LEADS_NOWHERE.has(error.code)) return error.code;
    throw error;
  }
}

const LEADS_NOWHERE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EINVAL']);
