import { cutTo, wrapText } from './columns.js';
import { escapeContent, escapeText } from './escape.js';
import { isColored, Style } from './style.js';

/** A stream to write to, such as `process.stdout`. */
export interface OutputStream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(data: string | Uint8Array, done?: (error?: Error | null) => void): boolean;
}

export interface OutputOptions {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly stdin: { readonly isTTY?: boolean | undefined };
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly isJson?: boolean;
  readonly isQuiet?: boolean;
  /** False after `--no-input`. */
  readonly mayAsk?: boolean;
}

export interface Progress {
  readonly report: (detail: string) => void;
  readonly stop: () => void;
}

const PROGRESS_DELAY_MS = 1_000;
const PROGRESS_INTERVAL_MS = 200;
/** Columns without a terminal, and of one that does not know its size and says 0. */
const DEFAULT_COLUMNS = 80;

/** Standard output and error of a command. */
export class Output {
  readonly style: Style;
  readonly errorStyle: Style;
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  readonly isTerminal: boolean;
  /** True if a question would reach a person. */
  readonly isInteractive: boolean;
  readonly #stdout: OutputStream;
  readonly #stderr: OutputStream;

  constructor({ stdout, stderr, stdin, environment, isJson, isQuiet, mayAsk }: OutputOptions) {
    this.#stdout = stdout;
    this.#stderr = stderr;
    this.isJson = isJson === true;
    this.isQuiet = isQuiet === true;
    this.isTerminal = stdout.isTTY === true;
    this.isInteractive =
      mayAsk !== false &&
      !this.isJson &&
      !this.isQuiet &&
      this.isTerminal &&
      stdin.isTTY === true &&
      environment['TERM'] !== 'dumb';
    this.style = new Style(isColored(stdout, environment));
    this.errorStyle = new Style(isColored(stderr, environment));
  }

  get columns(): number {
    return this.#stdout.columns || DEFAULT_COLUMNS;
  }

  /** Columns that aligned lines should fit: unlimited in a pipe. */
  get fit(): number {
    return this.isTerminal ? this.columns : Number.POSITIVE_INFINITY;
  }

  /** Writes a line on standard output. */
  line(text: string): void {
    this.#stdout.write(`${text}\n`);
  }

  /** Writes a line on standard error, unless `--quiet` was given. */
  note(text: string): void {
    if (!this.isQuiet) this.#stderr.write(`${text}\n`);
  }

  /** Writes a line on standard error. */
  problem(text: string): void {
    this.#stderr.write(`${text}\n`);
  }

  /** Writes bytes on standard output as they are, and waits until they have been written. */
  bytes(data: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#stdout.write(data, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Returns a sentence as lines: broken between words on a terminal, one line in a pipe. */
  wrapped(text: string, { isError = false } = {}): string[] {
    const stream = isError ? this.#stderr : this.#stdout;
    return stream.isTTY === true ? wrapText(text, stream.columns || DEFAULT_COLUMNS) : [text];
  }

  /** Returns a name for a list: escaped on a terminal, exact in a pipe. */
  listed(name: string): string {
    return this.isTerminal ? escapeText(name) : name;
  }

  /** Returns text of a file for standard output: escaped on a terminal, exact in a pipe. */
  content(text: string): string {
    return this.isTerminal ? escapeContent(text) : text;
  }

  /**
   * Runs work that may take long. After a second, a terminal shows `label` and the last text that the work passed to
   * `report`, unless `--quiet` or `--json` was given.
   */
  async progress<T>(label: string, work: (report: (detail: string) => void) => Promise<T>): Promise<T> {
    const { report, stop } = this.startProgress(label);
    try {
      return await work(report);
    } finally {
      stop();
    }
  }

  /** Like {@link progress}, for work that is not one function: the caller calls `stop` at its end. */
  startProgress(label: string): Progress {
    if (this.isQuiet || this.isJson || this.#stderr.isTTY !== true) return { report: () => {}, stop: () => {} };
    let detail = '';
    let isShown = false;
    const show = (): void => {
      isShown = true;
      const width = (this.#stderr.columns || DEFAULT_COLUMNS) - 1;
      this.#stderr.write(`\r\u001b[K${this.errorStyle.dim(cutTo(escapeText(`${label}… ${detail}`), width))}`);
    };
    let interval: NodeJS.Timeout | undefined;
    const timeout = setTimeout(() => {
      show();
      interval = setInterval(show, PROGRESS_INTERVAL_MS);
    }, PROGRESS_DELAY_MS);
    return {
      report: (text) => {
        detail = text;
      },
      stop: () => {
        clearTimeout(timeout);
        clearInterval(interval);
        if (isShown) this.#stderr.write('\r\u001b[K');
        isShown = false;
      },
    };
  }
}
