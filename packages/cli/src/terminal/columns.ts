import { stripVTControlCharacters } from 'node:util';

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const COMBINING = /\p{Mn}|\p{Me}/u;

/** Estimates the number of terminal columns that a text takes. Control sequences take none. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of stripVTControlCharacters(text))
    if (!COMBINING.test(character)) width += WIDE.test(character) ? 2 : 1;
  return width;
}

/** Cuts a text, which has no colours, to a number of columns, at least 1, with `…` at the end if something was cut off. */
export function cutTo(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let cut = '';
  for (const character of text) {
    if (widthOf(cut + character) > columns - 1) break;
    cut += character;
  }
  return `${cut}…`;
}

export interface AlignOptions {
  /** Indexes of the columns to align to the right. */
  readonly right?: readonly number[];
  /** Columns of the terminal. Default: unlimited. */
  readonly fit?: number;
}

/**
 * Returns rows as lines with aligned columns. If they do not fit, the widest column is padded less: rows with a short
 * cell there may then fit, rows with a longer one run over.
 */
export function alignColumns(
  rows: readonly (readonly string[])[],
  { right = [], fit = Number.POSITIVE_INFINITY }: AlignOptions = {},
): string[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, widthOf(cell));
  const total = widths.reduce((sum, width) => sum + width + 2, -2);
  const widest = widths.indexOf(Math.max(...widths));
  if (total > fit) widths[widest] = Math.max(0, (widths[widest] ?? 0) - (total - fit));
  return rows.map((row) =>
    row
      .map((cell, index) => {
        const gap = ' '.repeat(Math.max(0, (widths[index] ?? 0) - widthOf(cell)));
        return right.includes(index) ? gap + cell : cell + gap;
      })
      .join('  ')
      .trimEnd(),
  );
}

/** Breaks a paragraph into lines at spaces. A word longer than a line gets a line of its own. */
export function wrapText(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > columns) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  lines.push(line);
  return lines;
}

/**
 * Like {@link wrapText}, but breaks words too, so that no line is longer than `columns`. `columns` must be at least 2
 * for wide letters.
 */
export function foldText(text: string, columns: number): string[] {
  return wrapText(text, columns).flatMap((line) => {
    const parts: string[] = [''];
    for (const character of line) {
      const part = parts.at(-1) as string;
      if (part !== '' && widthOf(part + character) > columns) parts.push(character);
      else parts[parts.length - 1] = part + character;
    }
    return parts;
  });
}
