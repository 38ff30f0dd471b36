/** Output of the demo; `process.stdout` is one. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

const MIN_WIDTH = 60;
const MAX_WIDTH = 100;
const BAR_WIDTH = 28;
const PROGRESS_EVERY_MS = 40;

/**
 * Lines, colours and progress. Colours and the moving progress line need a terminal; `NO_COLOR` disables colours,
 * `FORCE_COLOR` enables them in a pipe.
 */
export class Terminal {
  readonly width: number;
  readonly hasColor: boolean;
  readonly #isLive: boolean;
  #progressShownAt = 0;
  #hasProgress = false;

  constructor(
    readonly output: Output,
    environment: Readonly<Record<string, string | undefined>> = {},
  ) {
    this.#isLive = output.isTTY === true && environment.TERM !== 'dumb';
    this.hasColor = wantsColor(environment, this.#isLive);
    this.width = Math.max(MIN_WIDTH, Math.min(MAX_WIDTH, this.#isLive ? (output.columns ?? 80) : 96));
  }

  readonly bold = (text: string) => this.#paint(1, 22, text);
  readonly dim = (text: string) => this.#paint(2, 22, text);
  readonly red = (text: string) => this.#paint(31, 39, text);
  readonly green = (text: string) => this.#paint(32, 39, text);
  readonly yellow = (text: string) => this.#paint(33, 39, text);
  readonly cyan = (text: string) => this.#paint(36, 39, text);

  line(text = ''): void {
    this.#clearProgress();
    this.output.write(`${text.trimEnd()}\n`);
  }

  /** Prints prose in as many lines as it needs, each after the first under the start of the text. */
  prose(start: string, text: string, paint = (line: string): string => line): void {
    const indent = ' '.repeat(visibleLength(start));
    wrapped(text, this.width - indent.length).forEach((line, index) => {
      this.line((index === 0 ? start : indent) + paint(line));
    });
  }

  /** Prints two texts on one line, the second at the right edge; the first is cut if they would meet. */
  between(left: string, right: string): void {
    const room = this.width - visibleLength(right) - 2;
    const shown = visibleLength(left) > room ? cutVisible(left, room) : left;
    this.line(shown + ' '.repeat(Math.max(1, this.width - visibleLength(shown) - visibleLength(right))) + right);
  }

  /** Shows progress on one line that the next output replaces. */
  progress(done: number, total: number, label: string): void {
    const now = performance.now();
    if (!this.#isLive || (done < total && now - this.#progressShownAt < PROGRESS_EVERY_MS)) return;
    this.#progressShownAt = now;
    this.#hasProgress = true;
    const share = total === 0 ? 1 : done / total;
    const filled = Math.round(share * BAR_WIDTH);
    const bar = this.cyan('━'.repeat(filled)) + this.dim('━'.repeat(BAR_WIDTH - filled));
    const percent = `${Math.floor(share * 100)}%`.padStart(4);
    this.output.write(`\r\x1b[2K${cutVisible(`    ${bar} ${percent}  ${label}`, this.width)}`);
  }

  #clearProgress(): void {
    if (!this.#hasProgress) return;
    this.#hasProgress = false;
    this.output.write('\r\x1b[2K');
  }

  #paint(on: number, off: number, text: string): string {
    return this.hasColor && text !== '' ? `\x1b[${on}m${text}\x1b[${off}m` : text;
  }
}

function wantsColor(environment: Readonly<Record<string, string | undefined>>, isLive: boolean): boolean {
  if (environment.NO_COLOR) return false;
  if (environment.FORCE_COLOR !== undefined) return environment.FORCE_COLOR !== '0';
  return isLive;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character begins a colour
const COLOR = /\x1b\[[0-9;]*m/g;

export function visibleLength(text: string): number {
  return [...text.replaceAll(COLOR, '')].length;
}

/** Breaks a text between words into lines of at most `width` visible characters. A longer word has its own line. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && visibleLength(line) + 1 + visibleLength(word) <= width)
      lines.push(`${lines.pop()} ${word}`);
    else lines.push(word);
  }
  return lines;
}

/** Returns the text cut to a number of visible characters; colour codes stay whole. */
export function cutVisible(text: string, length: number): string {
  if (visibleLength(text) <= length) return text;
  let room = length - 1;
  let cut = '';
  let from = 0;
  for (const match of [...text.matchAll(COLOR), undefined]) {
    const plain = [...text.slice(from, match?.index)];
    cut += plain.slice(0, room).join('');
    if (plain.length > room && room >= 0) cut += '…';
    room = plain.length > room ? -1 : room - plain.length;
    if (match === undefined) break;
    cut += match[0];
    from = match.index + match[0].length;
  }
  return cut;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal must not be sent
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Returns external text, such as a file name, without characters that could control the terminal. */
export function printable(text: string): string {
  return text.replaceAll(UNSAFE, '\u{fffd}');
}
