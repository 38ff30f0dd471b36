import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROGRAM } from './bundle.js';
import { ENVIRONMENT, folder } from './program.js';

/** True if tmux is installed, or must be. */
export const HAS_TMUX = spawnSync('tmux', ['-V']).status === 0 || process.env['CI'] !== undefined;

const WAIT_MS = 60_000;
const LOOK_MS = 50;

/** Makes a directory with `scratchfs` as a program of its own, for PATH. */
export function programFolder(): string {
  const path = folder('bin');
  writeFileSync(join(path, 'scratchfs'), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`, { mode: 0o755 });
  return path;
}

/** A shell in a terminal of 100 columns and 40 lines, in which `scratchfs` is the program. */
export class Terminal {
  readonly #socket = join(folder('tmux'), 'socket');

  constructor(cwd: string) {
    const variables = {
      ...ENVIRONMENT,
      PS1: '$ ',
      TERM: 'screen-256color',
      LANG: 'C.UTF-8',
      NODE: process.execPath,
      PROGRAM,
    };
    this.#tmux(
      '-f',
      '/dev/null',
      'new-session',
      '-d',
      '-x',
      '100',
      '-y',
      '40',
      '-c',
      cwd,
      'env',
      '-i',
      ...Object.entries(variables).map(([name, value]) => `${name}=${value}`),
      '/bin/sh',
    );
    this.type('scratchfs() { "$NODE" "$PROGRAM" "$@"; }');
    this.type('clear');
  }

  /** Types a line and Enter. A line that begins with `clear` clears the screen before it is typed, so that nothing old is found. */
  type(line: string): void {
    if (line.startsWith('clear')) this.#tmux('send-keys', '-R');
    this.#tmux('send-keys', '-l', line);
    this.#tmux('send-keys', 'Enter');
  }

  /** Presses keys by the names of tmux, such as `Down`, `Enter`, `C-c`, `y`. */
  press(...keys: readonly string[]): void {
    this.#tmux('send-keys', ...keys);
  }

  resize(columns: number, rows: number): void {
    this.#tmux('resize-window', '-x', String(columns), '-y', String(rows));
  }

  /** Returns what the terminal shows, with colours if asked for. */
  screen({ withColors = false } = {}): string {
    return this.#tmux('capture-pane', '-p', ...(withColors ? ['-e'] : []));
  }

  /** Waits until the terminal shows a text, and returns the screen. */
  async shows(text: string | RegExp): Promise<string> {
    for (const end = Date.now() + WAIT_MS; ; await sleep(LOOK_MS)) {
      const screen = this.screen();
      if (typeof text === 'string' ? screen.includes(text) : text.test(screen)) return screen;
      if (Date.now() > end) throw new Error(`The terminal does not show ${text}:\n${screen}`);
    }
  }

  close(): void {
    spawnSync('tmux', ['-S', this.#socket, 'kill-server']);
  }

  #tmux(...args: readonly string[]): string {
    return execFileSync('tmux', ['-S', this.#socket, ...args], { encoding: 'utf8', env: ENVIRONMENT });
  }
}
