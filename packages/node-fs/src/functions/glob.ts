import { baseName, joinPath, normalizePath, parentPath, pathSegments } from '@scratchfs/core';
import { compileGlob } from '@scratchfs/core/search';
import type { Given } from '../arguments/options.js';
import { toPath } from '../arguments/paths.js';
import { checkObject, checkString } from '../arguments/values.js';
import { invalidType } from '../errors/argument-errors.js';
import { awaited, type FsDriver, type FsProcedure } from '../fs-driver.js';
import { type Facade, type NodeFunction, nodeFunction } from '../node-function.js';
import { type Dirent, toDirent } from '../results/dirent.js';

type Exclude = (entry: string | Dirent) => unknown;

interface Search {
  readonly patterns: readonly string[];
  /** Directory of relative patterns, normalized. */
  readonly cwd: string;
  readonly withFileTypes: boolean;
  /** Patterns to leave out, or a function that decides for each name or entry. */
  readonly exclude: readonly string[] | Exclude | undefined;
}

/**
 * `glob`: matches as `@scratchfs/core/search` does, but a bare `**` also matches its own directory. A relative pattern
 * gives paths relative to `cwd`.
 */
export const glob: NodeFunction<Search, (string | Dirent)[]> = nodeFunction(
  2,
  (_, pattern, options = {}): Search => {
    const patterns = Array.isArray(pattern)
      ? pattern.map((one, i) => checkString(one, `patterns[${i}]`))
      : [checkString(pattern, 'patterns')];
    const { cwd, exclude, withFileTypes } = checkObject(options, 'options') as Given;
    return {
      patterns: patterns.filter((one) => one !== ''),
      cwd: cwd === undefined || cwd === null ? '/' : normalizePath(toPath(cwd, 'options.cwd')),
      exclude: toExclude(exclude),
      withFileTypes: Boolean(withFileTypes),
    };
  },
  (facade, search) => facade.driver.run(find(facade, search)),
);

function toExclude(value: unknown): Search['exclude'] {
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value)) return value.map((one, i) => checkString(one, `options.exclude[${i}]`));
  if (typeof value !== 'function') throw invalidType('options.exclude', 'of type function or string[]', value);
  return value as Exclude;
}

function* find({ driver }: Facade, search: Search): FsProcedure<(string | Dirent)[]> {
  const { patterns, cwd, withFileTypes } = search;
  const isLeftOut = exclusion(driver, search);
  const found = new Map<string, string>();
  if (patterns.some(isEverything)) found.set('.', cwd);
  for (const isAbsolute of [false, true]) {
    const some = patterns.filter((pattern) => pattern.startsWith('/') === isAbsolute);
    if (some.length === 0) continue;
    for (const path of yield* awaited(driver.glob(some, cwd))) found.set(isAbsolute ? path : relative(cwd, path), path);
  }
  const answer: (string | Dirent)[] = [];
  for (const [name, path] of found) {
    if (yield* isLeftOut(path)) continue;
    answer.push(withFileTypes ? yield* direntAt(driver, path) : name);
  }
  return answer;
}

/** Reports whether a pattern is a bare `**`, which matches its own directory too. */
function isEverything(pattern: string): boolean {
  return /^(\.\/)*\*\*(\/\*\*)*\/?$/.test(pattern);
}

/**
 * Returns a function that reports whether a path, or a directory above it up to `cwd` or the root, is excluded. Each
 * path is judged at most once.
 */
function exclusion(driver: FsDriver, { exclude, cwd, withFileTypes }: Search): (path: string) => FsProcedure<boolean> {
  const globs = Array.isArray(exclude)
    ? exclude.map((pattern: string) => compileGlob(resolve(cwd, pattern).slice(1)))
    : [];
  const known = new Map<string, boolean>([
    [cwd, false],
    ['/', false],
  ]);
  const judge = function* (path: string): FsProcedure<boolean> {
    if (typeof exclude !== 'function') return globs.some((one) => one.matches(path.slice(1), true));
    return Boolean(exclude(withFileTypes ? yield* direntAt(driver, path) : baseName(path)));
  };
  return function* isLeftOut(path) {
    if (exclude === undefined) return false;
    const above: string[] = [];
    let at = path;
    for (; !known.has(at); at = parentPath(at)) above.push(at);
    let isOut = known.get(at) === true;
    for (const next of above.reverse()) {
      isOut ||= yield* judge(next);
      known.set(next, isOut);
    }
    return isOut;
  };
}

function resolve(cwd: string, pattern: string): string {
  return pattern.startsWith('/') ? pattern : joinPath(cwd, pattern);
}

function* direntAt(driver: FsDriver, path: string): FsProcedure<Dirent> {
  const { kind } = yield* awaited(driver.fs.lstat(path));
  return toDirent(baseName(path), kind, parentPath(path));
}

/** Returns a normalized path relative to a directory. */
function relative(from: string, path: string): string {
  const above = pathSegments(from);
  const names = pathSegments(path);
  let shared = 0;
  while (shared < above.length && above[shared] === names[shared]) shared += 1;
  return [...above.slice(shared).map(() => '..'), ...names.slice(shared)].join('/') || '.';
}
