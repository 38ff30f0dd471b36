import { parentPath } from '@scratchfs/core';
import { quoteName, withTab } from '@scratchfs/core/internal';
import type { Conflict, PathDiff } from '@scratchfs/workspace';
import { alignColumns } from '../terminal/columns.js';
import { escapeContent } from '../terminal/escape.js';
import type { Output } from '../terminal/output.js';
import { count } from '../terminal/quantities.js';
import type { Style } from '../terminal/style.js';
import { pathText } from './operation-text.js';

/**
 * Returns one line for each path: what happened to it, its name, numbers of lines. What is in a removed directory is
 * counted on the directory's line.
 */
export function statLines(paths: readonly PathDiff[], { style, fit }: Output): string[] {
  const rows = countedPaths(paths).map((one) => [
    `  ${painted(one.type, style)}`,
    nameOf(one) + heldText(one),
    numbersOf(one, style),
  ]);
  return alignColumns(rows, { fit });
}

/**
 * Returns the paths without those that were removed with a directory. The directory's path has the sum of their lines.
 */
function countedPaths(paths: readonly PathDiff[]): PathDiff[] {
  const directories = new Set(paths.filter(({ files }) => files !== undefined).map(({ path }) => path));
  const deletionsIn = new Map<string, number>();
  const shown: PathDiff[] = [];
  for (const one of paths) {
    const top =
      one.type === 'removed' ? directoriesAbove(one.path).findLast((above) => directories.has(above)) : undefined;
    if (top === undefined) shown.push(one);
    else deletionsIn.set(top, (deletionsIn.get(top) ?? 0) + one.deletions);
  }
  return shown.map((one) => ({ ...one, deletions: one.deletions + (deletionsIn.get(one.path) ?? 0) }));
}

/** Returns the directories above a path, the nearest first, without the root. */
function directoriesAbove(path: string): string[] {
  const found: string[] = [];
  for (let above = parentPath(path); above !== '/'; above = parentPath(above)) found.push(above);
  return found;
}

/**
 * Returns the sum of a diff: `3 paths changed, 12 lines added, 4 lines removed`. A removed directory counts as one
 * path, as in the list.
 */
export function sumText(paths: readonly PathDiff[]): string {
  const added = paths.reduce((sum, { additions }) => sum + additions, 0);
  const removed = paths.reduce((sum, { deletions }) => sum + deletions, 0);
  return `${count(countedPaths(paths).length, 'path')} changed, ${count(added, 'line')} added, ${count(removed, 'line')} removed`;
}

function painted(type: PathDiff['type'], style: Style): string {
  if (type === 'added') return style.added(type);
  if (type === 'removed') return style.removed(type);
  return type === 'moved' ? style.moved(type) : style.changed(type);
}

function nameOf({ path, from, after, before }: PathDiff): string {
  const slash = (after ?? before)?.kind === 'directory' ? '/' : '';
  return from === undefined ? pathText(path) + slash : `${pathText(from)}${slash} -> ${pathText(path)}${slash}`;
}

function heldText({ files }: PathDiff): string {
  return files === undefined ? '' : ` (${count(files, 'file')})`;
}

function numbersOf({ additions, deletions, binary }: PathDiff, style: Style): string {
  if (binary) return style.dim('binary');
  const parts = [
    ...(additions > 0 ? [style.added(`+${additions}`)] : []),
    ...(deletions > 0 ? [style.removed(`-${deletions}`)] : []),
  ];
  return parts.join(' ');
}

/**
 * Returns a path's changes in git's format. In a pipe, names and text are exact, so that `git apply` can read them. An
 * entry that became another kind is a removal and an addition, as in git. For a directory there is one line, which git
 * skips; of a binary file, a line says only that it differs.
 */
export function patchLines(path: PathDiff, output: Pick<Output, 'style' | 'isTerminal'>): string[] {
  const { style } = output;
  const shown = (text: string): string => (output.isTerminal ? escapeContent(text) : text);
  const { before, after, from, binary, hunks } = path;
  if (before !== null && after !== null && before.kind !== after.kind)
    return [
      ...patchLines({ ...sideOf(path, before), path: from ?? path.path, type: 'removed', after: null }, output),
      ...patchLines({ ...sideOf(path, after), type: 'added', before: null }, output),
    ];
  // git has no directories, and skips lines such as this one between patches.
  if ((after ?? before)?.kind === 'directory') return [`${painted(path.type, style)} ${nameOf(path)}${heldText(path)}`];
  // quoteName() leaves some unsafe characters as they are, such as marks of direction.
  const quoted = (name: string): string => shown(quoteName(name));
  const [oldName, newName] = [quoted(`a${from ?? path.path}`), quoted(`b${path.path}`)];
  const lines = [style.heading(`diff --git ${oldName} ${newName}`)];
  const oldMode = modeOf(before);
  const newMode = modeOf(after);
  if (before === null) lines.push(style.heading(`new file mode ${newMode}`));
  else if (after === null) lines.push(style.heading(`deleted file mode ${oldMode}`));
  else {
    if (oldMode !== newMode) lines.push(style.heading(`old mode ${oldMode}`), style.heading(`new mode ${newMode}`));
    if (from !== undefined)
      lines.push(
        style.heading(`rename from ${quoted(from.slice(1))}`),
        style.heading(`rename to ${quoted(path.path.slice(1))}`),
      );
  }
  const shownHunks = hunks.length > 0 ? hunks : linkHunks(path);
  if (binary)
    lines.push(
      `Binary files ${before === null ? '/dev/null' : oldName} and ${after === null ? '/dev/null' : newName} differ`,
    );
  if (shownHunks.length > 0)
    lines.push(
      style.heading(`--- ${before === null ? '/dev/null' : withTab(oldName)}`),
      style.heading(`+++ ${after === null ? '/dev/null' : withTab(newName)}`),
    );
  // Not push(...), which takes only so many arguments.
  return [...lines, ...shownHunks.flatMap((hunk) => hunkLines(hunk, style, shown))];
}

/** Returns a path that became another kind, with only the text of one side. */
function sideOf(path: PathDiff, side: NonNullable<PathDiff['before']>): PathDiff {
  const isFile = side.kind === 'file';
  return { ...path, from: undefined, binary: isFile && path.binary, hunks: isFile ? path.hunks : [] };
}

type Hunk = Pick<PathDiff['hunks'][number], 'oldStart' | 'oldLines' | 'newStart' | 'newLines' | 'lines'>;

/**
 * Returns the change of a symlink's target. For git, a symlink is a file that contains its target, with no line feed at
 * the end.
 */
function linkHunks({ before, after }: PathDiff): Hunk[] {
  const [old, now] = [before?.target, after?.target].map((target) => target?.split('\n'));
  if (before?.target === after?.target) return [];
  const side = (sign: string, target: readonly string[] | undefined): string[] =>
    target === undefined ? [] : [...target.map((line) => sign + line), '\\ No newline at end of file'];
  const [oldLines, newLines] = [old?.length ?? 0, now?.length ?? 0];
  const lines = [...side('-', old), ...side('+', now)];
  return [{ oldStart: Math.min(1, oldLines), oldLines, newStart: Math.min(1, newLines), newLines, lines }];
}

/** Returns the lines of a hunk, with its `@@` header. */
export function hunkLines(hunk: Hunk, style: Style, shown: (text: string) => string): string[] {
  const range = (start: number, length: number): string => (length === 1 ? String(start) : `${start},${length}`);
  return [
    style.moved(`@@ -${range(hunk.oldStart, hunk.oldLines)} +${range(hunk.newStart, hunk.newLines)} @@`),
    ...hunk.lines.map((line) => {
      const text = shown(line);
      if (line.startsWith('+')) return style.added(text);
      return line.startsWith('-') ? style.removed(text) : text;
    }),
  ];
}

function modeOf(state: PathDiff['before']): string {
  if (state === null) return '';
  if (state.kind === 'symlink') return '120000';
  if (state.kind === 'directory') return '040000';
  return (state.mode & 0o111) === 0 ? '100644' : '100755';
}

/** Returns a path's difference as `--json` shows it. */
export function pathJson({
  path,
  type,
  from,
  before,
  after,
  binary,
  additions,
  deletions,
  hunks,
  files,
}: PathDiff): Record<string, unknown> {
  const moved = from === undefined ? {} : { from };
  const held = files === undefined ? {} : { files };
  return { path, type, ...moved, before, after, binary, additions, deletions, ...held, hunks };
}

const REASONS: Readonly<Record<Conflict['code'], string>> = {
  content: 'both changed the same lines',
  binary: 'both changed it, and it is not text',
  kind: 'it became another kind of entry',
  removed: 'one side removed it, the other changed it',
  exists: 'both created it',
  mode: 'both changed its mode',
  case: 'the disk has the name in another case',
  directory: 'the directory that it was moved from is gone or another one',
  'not-empty': 'it replaces a directory that holds ignored or hidden entries, which stay',
  refused:
    'the disk cannot take it: a repository, a link that leads out of the directory, another disk, or no permission',
};

/** Returns one line for each conflict. */
export function conflictLines(conflicts: readonly Conflict[], { style }: Output): string[] {
  return alignColumns(
    conflicts.map(({ path, code }) => [`  ${style.error('conflict')}`, pathText(path), style.dim(REASONS[code])]),
  );
}

export function conflictJson({ path, code, base, disk, attempt }: Conflict): Record<string, unknown> {
  return { path, code, base, disk, attempt };
}
