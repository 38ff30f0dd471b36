import { checkBoolean, checkOptions, signalIn } from '../engine/arguments.js';
import type { Cursor } from '../engine/cursor.js';
import { trustedApi, trustedSyncApi } from '../engine/internals.js';
import type { View } from '../engine/view.js';
import type { CallOptions, FileSystem, SyncFileSystem } from '../file-system.js';
import { DIRECTORY } from '../tree/node.js';
import type { GlobOptions } from './glob-pattern.js';
import { type GlobPlan, type GlobStep, GlobWalk, planGlob } from './glob-walk.js';

export interface GlobSearchOptions extends GlobOptions {
  /** Directory of relative patterns. Default `/`. */
  readonly cwd?: string | undefined;
  /** Leave directories out. Default false. */
  readonly onlyFiles?: boolean | undefined;
  /**
   * Patterns of paths to leave out, relative to `cwd`. A directory that matches is not entered, so nothing in it is
   * returned. Their wildcards match a leading dot. Default: none.
   */
  readonly exclude?: string | readonly string[] | undefined;
}

const OPTIONS = ['cwd', 'dot', 'onlyFiles', 'exclude'];

/**
 * Returns the absolute paths that match at least one pattern, each once: parents first, siblings by UTF-8 bytes. The
 * syntax is that of `compileGlob`; a pattern with a leading `/` begins at the root, `..` goes up lexically. Links in
 * the literal directories at a pattern's start are followed, others are matched but not entered. `cwd` itself never
 * matches. The result is as consistent as that of `walk`.
 *
 * @throws TypeError for patterns or options of a wrong type, before the iteration
 * @throws RangeError for a pattern that `compileGlob` refuses with a RangeError, before the iteration
 * @throws FsError EINVAL for ill-formed text, ENOENT for an empty `cwd`, ENAMETOOLONG for one beyond a limit, before
 * the iteration
 */
export function glob(
  fileSystem: FileSystem,
  patterns: string | readonly string[],
  options?: GlobSearchOptions & CallOptions,
): AsyncIterableIterator<string> {
  const start = startOf(patterns, options);
  return withoutPauses(trustedApi(fileSystem).iterate(start, { signal: signalIn(options) }));
}

/** Like {@link glob}, for synchronous storages. */
export function globSync(
  fileSystem: SyncFileSystem,
  patterns: string | readonly string[],
  options?: GlobSearchOptions,
): IterableIterator<string> {
  return withoutPausesSync(trustedSyncApi(fileSystem, 'globSync').iterateSync(startOf(patterns, options)));
}

function startOf(patterns: string | readonly string[], options: GlobSearchOptions | undefined) {
  const given = checkOptions(options, OPTIONS, 'glob');
  const plan = planGlob(patterns, given.cwd ?? '/', checkBoolean(given.dot, 'dot'), given.exclude);
  const onlyFiles = checkBoolean(given.onlyFiles, 'onlyFiles');
  return (view: View) => new GlobPaths(view, plan, onlyFiles);
}

class GlobPaths implements Cursor<string | null> {
  readonly #walk: GlobWalk;
  constructor(
    view: View,
    plan: GlobPlan,
    readonly onlyFiles: boolean,
  ) {
    this.#walk = new GlobWalk(view, plan);
  }

  next(): string | null | undefined {
    const step: GlobStep | undefined = this.#walk.next();
    if (step === undefined || step === null) return step;
    return this.onlyFiles && step.node.kind === DIRECTORY ? null : step.path;
  }
}

/** Removes the nulls by which cursors let other tasks run. */
export async function* withoutPauses<T>(items: AsyncIterable<T | null>): AsyncGenerator<T, void, undefined> {
  for await (const item of items) if (item !== null) yield item;
}

export function* withoutPausesSync<T>(items: Iterable<T | null>): Generator<T, void, undefined> {
  for (const item of items) if (item !== null) yield item;
}
