import { diffLines, formatUnified } from '@scratchfs/core/diff';
import { InputError } from '@scratchfs/tools';

export interface LineEdit {
  readonly oldText: string;
  readonly newText: string;
}

/**
 * Makes edits one after the other, each at the first place where its text occurs, or else where its lines occur apart
 * from white space around them.
 * @param text text whose line ends are LF
 * @throws InputError if a text occurs in neither way
 */
export function editLines(text: string, edits: readonly LineEdit[]): string {
  let edited = text;
  for (const edit of edits) {
    const [before, after] = [withoutReturns(edit.oldText), withoutReturns(edit.newText)];
    const next = edited.includes(before) ? edited.replace(before, () => after) : replaceLines(edited, before, after);
    if (next === undefined) throw new InputError(`Could not find exact match for edit:\n${edit.oldText}`);
    edited = next;
  }
  return edited;
}

function replaceLines(text: string, before: string, after: string): string | undefined {
  const [lines, wanted] = [text.split('\n'), before.split('\n')];
  const isHere = (at: number): boolean => wanted.every((line, i) => line.trim() === lines[at + i]?.trim());
  for (let at = 0; at <= lines.length - wanted.length; at++) {
    if (!isHere(at)) continue;
    const indent = indentOf(lines[at]);
    const replaced = after.split('\n').map((line, i) => {
      if (i === 0) return indent + line.trimStart();
      const [old, now] = [indentOf(wanted[i]), indentOf(line)];
      if (old === '' || now === '') return line;
      return indent + ' '.repeat(Math.max(0, now.length - old.length)) + line.trimStart();
    });
    return [...lines.slice(0, at), ...replaced, ...lines.slice(at + wanted.length)].join('\n');
  }
  return undefined;
}

function indentOf(line: string | undefined): string {
  return /^\s*/.exec(line ?? '')?.[0] ?? '';
}

export function withoutReturns(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/**
 * Returns an edited text with the line ends of the file that it was made from. Lines that stay keep their own. Others
 * get that of the line that they replace or follow, or at the start the file's first one.
 * @param edited text whose line ends are LF
 */
export function withLineEnds(edited: string, original: string): string {
  const ends: readonly string[] = original.match(/\r?\n/g) ?? [];
  if (!ends.includes('\r\n')) return edited;
  if (!ends.includes('\n')) return edited.replaceAll('\n', '\r\n');
  const [old, now] = [withoutReturns(original).split('\n'), edited.split('\n')];
  const lines: string[] = [];
  let end = ends[0] ?? '\n';
  const put = (line: string | undefined, own: string | undefined): void => {
    // A line without an end of its own, such as an added one, takes the end before it.
    end = own ?? end;
    lines.push(`${line}${end}`);
  };
  let at = 0;
  const last = { aStart: old.length, aEnd: old.length, bStart: now.length, bEnd: now.length };
  for (const { aStart, aEnd, bStart, bEnd } of [...diffLines(old, now), last]) {
    for (; at < aStart; at++) put(old[at], ends[at]);
    for (let i = bStart; i < bEnd; i++, at++) put(now[i], at < aEnd ? ends[at] : undefined);
    at = aEnd;
  }
  return lines.join('').slice(0, -end.length);
}

/** Returns the difference of two texts with LF in the form of the reference server: a fenced unified diff. */
export function fencedDiff(path: string, before: string, after: string): string {
  const unified = formatUnified({ path: '/file', before, after }, { context: 4 });
  const from = unified.search(/^@@ /m);
  // The reference server gives the number of lines also if it is 1.
  const hunks = (from < 0 ? '' : unified.slice(from)).replace(/^@@ -(\S+) \+(\S+) @@.*$/gm, (_, old, now) => {
    const [a, b] = [old, now].map((range: string) => (range.includes(',') ? range : `${range},1`));
    return `@@ -${a} +${b} @@`;
  });
  const head = `Index: ${path}\n${'='.repeat(67)}\n--- ${path}\toriginal\n+++ ${path}\tmodified\n`;
  const diff = head + hunks;
  let fence = '```';
  while (diff.includes(fence)) fence += '`';
  return `${fence}diff\n${diff}${fence}\n\n`;
}
