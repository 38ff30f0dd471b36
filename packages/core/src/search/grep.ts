import { checkBoolean, checkInteger, checkOptions, signalIn } from '../engine/arguments.js';
import { trustedApi, trustedSyncApi } from '../engine/internals.js';
import { keepOptimized } from '../engine/keep-optimized.js';
import type { View } from '../engine/view.js';
import type { CallOptions, FileSystem, SyncFileSystem } from '../file-system.js';
import { normalizePath } from '../paths.js';
import { withoutPauses, withoutPausesSync } from './glob.js';
import { planGlob } from './glob-walk.js';
import { GrepCursor, type GrepMatch, type GrepPlan } from './grep-cursor.js';
import { type LineMatcher, parseQuery } from './line-matcher.js';
import { LineScanner } from './line-scanner.js';

export interface GrepOptions {
  /** Files and directories to search. A file within several of them is searched once. Default `/`. */
  readonly paths?: string | readonly string[] | undefined;
  /** Patterns, relative to the searched directory, of which a file in it must match one. Default `**`. */
  readonly glob?: string | readonly string[] | undefined;
  /**
   * Patterns, relative to the searched directory, of files and directories that are not searched. Their wildcards match
   * a leading dot. A file that `paths` names is searched anyway. Default: none.
   */
  readonly exclude?: string | readonly string[] | undefined;
  /** Also search names with a leading dot. Default false: then a path or pattern has to name them. */
  readonly dot?: boolean | undefined;
  /** Ignore case; for literal text only. Default false. */
  readonly ignoreCase?: boolean | undefined;
  /** Lines of context before and after each match, up to 100. Default 0. */
  readonly context?: number | undefined;
  /**
   * Lines after which the search ends, without a sign: if as many are returned there may be more, so request one more
   * than you show. Default 1,000.
   */
  readonly maxMatches?: number | undefined;
  /** Maximum number of UTF-16 units returned of a line; a cut is marked with an additional `…`. Default 500. */
  readonly maxLineLength?: number | undefined;
  /** Size in bytes above which a file is skipped. Default 256 MiB, at most 2 GiB - 1. */
  readonly maxFileSize?: number | undefined;
}

const OPTIONS = [
  'paths',
  'glob',
  'exclude',
  'dot',
  'ignoreCase',
  'context',
  'maxMatches',
  'maxLineLength',
  'maxFileSize',
] as const satisfies readonly (keyof GrepOptions)[];

/**
 * Returns the lines that contain a text, or that a custom matcher finds, file by file in the order of `glob`. Binary
 * files (NUL in the first 8,000 bytes) and links within directories are skipped, malformed UTF-8 reads as U+FFFD, a
 * line ends at `\n` or `\r\n`. A file with several names is searched under each. The names are as consistent as those
 * of `walk`. On a remote storage the contents are so too only if neither `glob` nor `exclude` is given; otherwise each
 * file is read as of some moment after the call.
 *
 * @throws TypeError for a RegExp (it may take exponential time) and for options of a wrong type, before the iteration
 * @throws RangeError for text that is empty, too long or has a line break, for a pattern that `compileGlob` refuses
 * with a RangeError, and for numbers out of range, before the iteration
 * @throws FsError ENOENT for a path that does not exist
 */
export function grep(
  fileSystem: FileSystem,
  query: string | LineMatcher,
  options?: GrepOptions & CallOptions,
): AsyncIterableIterator<GrepMatch> {
  const plan = planGrep(query, options);
  return withoutPauses(
    trustedApi(fileSystem).iterate((view) => new GrepCursor(view, plan), { signal: signalIn(options) }),
  );
}

/** Like {@link grep}, for synchronous storages. */
export function grepSync(
  fileSystem: SyncFileSystem,
  query: string | LineMatcher,
  options?: GrepOptions,
): IterableIterator<GrepMatch> {
  const plan = planGrep(query, options);
  return withoutPausesSync(
    trustedSyncApi(fileSystem, 'grepSync').iterateSync((view: View) => new GrepCursor(view, plan)),
  );
}

/** Set at the first search, see {@link keepOptimized}. */
let isKept = false;

function planGrep(query: string | LineMatcher, options: GrepOptions | undefined): GrepPlan {
  if (!isKept) {
    isKept = true;
    keepOptimized(new GrepCursor(undefined as never, undefined as never));
    keepOptimized(new LineScanner(new Uint8Array(0), undefined as never, undefined as never, 0));
  }
  const given = checkOptions(options, OPTIONS, 'grep');
  const dot = checkBoolean(given.dot, 'dot');
  const roots = rootsOf(given.paths ?? '/');
  return {
    query: parseQuery(query, checkBoolean(given.ignoreCase, 'ignoreCase')),
    roots: roots.map((path) => ({ path, glob: planGlob(given.glob ?? '**', path, dot, given.exclude) })),
    isWhole: given.glob === undefined && given.exclude === undefined,
    context: checkInteger(given.context ?? 0, 'context', 0, 100),
    maxMatches: checkInteger(given.maxMatches ?? 1000, 'maxMatches', 1),
    maxLineLength: checkInteger(given.maxLineLength ?? 500, 'maxLineLength', 1),
    maxFileSize: checkInteger(given.maxFileSize ?? 2 ** 28, 'maxFileSize', 0, 2 ** 31 - 1),
  };
}

/** Returns the given paths, normalized, each once. */
function rootsOf(paths: string | readonly string[]): string[] {
  const list = typeof paths === 'string' ? [paths] : paths;
  if (!Array.isArray(list)) throw new TypeError('paths must be a string, or a list of them');
  return [...new Set(list.map((path) => normalizePath(path, 'grep')))];
}
