import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { PROGRAM } from './bundle.js';
import { ENVIRONMENT, folder, ok } from './program.js';
import { repository } from './repository.js';
import { HAS_TMUX, Terminal } from './terminal.js';

const HAS_BUBBLEWRAP = spawnSync('bwrap', ['--version']).status === 0 || process.env['CI'] !== undefined;
const PROMPT_MS = 30_000;

const SIGNALS = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const;

const running = new Set<ChildProcess>();
let terminal: Terminal | undefined;
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
  running.clear();
  terminal?.close();
  terminal = undefined;
});

function start(cwd: string, ...args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [PROGRAM, ...args], { cwd, env: ENVIRONMENT });
  running.add(child);
  return child;
}

/** Waits for output of a program. */
function prints(child: ChildProcess, text: string): Promise<void> {
  return new Promise((resolve) => {
    let said = '';
    child.stdout?.on('data', (chunk) => {
      said += chunk;
      if (said.includes(text)) resolve();
    });
  });
}

/** Waits until a program reads its input: it has taken more bytes than a pipe holds. */
function isReading(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => child.stdin?.write(Buffer.alloc(2 ** 20), () => resolve()));
}

/** Sends a signal, and returns the exit code. The program must end promptly. */
async function interrupted(child: ChildProcess, name: NodeJS.Signals): Promise<number | null> {
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
  child.kill(name);
  const code = await Promise.race([closed, sleep(PROMPT_MS, 'late' as const)]);
  if (code === 'late') throw new Error(`The program goes on ${PROMPT_MS} ms after ${name}`);
  return code;
}

/** Reports whether a process runs whose command line is this one. */
const runs = (line: string): boolean => spawnSync('pgrep', ['-f', `^${line}$`]).status === 0;

async function isGone(line: string): Promise<boolean> {
  for (let tries = 0; tries < 300 && runs(line); tries++) await sleep(100);
  return !runs(line);
}

const names = (cwd: string): Promise<string> => ok(['attempts', '--names'], { cwd });

describe.skipIf(!HAS_BUBBLEWRAP).each(SIGNALS)('at %s (needs bubblewrap)', (signal, code) => {
  it(`run ends with ${code} and leaves neither a process nor an attempt`, async () => {
    const cwd = repository();
    await ok(['fork', 'mine'], { cwd });
    const child = start(cwd, 'run', '--', 'sh', '-c', `echo started; sleep 9871${code}`);
    await prints(child, 'started');
    expect(await interrupted(child, signal)).toBe(code);
    expect(await names(cwd)).toBe('mine\n');
    expect(await isGone(`sleep 9871${code}`)).toBe(true);
  });

  it(`try ends with ${code} and leaves neither a process nor an attempt`, async () => {
    const cwd = repository();
    await ok(['fork', 'mine'], { cwd });
    const child = start(cwd, 'try', '2', '--', 'sh', '-c', `touch x; sleep 9872${code}`);
    while (!runs(`sleep 9872${code}`)) await sleep(20);
    expect(await interrupted(child, signal)).toBe(code);
    expect(await names(cwd)).toBe('mine\n');
    expect(await isGone(`sleep 9872${code}`)).toBe(true);
  });
});

describe('SIGINT', () => {
  it('ends a command that waits for a server or for its input', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const connected = new Promise((resolve) => server.on('connection', resolve));
    const { port } = server.address() as { readonly port: number };
    try {
      const opening = start(folder(), 'fs', 'ls', '--store', `redis://127.0.0.1:${port}/0`);
      await connected;
      expect(await interrupted(opening, 'SIGINT')).toBe(130);
    } finally {
      server.close();
    }
    const cwd = repository();
    const reading = start(cwd, 'fs', 'put', '-', 'a.txt');
    await isReading(reading);
    expect(await interrupted(reading, 'SIGINT')).toBe(130);
    expect(await ok(['log', '-q'], { cwd })).toBe('Nothing was done yet.\n');
  });

  it.skipIf(!HAS_BUBBLEWRAP)('discards the changes that are being brought in (needs bubblewrap)', async () => {
    let cwd = '';
    let code: number | null = 0;
    // The program may be faster than the signal.
    for (let attempt = 0; attempt < 10 && code === 0; attempt++) {
      cwd = repository();
      await ok(['fork', 'mine'], { cwd });
      const child = start(cwd, 'run', '--', 'sh', '-c', 'for i in $(seq 5000); do echo $i > f$i; done; echo done');
      await prints(child, 'done');
      await sleep(100);
      code = await interrupted(child, 'SIGINT');
    }
    expect(code).toBe(130);
    expect(await names(cwd)).toBe('mine\n');
    expect(await ok(['log', '-q'], { cwd })).toBe('Nothing was done yet.\n');
  });
});

/** Opens a terminal in which each command's exit code is shown. */
function open(cwd: string): { run(line: string): void; shows: Terminal['shows']; press: Terminal['press'] } {
  const one = new Terminal(cwd);
  terminal = one;
  return {
    run: (line) => one.type(`clear; scratchfs -C ${cwd} ${line}; echo "code $?"`),
    shows: (text) => one.shows(text),
    press: (...keys) => one.press(...keys),
  };
}

describe.skipIf(!HAS_TMUX || !HAS_BUBBLEWRAP)('Ctrl-C in a terminal (needs tmux and bubblewrap)', () => {
  it('ends a command whose files are still copied, promptly and without an attempt', async () => {
    const cwd = folder('large');
    for (let directory = 0; directory < 50; directory++) {
      mkdirSync(join(cwd, `d${directory}`));
      for (let file = 0; file < 400; file++) writeFileSync(join(cwd, `d${directory}`, `f${file}`), `${file}`);
    }
    await ok(['fork', 'mine'], { cwd });
    const { run, shows, press } = open(cwd);
    run('run -- touch ran');
    await shows('Copying the files…');
    const pressedAt = performance.now();
    press('C-c');
    await shows('code 130');
    expect(performance.now() - pressedAt).toBeLessThan(PROMPT_MS);
    expect(await names(cwd)).toBe('mine\n');
    expect(await ok(['log', '-q'], { cwd })).toBe('Nothing was done yet.\n');
  });

  it('is for the command while it runs, and at the question keeps the changes under a name', async () => {
    const cwd = repository();
    await ok(['fork', 'mine'], { cwd });
    const { run, shows, press } = open(cwd);
    run(`run -- sh -c 'trap "exit 9" INT; echo go-$((42)); while :; do sleep 0.1; done'`);
    await shows('go-42');
    press('C-c');
    await shows('code 9');
    run('run -- sleep 98731');
    while (!runs('sleep 98731')) await sleep(20);
    press('C-c');
    await shows('code 130');
    expect(await names(cwd)).toBe('mine\n');

    for (const [name, code] of SIGNALS) {
      run(`run -- sh -c 'echo turn-$((${code})); echo ${code} > b.txt'`);
      await shows(new RegExp(`turn-${code}[\\s\\S]*What now`));
      if (name === 'SIGINT') press('C-c');
      else {
        const pid = execFileSync('pgrep', ['-f', `bin.js -C ${cwd} run`], { encoding: 'utf8' }).trim();
        process.kill(Number(pid), name);
      }
      const screen = await shows(`code ${code}`);
      const [, attempt = ''] = /The changes are kept as attempt (\w+-\w+)\./.exec(screen) ?? [];
      expect(await ok(['fs', 'cat', 'b.txt', '--attempt', attempt], { cwd })).toBe(`${code}\n`);
    }
    expect(readFileSync(join(cwd, 'b.txt'), 'utf8')).toBe('bee\n');
    expect(readdirSync(cwd).sort()).toEqual(['.git', 'b.txt', 'src']);
  });
});
