/** Collects the output of a command: all of it, or if it is longer than `maxBytes`, the beginning or both ends. */
export class CommandOutput {
  /** Bytes received. */
  size = 0;
  readonly #head: Buffer[] = [];
  readonly #tail: Buffer[] = [];
  #headRoom: number;
  #tailSize = 0;

  constructor(
    readonly maxBytes: number,
    readonly keeps: 'beginning' | 'both ends',
  ) {
    this.#headRoom = keeps === 'beginning' ? maxBytes : Math.ceil(maxBytes / 2);
  }

  push(chunk: Buffer): void {
    this.size += chunk.length;
    const first = chunk.subarray(0, this.#headRoom);
    const rest = chunk.subarray(first.length);
    this.#headRoom -= first.length;
    if (first.length > 0) this.#head.push(first);
    if (rest.length === 0 || this.keeps === 'beginning') return;
    this.#tail.push(rest);
    this.#tailSize += rest.length;
    // Twice the length, so that the tail is joined at most once for each `maxBytes`.
    if (this.#tailSize > 2 * this.maxBytes) this.#shorten();
  }

  /** Returns the text. Between both ends of a longer one, a line says how many bytes are left out. */
  text(): string {
    if (this.keeps === 'beginning') return Buffer.concat(this.#head).toString('utf8');
    this.#shorten();
    const head = Buffer.concat(this.#head);
    const tail = Buffer.concat(this.#tail);
    if (this.size === head.length + tail.length) return Buffer.concat([head, tail]).toString('utf8');
    const before = head.subarray(0, lineEndIn(head));
    const after = tail.subarray(lineStartIn(tail));
    const isLine = before.at(-1) === 0x0a;
    return `${before}${isLine ? '' : '\n'}[${this.size - before.length - after.length} bytes left out]\n${after}`;
  }

  #shorten(): void {
    const tail = Buffer.concat(this.#tail);
    const kept = tail.subarray(Math.max(0, tail.length - Math.floor(this.maxBytes / 2)));
    this.#tail.length = 0;
    // A copy: a part of a buffer keeps the whole buffer alive.
    if (kept.length > 0) this.#tail.push(Buffer.from(kept));
    this.#tailSize = kept.length;
  }
}

/**
 * Returns the end of the last whole line or, if that would lose half or more, the start of the last character, which
 * may be cut off.
 */
function lineEndIn(bytes: Buffer): number {
  const end = bytes.lastIndexOf(0x0a);
  if (end > bytes.length / 2) return end + 1;
  let at = bytes.length - 1;
  while (at > 0 && isContinuation(bytes[at])) at--;
  return Math.max(at, 0);
}

function lineStartIn(bytes: Buffer): number {
  const newline = bytes.indexOf(0x0a);
  if (newline >= 0 && newline < bytes.length / 2) return newline + 1;
  let at = 0;
  while (at < bytes.length && isContinuation(bytes[at])) at++;
  return at;
}

const isContinuation = (byte = 0): boolean => (byte & 0xc0) === 0x80;
