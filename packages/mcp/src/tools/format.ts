import { escapeCharacter, UNSAFE_CHARACTERS } from '@scratchfs/core/internal';
import {
  type Conflict,
  type MainChange,
  mainChanges,
  type Operation,
  type OperationChange,
  type PathDiff,
  type RefreshResult,
} from '@scratchfs/workspace';

/**
 * Makes text safe to show: escapes control characters, except tabs and line feeds, and those that hide or reorder text.
 */
export function printable(text: string): string {
  return text.replace(UNSAFE_CHARACTERS, (character) =>
    character === '\n' || character === '\t' ? character : escapeCharacter(character),
  );
}

/** Formats a path or name so that it stays on one line. */
export function nameOf(path: string): string {
  return printable(path).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Formats differences as a unified diff. */
export function diffText(paths: readonly PathDiff[]): string {
  return paths.map(pathText).join('\n');
}

/** Formats differences with one line for each path. */
export function statText(paths: readonly PathDiff[]): string {
  return paths.map((diff) => `${signOf(diff)} ${named(diff)}${sizes(diff)}`).join('\n');
}

function pathText(diff: PathDiff): string {
  const { hunks, type, from, path } = diff;
  if (hunks.length === 0) return `${signOf(diff)} ${named(diff)}${sizes(diff)}`;
  const before = type === 'added' ? '/dev/null' : `a${nameOf(from ?? path)}`;
  const after = type === 'removed' ? '/dev/null' : `b${nameOf(path)}`;
  const lines = hunks.flatMap((hunk) => [
    `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`,
    ...hunk.lines,
  ]);
  return [`--- ${before}`, `+++ ${after}`, ...lines].join('\n');
}

const SIGNS = { added: 'A', removed: 'D', changed: 'M', moved: 'R' } as const;

function signOf({ type }: { readonly type: keyof typeof SIGNS }): string {
  return SIGNS[type];
}

function named({ path, from }: { readonly path: string; readonly from?: string | undefined }): string {
  return from === undefined ? nameOf(path) : `${nameOf(from)} -> ${nameOf(path)}`;
}

function sizes({ binary, additions, deletions, after, before, files }: PathDiff): string {
  if (binary) return ' (not text)';
  if (files !== undefined) return ` (directory, ${counted(files, 'file')})`;
  if ((after ?? before)?.kind !== 'file') return ` (${(after ?? before)?.kind ?? 'nothing'})`;
  return ` +${additions} -${deletions}`;
}

const CONFLICTS: Readonly<Record<Conflict['code'], string>> = {
  content: 'both changed the same lines',
  binary: 'both changed it, and it is not text',
  kind: 'it became another kind of entry',
  removed: 'one side removed what the other changed',
  exists: 'both created it',
  mode: 'both changed its mode',
  case: 'the disk has the name in another case',
  directory: 'the directory that was moved is gone or is another one',
  'not-empty': 'it replaces a directory that holds ignored or hidden entries, which stay',
  refused:
    'the disk cannot take it: a repository, a link that leads out of the directory, another disk, or no permission',
};

const SETTLED_BY_WRITING: ReadonlySet<Conflict['code']> = new Set(['content', 'binary', 'removed', 'exists', 'mode']);

export function conflictLine({ path, code }: Conflict): string {
  return `conflict ${nameOf(path)}: ${CONFLICTS[code]}`;
}

export function conflictLines(conflicts: readonly Conflict[]): string[] {
  const lines = conflicts.map(conflictLine);
  if (conflicts.some(({ code }) => SETTLED_BY_WRITING.has(code)))
    lines.push('diff shows what the disk has. To settle a conflict, read the file and write it again.');
  return lines;
}

/** Maximum number of paths that a note names, and of the characters of these together. */
const MAX_NAMED = 5;
const MAX_NAMED_LENGTH = 8_000;

/** Returns the first entries, as many as a note names. */
export function firstNamed<T extends { readonly path: string }>(entries: readonly T[]): T[] {
  let room = MAX_NAMED_LENGTH;
  const isOver = ({ path }: T, index: number): boolean => {
    room -= nameOf(path).length;
    return index === MAX_NAMED || room < 0;
  };
  const end = entries.findIndex(isOver);
  return entries.slice(0, end < 0 ? entries.length : end);
}

/** Returns a line for changes by the person that the attempt has taken over; no line if there are none. */
export function mergedLines({ merged }: Pick<RefreshResult, 'merged'>): string[] {
  if (merged.length === 0) return [];
  const names = firstNamed(merged.map((path) => ({ path }))).map(({ path }) => nameOf(path));
  if (names.length < merged.length) names.push('…');
  return [`${counted(merged.length, 'file')} changed on disk: ${names.join(', ')}`];
}

/** Maximum number of paths that are shown for an operation. */
const MAX_PATHS = 5;

/** Formats an operation with a line for it, and lines for its changes. */
export function operationText(operation: Operation): string {
  const { id, at, actor, tool, summary, ok } = operation;
  const head = `${id} ${new Date(at).toISOString()} ${nameOf(actor)} ${nameOf(tool)}: ${nameOf(summary)}`;
  return [`${head}${ok ? '' : ' (failed)'}`, ...changeLines(operation)].join('\n');
}

/** Returns a line for each of an operation's first changes, and one with the number of the others. */
export function changeLines({ changes }: Pick<Operation, 'changes'>): string[] {
  return effectLines(changes, MAX_PATHS, '    ');
}

/**
 * Returns a line for each of the first changes, as a person counts them, and one with the number of the others.
 * @param max number of changes that have a line of their own
 */
export function effectLines(changes: readonly OperationChange[], max: number, indent: string): string[] {
  const main = mainChanges(changes, max);
  const shown = main.slice(0, max).map((change) => `${indent}${signOf(change)} ${named(change)}${detail(change)}`);
  const rest = main.length - shown.length;
  if (rest > 0) shown.push(`${indent}and ${counted(rest, 'more path')}`);
  return shown;
}

function detail({ type, before, after, files }: MainChange): string {
  if (type === 'moved')
    return before === null || before === 'disk'
      ? ''
      : ` (replaces a ${before.kind} of ${counted(before.size, 'byte')})`;
  const side = after ?? before;
  if (side === null || side === 'disk' || side.kind !== 'directory') return '';
  return files === undefined ? ' (directory)' : ` (directory, ${counted(files, 'file')})`;
}
