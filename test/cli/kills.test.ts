import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openWorkspace } from '@scratchfs/workspace';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROGRAM } from './bundle.js';
import { ENVIRONMENT, folder, json, ok } from './program.js';
import { repository } from './repository.js';

const KILLS = Number(process.env['CLI_KILLS'] ?? '8');
const SEED = Number(process.env['CLI_KILLS_SEED'] ?? 20_261_127);
const HAS_BUBBLEWRAP = spawnSync('bwrap', ['--version']).status === 0 || process.env['CI'] !== undefined;

/** Files that each operation changes together, so that they are always equal. */
const NAMES = ['a', 'b', 'c'];
const ARCHIVES = 5;
const MAX_OPERATIONS = 1_000_000;

// This process looks into the store that the program uses.
const saved = process.env['XDG_STATE_HOME'];
beforeAll(() => {
  process.env['XDG_STATE_HOME'] = ENVIRONMENT['XDG_STATE_HOME'];
});
afterAll(() => {
  if (saved === undefined) delete process.env['XDG_STATE_HOME'];
  else process.env['XDG_STATE_HOME'] = saved;
});

/** Returns random numbers from 0 to below 1 (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly ms: number;
}

/** Runs the program and kills it after some milliseconds. The code is null if it was killed. */
function killedAfter(ms: number, args: readonly string[], cwd: string): Promise<Ended> {
  return new Promise((resolve) => {
    const started = performance.now();
    const child = spawn(process.execPath, [PROGRAM, ...args], { cwd, env: ENVIRONMENT });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    child.stdin.end();
    void sleep(ms).then(() => child.kill('SIGKILL'));
    child.on('close', (code) => resolve({ code, output, ms: performance.now() - started }));
  });
}

/** Makes archives whose files all hold the number of the archive. */
function archives(): string[] {
  const place = folder('archives');
  return Array.from({ length: ARCHIVES }, (_, number) => {
    const files = join(place, `${number}`);
    mkdirSync(files);
    for (const name of NAMES) writeFileSync(join(files, name), `${number}\n`);
    execFileSync('tar', ['-cf', `${files}.tar`, '-C', files, '.']);
    return `${files}.tar`;
  });
}

describe(`kill -9 of the program (seed ${SEED})`, () => {
  it(`at ${KILLS} random moments leaves whole operations, a whole disk, and commands that work`, {
    timeout: 60_000 + KILLS * 10_000,
  }, async () => {
    const next = random(SEED);
    const below = (limit: number): number => Math.floor(next() * limit);
    const tars = archives();
    const cwd = repository({ 'README.md': 'read me\n' });
    const commands: Readonly<Record<string, () => readonly string[]>> = {
      undo: () => ['undo', `${1 + below(2)}`, '--yes'],
      redo: () => ['redo', '--yes'],
      accept: () => ['accept', '-a', 'main'],
      import: () => ['import', 'tar', tars[below(ARCHIVES)] ?? '', '--to', 'set'],
      write: () => ['fs', 'write', 'single', `${below(100)}`],
      fork: () => ['fork', 'forked'],
      discard: () => ['discard', 'forked', '--yes'],
      ...(HAS_BUBBLEWRAP
        ? { run: () => ['run', '--accept', '--', 'sh', '-c', `mkdir -p set; for f in a b c; do echo r > set/$f; done`] }
        : {}),
    };
    const kinds = Object.keys(commands);
    /** Milliseconds that a command of a kind takes. */
    const durations = new Map<string, number>();
    await ok(['fork', 'main', '--switch'], { cwd });
    await ok(commands['import']?.() ?? [], { cwd });
    const seen: Record<string, number> = {};
    let operations = 0;
    for (let kills = 0, round = 0; kills < KILLS; round++) {
      const kind = kinds[round % kinds.length] ?? '';
      const args = commands[kind]?.() ?? [];
      const { code, output, ms } = await killedAfter(next() * 1.1 * (durations.get(kind) ?? 1_000), args, cwd);
      const context = JSON.stringify({ seed: SEED, round, args, code, output });
      if (code === null) {
        kills++;
        seen[kind] = (seen[kind] ?? 0) + 1;
      } else {
        durations.set(kind, ms);
        // A command may report a conflict, that there is nothing to do, or that another attempt's accept is in the way,
        // but no damage.
        expect([0, 1, 3, 4, 5], context).toContain(code);
        if (code === 4) expect(output, context).toMatch(/no longer hold what the accept left|can be undone, not/);
        if (code === 1) expect(output, context).toMatch(/lists what has been done/);
      }
      // One command of the program recovers the interrupted operation. The rest is checked in this process.
      await json('status', ['-a', 'main'], { cwd });
      await using workspace = await openWorkspace(cwd);
      const main = await workspace.attempt('main');
      const ids = (await main.log({ limit: MAX_OPERATIONS })).operations.map(({ id }) => id);
      expect(ids, context).toEqual(Array.from(ids, (_, index) => ids.length - index));
      expect(ids.length, context).toBeGreaterThanOrEqual(operations);
      operations = ids.length;
      for (const { name, state } of await workspace.attempts()) {
        if (state !== 'open') continue;
        const attempt = await workspace.attempt(name);
        const { fileSystem } = attempt;
        const found = (await fileSystem.exists('/set')) ? await fileSystem.readdir('/set') : [];
        expect([0, NAMES.length], context).toContain(found.length);
        const contents = await Promise.all(found.map((one) => fileSystem.readText(`/set/${one}`)));
        expect(new Set(contents).size, context).toBeLessThanOrEqual(1);
        if (name !== 'main' && name !== 'forked') await attempt.discard();
      }
      const onDisk = NAMES.map((name) => join(cwd, 'set', name)).filter((path) => existsSync(path));
      expect([0, NAMES.length], context).toContain(onDisk.length);
      expect(new Set(onDisk.map((path) => readFileSync(path, 'utf8'))).size, context).toBeLessThanOrEqual(1);
      if (code === 5) await ok(['restore', '0', '-a', 'main'], { cwd });
    }
    console.log(`killed: ${JSON.stringify(seen)}; ${operations} operations`);
    await ok(['restore', '0', '-a', 'main'], { cwd });
    await ok(['fs', 'write', 'last', 'written', '-a', 'main'], { cwd });
    expect(await json('accept', ['-a', 'main', '--', 'last'], { cwd })).toMatchObject({ code: 0 });
    expect((await json('gc', [], { cwd })).code).toBe(0);
  });
});
