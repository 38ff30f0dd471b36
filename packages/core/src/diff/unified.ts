import { BINARY_PROBE_BYTES } from '../binary-probe.js';
import { checkBoolean, checkInteger, checkOptions } from '../engine/arguments.js';
import { runSteps, type Steps } from '../engine/scheduling/time-slice.js';
import { sameBytes } from '../tree/same-bytes.js';
import { printHunks } from './hunks.js';
import { DEFAULT_MAX_WORK } from './line-changes.js';
import type { LineDiffOptions } from './line-diff.js';
import { Lines } from './lines.js';
import { LinePrinter } from './print-lines.js';
import { quoteName, withTab } from './quote-name.js';

/** One side of a file in a diff, as bytes or text; undefined if the file does not exist on that side. */
export type DiffContent = string | Uint8Array | undefined;

export interface DiffFile {
  /** The path, with or without a leading `/`. */
  readonly path: string;
  /** The path before, if it was different. */
  readonly oldPath?: string | undefined;
  readonly before: DiffContent;
  readonly after: DiffContent;
  /** Permission bits and kind in git's form: `100644`, `100755`, `120000`. Default 100644 for each side. */
  readonly oldMode?: string | undefined;
  readonly newMode?: string | undefined;
}

export interface UnifiedOptions extends LineDiffOptions {
  /** Unchanged lines around a change. Default 3. */
  readonly context?: number | undefined;
  /**
   * Colours as in git (ANSI). Control characters except tab are then escaped, as `^X` or `<U+0085>`, and so are U+202A
   * to U+202E and U+2066 to U+2069, which change the direction of text. Default false.
   */
  readonly color?: boolean | undefined;
}

/**
 * Returns a file's changes as unified text in the form of `git diff`, which `git apply` and `patch` read; empty if
 * nothing differs. Content with NUL in its first 8,000 bytes, or that is not UTF-8, is binary: the text only says that
 * it differs, and cannot be applied. Names with ASCII control characters, `"` or `\` are quoted.
 *
 * Lines end with `\n`; a `\r` before it belongs to the line.
 * @throws TypeError, RangeError for invalid options
 */
export function formatUnified(file: DiffFile, options?: UnifiedOptions): string {
  return runSteps(unifiedSteps(file, checkUnified(options, 'formatUnified')));
}

/** Checked options. */
export interface UnifiedFormat {
  readonly context: number;
  readonly color: boolean;
  readonly maxWork: number;
}

export const UNIFIED_OPTIONS = ['context', 'color', 'maxWork'];

export function checkUnified(options: UnifiedOptions | undefined, method: string): UnifiedFormat {
  const given = checkOptions(options, UNIFIED_OPTIONS, method);
  return {
    context: checkInteger(given.context ?? 3, 'context'),
    color: checkBoolean(given.color, 'color'),
    maxWork: checkInteger(given.maxWork ?? DEFAULT_MAX_WORK, 'maxWork'),
  };
}

/** Like {@link formatUnified}, with pauses. */
export function* unifiedSteps(file: DiffFile, { context, color, maxWork }: UnifiedFormat): Steps<string> {
  const header = headerLines(file);
  const top = printOwn(header, color);
  const before = bytesOf(file.before);
  const after = bytesOf(file.after);
  if (before.length === after.length && sameBytes(before, after, before.length)) return header.length > 1 ? top : '';
  yield;
  const [from, to] = [nameOf(file, 'old'), nameOf(file, 'new')];
  if ((yield* isBinary(before)) || (yield* isBinary(after)))
    return top + printOwn([`Binary files ${from} and ${to} differ`], color);
  const [a, b] = [yield* Lines.of(before), yield* Lines.of(after)];
  const names = printOwn([`--- ${withTab(from)}`, `+++ ${withTab(to)}`], color);
  return top + names + (yield* printHunks(a, b, context, maxWork, color));
}

function printOwn(lines: readonly string[], color: boolean): string {
  const printer = new LinePrinter(color);
  for (const line of lines) printer.own('meta', line);
  return printer.finish();
}

function headerLines(file: DiffFile): string[] {
  const { oldMode = '100644', newMode = '100644' } = file;
  const path = trim(file.path);
  const oldPath = trim(file.oldPath ?? file.path);
  const lines = [`diff --git ${quoteName(`a/${oldPath}`)} ${quoteName(`b/${path}`)}`];
  if (file.before === undefined && file.after === undefined) return lines;
  if (file.before === undefined) lines.push(`new file mode ${newMode}`);
  else if (file.after === undefined) lines.push(`deleted file mode ${oldMode}`);
  else {
    if (oldMode !== newMode) lines.push(`old mode ${oldMode}`, `new mode ${newMode}`);
    if (oldPath !== path) lines.push(`rename from ${quoteName(oldPath)}`, `rename to ${quoteName(path)}`);
  }
  return lines;
}

function nameOf(file: DiffFile, side: 'old' | 'new'): string {
  if ((side === 'old' ? file.before : file.after) === undefined) return '/dev/null';
  return quoteName(side === 'old' ? `a/${trim(file.oldPath ?? file.path)}` : `b/${trim(file.path)}`);
}

function trim(path: string): string {
  return path.startsWith('/') ? path.slice(1) : path;
}

/** Bytes examined between two pauses. */
const SLICE_BYTES = 2 ** 19;

const STRICT = new TextDecoder('utf-8', { fatal: true });
const ENCODER = new TextEncoder();

function bytesOf(content: DiffContent): Uint8Array {
  if (content === undefined) return new Uint8Array(0);
  return typeof content === 'string' ? ENCODER.encode(content) : content;
}

function* isBinary(bytes: Uint8Array): Steps<boolean> {
  if (bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)) return true;
  try {
    if (bytes.length <= SLICE_BYTES) {
      STRICT.decode(bytes);
      return false;
    }
    const decoder = new TextDecoder('utf-8', { fatal: true });
    for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
      decoder.decode(bytes.subarray(at, at + SLICE_BYTES), { stream: true });
      yield;
    }
    decoder.decode();
    return false;
  } catch {
    return true;
  }
}
