import { BINARY_PROBE_BYTES } from '../binary-probe.js';
import { Yielder } from '../engine/scheduling/time-slice.js';
import { findLiteral } from './find-literal.js';
import { type MatchRange, type Query, rangesIn } from './line-matcher.js';

/** A matching line. */
export interface LineMatch {
  /** Line number, from 1. */
  readonly line: number;
  /** Start of the first matching piece in the line, from 1, in UTF-16 units. */
  readonly column: number;
  /** The line without its end. If it is too long, the part around the first piece, with `…` at each cut. */
  readonly text: string;
  /** The matching pieces, at most 1,000, as far as they lie within `text`. */
  readonly ranges: readonly MatchRange[];
  /** Context lines before the match. One that is too long is cut at its end. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

export interface ScanOptions {
  /** Lines of context before and after each match. */
  readonly context: number;
  /** Maximum number of UTF-16 units returned of a line, without the `…` at a cut. */
  readonly maxLineLength: number;
}

/** Bytes decoded and searched at a time. */
const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 10;
const RETURN = 13;
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Reports whether content is binary: NUL in its first 8,000 bytes, as in git. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, BINARY_PROBE_BYTES).includes(0);
}

interface OpenMatch {
  readonly match: LineMatch & { readonly after: string[] };
  missing: number;
}

/**
 * Finds the matching lines of a file, one chunk of whole lines at a time; none in a binary file. `next` returns a match,
 * null if there is more to search (to let other tasks run), and undefined at the end.
 */
export class LineScanner {
  #offset = 0;
  /** Number of lines before the chunk. */
  #lines = 0;
  #before: string[] = [];
  readonly #ready: LineMatch[] = [];
  #open: OpenMatch[] = [];
  #found = 0;
  #scan: Generator<void> | undefined;

  constructor(
    readonly bytes: Uint8Array,
    readonly query: Query,
    readonly options: ScanOptions,
    /** Matches after which the search ends. */
    readonly limit: number,
    readonly chunk = CHUNK_BYTES,
  ) {}

  next(): LineMatch | null | undefined {
    const ready = this.#ready.shift();
    if (ready !== undefined) return ready;
    if (this.#offset < this.bytes.length && (this.#found < this.limit || this.#open.length > 0)) {
      this.#scan ??= this.#scanChunk();
      if (this.#scan.next().done) this.#scan = undefined;
      return this.#ready.shift() ?? null;
    }
    for (const { match } of this.#open) this.#ready.push(match);
    this.#open = [];
    return this.#ready.shift();
  }

  /** Searches a chunk. Pauses if a matcher takes long. */
  *#scanChunk(): Generator<void> {
    const end = this.#chunkEnd();
    const text = decoder.decode(this.bytes.subarray(this.#offset, end));
    const isLast = end >= this.bytes.length;
    this.#completeOpen(text);
    let counted = 0;
    let lines = this.#lines;
    const isLiteral = this.query.kind === 'literal';
    const yielder = new Yielder();
    for (const start of isLiteral ? this.#literalLines(text) : lineStarts(text)) {
      if (this.#found >= this.limit) break;
      if (!isLiteral && yielder.isDue) {
        yield;
        yielder.restart();
      }
      const line = lineAt(text, start);
      const ranges = rangesIn(line, this.query);
      if (ranges === null) continue;
      if (this.#found === 0 && isBinary(this.bytes)) {
        this.#offset = this.bytes.length;
        return;
      }
      lines += countNewlines(text, counted, start);
      counted = start;
      this.#found++;
      this.#add(text, start, line, lines + 1, ranges);
    }
    this.#settle();
    if (!isLast) {
      this.#lines = lines + countNewlines(text, counted, text.length);
      this.#before = this.#contextBefore(text, text.length);
    }
    this.#offset = end;
  }

  /** Returns the offset after the last line break of the chunk, or after the line if it is longer than a chunk. */
  #chunkEnd(): number {
    const limit = this.#offset + this.chunk;
    if (limit >= this.bytes.length) return this.bytes.length;
    const last = this.bytes.lastIndexOf(NEWLINE, limit - 1);
    if (last >= this.#offset) return last + 1;
    const next = this.bytes.indexOf(NEWLINE, limit);
    return next < 0 ? this.bytes.length : next + 1;
  }

  /** Yields the offset of each line of `text` in which the query's literal begins. */
  *#literalLines(text: string): Generator<number> {
    const { text: wanted, fold } = this.query as Extract<Query, { kind: 'literal' }>;
    const found = findLiteral(fold(text), wanted);
    for (let at = found(0); at >= 0; ) {
      yield text.lastIndexOf('\n', at) + 1;
      const end = text.indexOf('\n', at);
      if (end < 0) return;
      at = found(end + 1);
    }
  }

  #add(text: string, start: number, line: string, number: number, ranges: readonly MatchRange[]): void {
    const { context, maxLineLength } = this.options;
    const first = ranges[0] as MatchRange;
    const shown = cutAround(line, first, maxLineLength);
    const inside = ranges
      .map((range) => ({ start: range.start + shown.shift, end: Math.min(range.end + shown.shift, shown.end) }))
      .filter((range) => range.start <= range.end && range.start >= 0);
    const match = {
      line: number,
      column: first.start + 1,
      text: shown.text,
      ranges: inside,
      before: context === 0 ? [] : this.#contextBefore(text, start),
      after: [] as string[],
    };
    const open: OpenMatch = { match, missing: context };
    const next = text.indexOf('\n', start);
    if (context > 0 && next >= 0) this.#extend(open, text, next + 1);
    this.#open.push(open);
  }

  #extend(open: OpenMatch, text: string, from: number): void {
    for (let start = from; open.missing > 0 && start < text.length; ) {
      open.match.after.push(cutLine(lineAt(text, start), this.options.maxLineLength));
      open.missing--;
      const newline = text.indexOf('\n', start);
      if (newline < 0) break;
      start = newline + 1;
    }
  }

  #completeOpen(text: string): void {
    for (const open of this.#open) this.#extend(open, text, 0);
  }

  /** Releases, in order, the matches whose context is complete. */
  #settle(): void {
    const waiting = this.#open.findIndex((open) => open.missing > 0);
    const settled = waiting < 0 ? this.#open.length : waiting;
    for (const { match } of this.#open.slice(0, settled)) this.#ready.push(match);
    this.#open = this.#open.slice(settled);
  }

  #contextBefore(text: string, start: number): string[] {
    const { context, maxLineLength } = this.options;
    const lines: string[] = [];
    for (let end = start - 1; end >= 0 && lines.length < context; ) {
      const begin = end === 0 ? 0 : text.lastIndexOf('\n', end - 1) + 1;
      lines.push(cutLine(lineAt(text, begin), maxLineLength));
      end = begin - 1;
    }
    lines.reverse();
    const more = context - lines.length;
    return more > 0 && this.#before.length > 0 ? [...this.#before.slice(-more), ...lines] : lines;
  }
}

function* lineStarts(text: string): Generator<number> {
  for (let start = 0; start < text.length; ) {
    yield start;
    const newline = text.indexOf('\n', start);
    if (newline < 0) return;
    start = newline + 1;
  }
}

/** Returns the line that begins at `start`, without its end. */
function lineAt(text: string, start: number): string {
  const newline = text.indexOf('\n', start);
  const end = newline < 0 ? text.length : newline;
  return text.slice(start, newline >= 0 && end > start && text.charCodeAt(end - 1) === RETURN ? end - 1 : end);
}

function countNewlines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

const CUT = '…';

function cutLine(line: string, max: number): string {
  return line.length <= max ? line : cutAround(line, { start: 0, end: 0 }, max).text;
}

/** Returns the part of a line around a piece; `shift` converts positions in the line to positions in the part. */
function cutAround(line: string, piece: MatchRange, max: number): { text: string; shift: number; end: number } {
  if (line.length <= max) return { text: line, shift: 0, end: line.length };
  const length = Math.min(piece.end - piece.start, max);
  const room = max - length;
  let start = Math.min(Math.max(0, piece.start - (room >> 1)), line.length - max);
  let end = start + max;
  if (isLowSurrogate(line, start)) start++;
  if (isLowSurrogate(line, end)) end--;
  const lead = start > 0 ? CUT : '';
  const text = lead + line.slice(start, end) + (end < line.length ? CUT : '');
  return { text, shift: lead.length - start, end: lead.length + end - start };
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit < 0xe000;
}
