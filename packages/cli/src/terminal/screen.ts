/** Size of a terminal in characters. */
export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** Content of a full terminal, and its reaction to keys. */
export interface Screen<T> {
  /** Returns the lines to show, none wider than the terminal. */
  lines(size: ScreenSize): readonly string[];
  /** Handles a key: a name such as `up`, or a typed character. A result other than undefined ends the screen. */
  key(name: string, size: ScreenSize): T | undefined;
}

const ESCAPE = '\u001b';
const KEY = new RegExp(`${ESCAPE}[[O]([0-9;]*[A-Za-z~])|[\\s\\S]`, 'gu');

/** Names of keys by the single character that a terminal sends. */
const TYPED: Readonly<Record<string, string>> = {
  '\r': 'enter',
  '\n': 'enter',
  ' ': 'space',
  [ESCAPE]: 'escape',
  '\u0003': 'interrupt',
  '\u0004': 'interrupt',
};

/**
 * Names of keys by the escape sequence that a terminal sends, without the escape character and the `[` or `O` after it.
 */
const SENT: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  H: 'home',
  F: 'end',
  '5~': 'page-up',
  '6~': 'page-down',
  '1~': 'home',
  '4~': 'end',
};

/** Returns the names of the keys that a terminal sent. Unknown escape sequences with `[` or `O` are left out. */
export function keysOf(data: string): string[] {
  const keys: string[] = [];
  for (const [whole, sequence] of data.matchAll(KEY)) {
    const name = sequence === undefined ? (TYPED[whole] ?? whole) : SENT[sequence];
    if (name !== undefined) keys.push(name);
  }
  return keys;
}

/**
 * Shows a screen in place of the terminal's content until a key ends it, then the former content again. Resolves to the
 * result of that key. Ctrl-C, Ctrl-D and the abort of `signal` are the key `interrupt`.
 * @param make creates the screen; it gets a function that redraws it and one that ends it with an error
 */
export function showScreen<T>(
  make: (redraw: () => void, fail: (error: unknown) => void) => Screen<T>,
  signal: AbortSignal,
): Promise<T> {
  const { stdin, stdout } = process;
  return new Promise<T>((resolve, reject) => {
    const size = (): ScreenSize => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 });
    let isOpen = true;
    const draw = (): void => {
      if (!isOpen) return;
      const lines = screen.lines(size()).slice(0, size().rows);
      stdout.write(`\u001b[H${lines.map((line) => `\u001b[2K${line}`).join('\r\n')}\u001b[J`);
    };
    const restore = (): void => void stdout.write('\u001b[?25h\u001b[?1049l');
    const close = (settle: () => void): void => {
      if (!isOpen) return;
      isOpen = false;
      stdin.off('data', input);
      stdout.off('resize', draw);
      process.off('exit', restore);
      signal.removeEventListener('abort', abort);
      stdin.setRawMode(false);
      stdin.pause();
      restore();
      settle();
    };
    const fail = (error: unknown): void => close(() => reject(error));
    const press = (name: string): void => {
      if (!isOpen) return;
      const value = screen.key(name, size());
      if (value !== undefined) close(() => resolve(value));
    };
    const input = (data: unknown): void => {
      for (const name of keysOf(String(data))) press(name);
      draw();
    };
    const abort = (): void => press('interrupt');
    stdin.setRawMode(true);
    stdin.resume();
    stdin.on('data', input);
    stdout.on('resize', draw);
    process.on('exit', restore);
    signal.addEventListener('abort', abort);
    stdout.write('\u001b[?1049h\u001b[?25l');
    let screen: Screen<T>;
    try {
      screen = make(draw, fail);
      draw();
    } catch (error) {
      fail(error);
    }
    if (signal.aborted) abort();
  });
}
