import { checkBoolean, checkInteger, checkOptions } from '../engine/arguments.js';
import { diffLines, type LineChange, type LineDiffOptions } from './line-diff.js';

/** One side of a file in a diff: bytes or text; undefined where the file does not exist on that side. */
export type DiffContent = string | Uint8Array | undefined;

export interface DiffFile {
  /** The path, with or without a leading `/`. */
  readonly path: string;
  /** The path before, where it was another. */
  readonly oldPath?: string | undefined;
  readonly before: DiffContent;
  readonly after: DiffContent;
  /** Permission bits and kind as git has them: `100644`, `100755`, `120000`. Default 100644 for each side. */
  readonly oldMode?: string | undefined;
  readonly newMode?: string | undefined;
}

export interface UnifiedOptions extends LineDiffOptions {
  /** Unchanged lines around a change. Default 3. */
  readonly context?: number | undefined;
  /** Colours as git has them (ANSI). Control characters of the content are then shown as `^X`. Default false. */
  readonly color?: boolean | undefined;
}

const BINARY_PROBE = 8192;
const PAINT = { meta: '\u001b[1m', hunk: '\u001b[36m', removed: '\u001b[31m', added: '\u001b[32m' };
const RESET = '\u001b[m';

/**
 * A file's changes as unified text, as `git diff` prints it, so that `git apply` and `patch` take it; the empty text
 * where nothing differs. Content with NUL in its first 8 KiB, and bytes that are no UTF-8, are binary: it is only said
 * that they differ. Names that need it are quoted as git does.
 *
 * Lines end with `\n`; a `\r` before it belongs to the line.
 * @throws TypeError, RangeError for options of a wrong kind
 */
export function formatUnified(file: DiffFile, options?: UnifiedOptions): string {
  const given = checkOptions(options, ['context', 'color', 'maxWork'], 'formatUnified');
  const context = checkInteger(given.context ?? 3, 'context');
  const color = checkBoolean(given.color, 'color');
  const header = headerLines(file);
  const before = textOf(file.before);
  const after = textOf(file.after);
  const body: Line[] = [];
  if (before === BINARY || after === BINARY) {
    if (areSame(file.before, file.after)) return header.length > 1 ? print(header, color) : '';
    body.push(['meta', `Binary files ${nameOf(file, 'old')} and ${nameOf(file, 'new')} differ`]);
  } else {
    const hunks = hunkLines(splitLines(before), splitLines(after), context, given.maxWork);
    if (hunks.length > 0) {
      body.push(['meta', `--- ${withTab(nameOf(file, 'old'))}`], ['meta', `+++ ${withTab(nameOf(file, 'new'))}`]);
      for (const line of hunks) body.push(line);
    } else if (header.length === 1) return '';
  }
  return print([...header, ...body], color);
}

type Line = readonly [kind: keyof typeof PAINT | 'same', text: string];

function headerLines(file: DiffFile): Line[] {
  const { oldMode = '100644', newMode = '100644' } = file;
  const path = trim(file.path);
  const oldPath = trim(file.oldPath ?? file.path);
  const lines: Line[] = [['meta', `diff --git ${quoteName(`a/${oldPath}`)} ${quoteName(`b/${path}`)}`]];
  if (file.before === undefined && file.after === undefined) return lines;
  if (file.before === undefined) lines.push(['meta', `new file mode ${newMode}`]);
  else if (file.after === undefined) lines.push(['meta', `deleted file mode ${oldMode}`]);
  else {
    if (oldMode !== newMode) lines.push(['meta', `old mode ${oldMode}`], ['meta', `new mode ${newMode}`]);
    if (oldPath !== path)
      lines.push(['meta', `rename from ${quoteName(oldPath)}`], ['meta', `rename to ${quoteName(path)}`]);
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

const ESCAPES: Record<string, string> = { '\n': '\\n', '\t': '\\t', '\r': '\\r', '"': '\\"', '\\': '\\\\' };
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters a line of a patch must not carry
const QUOTED = /[\u0000-\u001f\u007f"\\]/g;

/** A name as git writes it in a patch (`core.quotePath=false`): in quotes where it has controls, `"` or `\`. */
function quoteName(name: string): string {
  const quoted = name.replace(
    QUOTED,
    (unit) => ESCAPES[unit] ?? `\\${unit.charCodeAt(0).toString(8).padStart(3, '0')}`,
  );
  return quoted === name ? name : `"${quoted}"`;
}

/** A name with a space ends with a tab, so that `patch` does not look for a time behind the space. */
function withTab(name: string): string {
  return name.includes(' ') && !name.startsWith('"') ? `${name}\t` : name;
}

const BINARY = Symbol('binary');

function textOf(content: DiffContent): string | typeof BINARY {
  if (content === undefined) return '';
  if (typeof content === 'string') return content.slice(0, BINARY_PROBE).includes('\0') ? BINARY : content;
  if (content.subarray(0, BINARY_PROBE).includes(0)) return BINARY;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return BINARY;
  }
}

function areSame(before: DiffContent, after: DiffContent): boolean {
  if (before === undefined || after === undefined) return before === after;
  const [a, b] = [before, after].map((content) =>
    typeof content === 'string' ? new TextEncoder().encode(content) : content,
  );
  return a?.length === b?.length && (a as Uint8Array).every((byte, i) => byte === (b as Uint8Array)[i]);
}

/** Lines with their ends, so that a last line without one differs from the same line with it. */
function splitLines(text: string): string[] {
  const lines: string[] = [];
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline + 1;
    lines.push(text.slice(start, end));
    start = end;
  }
  return lines;
}

function hunkLines(a: string[], b: string[], context: number, maxWork: number | undefined): Line[] {
  const lines: Line[] = [];
  for (const group of groupChanges(diffLines(a, b, { maxWork }), context)) {
    const first = group[0] as LineChange;
    const last = group.at(-1) as LineChange;
    const lead = Math.min(context, first.aStart);
    const tail = Math.min(context, a.length - last.aEnd);
    const from = `-${range(first.aStart - lead, last.aEnd + tail)}`;
    lines.push(['hunk', `@@ ${from} +${range(first.bStart - lead, last.bEnd + tail)} @@`]);
    let at = first.aStart - lead;
    for (const change of group) {
      for (; at < change.aStart; at++) push(lines, 'same', ' ', a[at] as string);
      for (; at < change.aEnd; at++) push(lines, 'removed', '-', a[at] as string);
      for (let i = change.bStart; i < change.bEnd; i++) push(lines, 'added', '+', b[i] as string);
    }
    for (; at < last.aEnd + tail; at++) push(lines, 'same', ' ', a[at] as string);
  }
  return lines;
}

/** Changes whose contexts touch belong to one hunk. */
function groupChanges(changes: readonly LineChange[], context: number): LineChange[][] {
  const groups: LineChange[][] = [];
  for (const change of changes) {
    const group = groups.at(-1);
    if (group && change.aStart - (group.at(-1) as LineChange).aEnd <= 2 * context) group.push(change);
    else groups.push([change]);
  }
  return groups;
}

/** Lines as a hunk counts them, from 1; an empty run is named by the line before it. */
function range(start: number, end: number): string {
  const length = end - start;
  if (length === 1) return `${start + 1}`;
  return `${length === 0 ? start : start + 1},${length}`;
}

function push(lines: Line[], kind: Line[0], sign: string, line: string): void {
  const hasEnd = line.endsWith('\n');
  lines.push([kind, sign + (hasEnd ? line.slice(0, -1) : line)]);
  if (!hasEnd) lines.push(['same', '\\ No newline at end of file']);
}

function print(lines: readonly Line[], color: boolean): string {
  let text = '';
  for (const [kind, line] of lines) {
    if (!color) text += `${line}\n`;
    else text += kind === 'same' ? `${tame(line)}\n` : `${PAINT[kind]}${tame(line)}${RESET}\n`;
  }
  return text;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that drive a terminal
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Text that cannot drive a terminal: controls but tab as `^X`, others by their code. */
function tame(line: string): string {
  return line.replace(CONTROLS, (unit) => {
    const code = unit.charCodeAt(0);
    if (code < 0x20 || code === 0x7f) return `^${String.fromCharCode(code ^ 0x40)}`;
    return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
  });
}
