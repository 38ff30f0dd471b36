import { quote } from '@scratchfs/core';
import { InputError } from '../input.js';

/** Maximum number of lines to compare while locating the sections of a patch, some 100 ms. */
const MAX_LINE_COMPARISONS = 10_000_000;

/** A run of lines to remove and to insert. */
interface Chunk {
  /** Index of the first line, in the lines of the file. */
  readonly at: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/**
 * Applies a V4A diff, the format of OpenAI's apply_patch, to the text of a file. Each section begins with lines `@@`,
 * which the first section may omit, each optionally with a line to search for first. Its lines begin with a space
 * (context), `-` or `+`. The search for the context starts where the previous section ended, or after the lines that
 * were searched for; with `*** End of File`, the end of the file comes first. It compares exactly, then without white
 * space at the ends of lines, then without white space at either side. A file in which all lines end with CRLF keeps
 * these ends.
 *
 * @throws InputError for a malformed diff, and for lines that are not found, which it quotes
 */
export function applyUpdate(text: string, diff: string): string {
  const hasReturns = /\r\n/.test(text) && !/(?<!\r)\n/.test(text);
  const lines = (hasReturns ? text.replaceAll('\r\n', '\n') : text).split('\n');
  const chunks = new Sections(lines, linesOf(diff)).all();
  const result: string[] = [];
  let from = 0;
  for (const { at, removed, added } of chunks) {
    for (let i = from; i < at; i++) result.push(lines[i] as string);
    for (const line of added) result.push(line);
    from = at + removed.length;
  }
  for (let i = from; i < lines.length; i++) result.push(lines[i] as string);
  return result.join(hasReturns ? '\r\n' : '\n');
}

/** Returns the text of a new file from a V4A diff, in which every line begins with `+`. @throws InputError */
export function createdText(diff: string): string {
  const lines = linesOf(diff).map((line) => {
    if (line[0] !== '+') throw new InputError(`Every line of a new file has to begin with '+', not ${quote(line)}.`);
    return line.slice(1);
  });
  return lines.join('\n');
}

function linesOf(diff: string): string[] {
  const lines = diff.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Reads the sections of a diff in order and locates each in the file. */
class Sections {
  readonly #lines: readonly string[];
  readonly #diff: readonly string[];
  #at = 0;
  /** Index of the first line of the file that the next section may match. */
  #cursor = 0;
  #work = 0;

  constructor(lines: readonly string[], diff: readonly string[]) {
    this.#lines = lines;
    this.#diff = diff;
  }

  all(): Chunk[] {
    const chunks: Chunk[] = [];
    for (let isFirst = true; this.#at < this.#diff.length; isFirst = false) {
      if (this.#diff[this.#at] === '*** End Patch') break;
      const anchors = this.#anchors();
      if (anchors.length === 0 && !isFirst) throw this.#unexpected();
      this.#goTo(anchors);
      chunks.push(...this.#section());
    }
    return chunks;
  }

  /** Reads consecutive `@@` lines and returns the text of each, empty for a bare `@@`. */
  #anchors(): string[] {
    const anchors: string[] = [];
    for (
      let line = this.#diff[this.#at];
      line === '@@' || line?.startsWith('@@ ') === true;
      line = this.#diff[++this.#at]
    ) {
      anchors.push(line.slice(3));
    }
    return anchors;
  }

  /**
   * Moves the cursor to the anchors. Each of several anchors must be found after the one before; a single one is a hint
   * and may be missing.
   */
  #goTo(anchors: readonly string[]): void {
    const named = anchors.filter((anchor) => anchor.trim() !== '');
    for (const anchor of named) {
      const found = this.#find([anchor], this.#cursor);
      if (found >= 0) this.#cursor = found + 1;
      else if (named.length > 1)
        throw new InputError(`The patch does not fit: there is no line ${quote(anchor)} further down.`);
    }
  }

  #section(): Chunk[] {
    const context: string[] = [];
    const parts: { offset: number; removed: string[]; added: string[] }[] = [];
    let part: (typeof parts)[number] | undefined;
    const start = this.#at;
    for (let line = this.#diff[this.#at]; line !== undefined; line = this.#diff[++this.#at]) {
      const mark = line[0] ?? ' ';
      if (line.startsWith('@@') || line.startsWith('***')) break;
      if (mark === ' ') {
        part = undefined;
        context.push(line.slice(1));
        continue;
      }
      if (mark !== '-' && mark !== '+') throw this.#unexpected();
      // A removal after an addition starts a new run, so that both stay in the order in which they were written.
      if (part === undefined || (mark === '-' && part.added.length > 0)) {
        part = { offset: context.length, removed: [], added: [] };
        parts.push(part);
      }
      if (mark === '+') part.added.push(line.slice(1));
      else {
        part.removed.push(line.slice(1));
        context.push(line.slice(1));
      }
    }
    if (this.#at === start) throw this.#unexpected();
    const atEnd = this.#diff[this.#at] === '*** End of File';
    if (atEnd) this.#at += 1;
    const place = this.#place(context, atEnd);
    this.#cursor = place + context.length;
    return parts.map(({ offset, removed, added }) => ({ at: place + offset, removed, added }));
  }

  #place(context: readonly string[], atEnd: boolean): number {
    if (context.length === 0 && !atEnd) return this.#cursor;
    const end = this.#lines.length - (this.#lines.length > 1 && this.#lines.at(-1) === '' ? 1 : 0);
    const fromEnd = Math.max(0, end - context.length);
    if (atEnd && fromEnd >= this.#cursor && this.#find(context, fromEnd, end) === fromEnd) return fromEnd;
    const found = this.#find(context, this.#cursor);
    if (found >= 0) return found;
    const shown = context
      .slice(0, 3)
      .map((line) => quote(line))
      .join(', ');
    throw new InputError(
      `The patch does not fit: ${context.length === 1 ? 'the line' : `the ${context.length} lines beginning with`} ${shown} cannot be found${this.#cursor > 0 ? ` after line ${this.#cursor}` : ''}. Read the file and make the patch anew.`,
    );
  }

  /**
   * Returns the first index at which the lines match; -1 if there is none. They are compared exactly, then without
   * white space at their ends, then without white space at either side.
   */
  #find(wanted: readonly string[], from: number, end = this.#lines.length): number {
    for (const form of FORMS) {
      const forms = wanted.map(form);
      for (let at = from; at + forms.length <= end; at++) if (this.#isAt(forms, at, form)) return at;
    }
    return -1;
  }

  #isAt(wanted: readonly string[], at: number, form: (line: string) => string): boolean {
    for (let i = 0; i < wanted.length; i++) {
      if (++this.#work > MAX_LINE_COMPARISONS)
        throw new InputError('The patch takes too long to place: make it of smaller sections.');
      if (form(this.#lines[at + i] as string) !== wanted[i]) return false;
    }
    return true;
  }

  #unexpected(): InputError {
    return new InputError(
      `The patch has a line that begins neither with ' ', '-', '+' nor '@@': ${quote(this.#diff[this.#at] ?? '')}.`,
    );
  }
}

const FORMS: readonly ((line: string) => string)[] = [(line) => line, (line) => line.trimEnd(), (line) => line.trim()];
