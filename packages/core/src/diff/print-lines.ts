import type { Steps } from '../engine/scheduling/time-slice.js';

/** Kind of a line in a diff; `same` is printed without colour. */
export type LineKind = 'meta' | 'hunk' | 'removed' | 'added' | 'same';

const SIGN = { meta: '', hunk: '', removed: '-', added: '+', same: ' ' };
/** Git's colours. */
const PAINT = { meta: '\u001b[1m', hunk: '\u001b[36m', removed: '\u001b[31m', added: '\u001b[32m', same: '' };
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const RESET = encoder.encode('\u001b[m');
const NOTHING = new Uint8Array(0);
const NEWLINE = 10;

/** Bytes printed at a time. Their output always fits into the rest of the scratch space. */
const PIECE_BYTES = 2 ** 14;
const MARGIN_BYTES = PIECE_BYTES * 4 + 64;
const FLUSH_BYTES = 2 ** 17;
/** Shared by all printers. Its content is copied out before any other task runs. */
let scratch: Uint8Array<ArrayBuffer> | undefined;

/**
 * Assembles the lines of a diff, each with the sign of its kind. With colours, control characters are escaped so that
 * they cannot control a terminal.
 */
export class LinePrinter {
  readonly #color: boolean;
  readonly #before: Readonly<Record<LineKind, Uint8Array>>;
  readonly #reset: Uint8Array;
  readonly #out: Uint8Array<ArrayBuffer>;
  #length = 0;
  #sincePause = 0;
  #text = '';

  constructor(color: boolean) {
    this.#color = color;
    this.#before = color ? COLORED : PLAIN;
    this.#reset = color ? RESET : NOTHING;
    this.#out = scratch ??= new Uint8Array(FLUSH_BYTES + 2 * MARGIN_BYTES);
  }

  /** Prints a line that is not from a file, such as a header. */
  own(kind: 'meta' | 'hunk', line: string): void {
    if (this.#color || !ASCII.test(line)) {
      const bytes = encoder.encode(line);
      this.#print(kind, bytes, 0, bytes.length);
      return;
    }
    if (this.#length + MARGIN_BYTES > this.#out.length) this.#flush();
    for (let i = 0; i < line.length; i++) this.#out[this.#length++] = line.charCodeAt(i);
    this.#end(kind);
  }

  /** Prints a line of a file, with or without its line break. Returns the remaining steps if a pause is due. */
  line(kind: LineKind, bytes: Uint8Array, start: number, end: number): Steps<void> | undefined {
    const stop = bytes[end - 1] === NEWLINE ? end - 1 : end;
    if (stop - start > PIECE_BYTES) return this.#long(kind, bytes, start, stop, stop === end);
    this.#print(kind, bytes, start, stop);
    if (stop === end) this.#put(NO_END);
    this.#sincePause += end - start;
    if (this.#sincePause < FLUSH_BYTES) return undefined;
    this.#sincePause = 0;
    this.#flush();
    return pause();
  }

  *#long(kind: LineKind, bytes: Uint8Array, start: number, end: number, isUnended: boolean): Steps<void> {
    this.#put(this.#before[kind]);
    for (let at = start; at < end; ) {
      const to = pieceEnd(bytes, at, end);
      this.#body(bytes, at, to);
      at = to;
      this.#flush();
      yield;
    }
    this.#end(kind);
    if (isUnended) this.#put(NO_END);
  }

  /** Returns everything printed. */
  finish(): string {
    this.#flush();
    return this.#text;
  }

  #print(kind: LineKind, bytes: Uint8Array, start: number, end: number): void {
    this.#put(this.#before[kind]);
    this.#body(bytes, start, end);
    this.#end(kind);
  }

  #end(kind: LineKind): void {
    if (kind !== 'same') this.#put(this.#reset);
    this.#out[this.#length++] = NEWLINE;
    if (this.#length >= FLUSH_BYTES) this.#flush();
  }

  #put(bytes: Uint8Array): void {
    for (let i = 0; i < bytes.length; i++) this.#out[this.#length++] = bytes[i] as number;
  }

  #body(bytes: Uint8Array, start: number, end: number): void {
    if (this.#length + MARGIN_BYTES > this.#out.length) this.#flush();
    if (this.#color) {
      this.#length = tame(bytes, start, end, this.#out, this.#length);
      return;
    }
    if (end - start > 64) this.#out.set(bytes.subarray(start, end), this.#length);
    else for (let i = start, at = this.#length; i < end; i++) this.#out[at++] = bytes[i] as number;
    this.#length += end - start;
  }

  #flush(): void {
    this.#text += decoder.decode(this.#out.subarray(0, this.#length));
    this.#length = 0;
  }
}

function* pause(): Steps<void> {
  yield;
}

const ASCII = /^[ -~\t]*$/;
const NO_END = encoder.encode('\\ No newline at end of file\n');
const KINDS = Object.keys(SIGN) as LineKind[];
const PLAIN = beginnings((kind) => SIGN[kind]);
const COLORED = beginnings((kind) => PAINT[kind] + SIGN[kind]);

function beginnings(text: (kind: LineKind) => string): Readonly<Record<LineKind, Uint8Array>> {
  return Object.fromEntries(KINDS.map((kind) => [kind, encoder.encode(text(kind))])) as Record<LineKind, Uint8Array>;
}

/** Returns the end of a piece of a long line, never inside a character. */
function pieceEnd(bytes: Uint8Array, start: number, end: number): number {
  let to = Math.min(end, start + PIECE_BYTES);
  while (to < end && ((bytes[to] as number) & 0xc0) === 0x80) to--;
  return to;
}

/**
 * Copies UTF-8 and escapes control characters, so that the output cannot control a terminal: ASCII controls except tab
 * as `^X`, others by their code. Returns the end of the output.
 */
function tame(bytes: Uint8Array, start: number, end: number, out: Uint8Array, at: number): number {
  let to = at;
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number;
    if ((byte < 0x20 && byte !== 9) || byte === 0x7f) {
      out[to++] = 0x5e;
      out[to++] = byte ^ 0x40;
      continue;
    }
    const [code, length] = byte === 0xc2 || byte === 0xe2 ? unsafeAt(bytes, i) : SAFE;
    if (length === 0) {
      out[to++] = byte;
      continue;
    }
    const shown = `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
    for (let j = 0; j < shown.length; j++) out[to++] = shown.charCodeAt(j);
    i += length - 1;
  }
  return to;
}

const SAFE = [0, 0] as const;

/**
 * Returns the code and length of the character at a position if it is unsafe, else zeros. Unsafe are controls of two
 * bytes (U+0080 to U+009F) and characters that change the direction of text (U+202A to U+202E, U+2066 to U+2069).
 */
function unsafeAt(bytes: Uint8Array, at: number): readonly [code: number, length: number] {
  const second = bytes[at + 1] ?? 0;
  if (bytes[at] === 0xc2) return second >= 0x80 && second <= 0x9f ? [second, 2] : SAFE;
  const code = 0x2000 | ((second & 0x3f) << 6) | ((bytes[at + 2] ?? 0) & 0x3f);
  const turns = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return turns ? [code, 3] : SAFE;
}
