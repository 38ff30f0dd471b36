import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seeded } from './testing/random-operations.js';
import { openWorkspace } from './workspace.js';

let top: string;
let directory: string;
let store: string;

beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'two-processes-')));
  directory = join(top, 'project');
  store = pathToFileURL(join(top, 'store')).href;
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

/**
 * Lets another process append lines to a shared file and create files of its own, each an operation, until it ends or is
 * killed. Returns what it has acknowledged.
 * @param killAfter number of acknowledged pairs after which it is killed, and milliseconds after that
 */
function writer(name: string, count: number, killAfter?: number, waitMs = 0): Promise<string[]> {
  const script = `
    import { openWorkspace } from './workspace.ts';
    const [directory, store, name, count] = process.argv.slice(1);
    const workspace = await openWorkspace(directory, { store: store + '?durability=process' });
    const { fileSystem } = await workspace.attempt('shared');
    for (let i = 0; i < Number(count); i++) {
      await fileSystem.appendFile('/lines', name + i + '\\n');
      await fileSystem.writeFile('/' + name + i, 'x');
      process.stdout.write(name + i + '\\n');
    }
    await workspace.close();`;
  const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  const args = ['--conditions=@scratchfs/source', '--import', loader, '--input-type=module', '-e', script];
  const here = fileURLToPath(new URL('.', import.meta.url));
  const child = spawn(process.execPath, [...args, directory, store, name, String(count)], {
    cwd: here,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    let output = '';
    const lines = (): string[] => output.split('\n').slice(0, -1);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (killAfter !== undefined && lines().length >= killAfter) setTimeout(() => child.kill('SIGKILL'), waitMs);
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0 || signal === 'SIGKILL') resolve(lines());
      else reject(new Error(`The writer ended with ${code ?? signal}`));
    });
  });
}

/** Rounds, and the seed of the first one: `npm run campaign -- workspace/two-processes` runs 100. */
const ROUNDS = Number(process.env['TWO_PROCESSES'] ?? 1);
const FIRST_SEED = Number(process.env['TWO_PROCESSES_SEED'] ?? 1);

describe('two processes on one attempt', () => {
  it.each(Array.from({ length: ROUNDS }, (_, i) => FIRST_SEED + i))(
    'lose nothing that was acknowledged, if one is killed and a person edits beside them (seed %i)',
    { timeout: 120_000 },
    async (seed) => {
      const random = seeded(seed);
      mkdirSync(directory);
      const file = join(directory, 'lines');
      // Lines that stay as they are, between those of the person and those of the processes.
      const between = Array.from({ length: 8 }, (_, i) => `same ${i}`);
      let byPerson: string[] = [];
      const edit = (): void => writeFileSync(file, `${[...byPerson, ...between].join('\n')}\n`);
      edit();
      const url = `${store}?durability=process`;
      await using workspace = await openWorkspace(directory, { store: url });
      const attempt = await workspace.createAttempt('shared');
      const writers = Promise.all([writer('a', 12), writer('b', 12, 1 + random(11), random(8))]);
      let isDone = false;
      const done = writers.finally(() => {
        isDone = true;
      });
      done.catch(() => undefined);
      for (let i = 0; !isDone; i++) {
        byPerson = [`person ${i}`, ...byPerson];
        edit();
        await pause(150 + random(300));
      }
      const acknowledged = (await done).flat();
      expect((await attempt.refresh()).conflicts).toEqual([]);
      const { fileSystem } = attempt;
      const lines = await fileSystem.readLines('/lines');
      const byProcesses = lines.slice(byPerson.length + between.length);
      expect(lines).toEqual([...byPerson, ...between, ...byProcesses]);
      expect(byProcesses).toEqual(expect.arrayContaining(acknowledged));
      expect(new Set(byProcesses).size).toBe(byProcesses.length);
      const names = await fileSystem.readdir('/');
      expect(names).toEqual(expect.arrayContaining(acknowledged));
      const { operations } = await attempt.log({ limit: 1_000 });
      expect(operations.map(({ id }) => id)).toEqual(operations.map((_, i) => operations.length - i));
      // Every operation is complete: a file or a line for each.
      const edits = operations.filter(({ tool }) => tool !== 'refresh');
      expect(edits.length).toBe(byProcesses.length + names.length - 1);
      while ((await attempt.next('undo')) !== undefined) await attempt.undo();
      expect(await fileSystem.readdir('/')).toEqual(['lines']);
      expect(await fileSystem.readLines('/lines')).toEqual([...byPerson, ...between]);
      expect(readFileSync(file, 'utf8')).toBe(await fileSystem.readText('/lines'));
    },
  );
});
