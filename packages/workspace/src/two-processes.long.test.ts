import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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

/** Lets another process append lines to a shared file and create files of its own, each an operation, until it ends or is killed. */
function writer(name: string, count: number, killAfter?: number): Promise<string[]> {
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
      if (killAfter !== undefined && lines().length >= killAfter) child.kill('SIGKILL');
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0 || signal === 'SIGKILL') resolve(lines());
      else reject(new Error(`The writer ended with ${code ?? signal}`));
    });
  });
}

describe('two processes on one attempt', () => {
  it('lose nothing that was acknowledged, also if one is killed', { timeout: 120_000 }, async () => {
    mkdirSync(directory);
    writeFileSync(join(directory, 'lines'), 'first\n');
    const url = `${store}?durability=process`;
    await using workspace = await openWorkspace(directory, { store: url });
    const attempt = await workspace.createAttempt('shared');
    const acknowledged = (await Promise.all([writer('a', 12), writer('b', 12, 5)])).flat();
    const { fileSystem } = attempt;
    const lines = await fileSystem.readLines('/lines');
    expect(lines).toEqual(expect.arrayContaining(acknowledged));
    expect(new Set(lines).size).toBe(lines.length);
    const names = await fileSystem.readdir('/');
    expect(names).toEqual(expect.arrayContaining(acknowledged));
    const head = await attempt.head();
    // Every operation is complete: a file or a line for each.
    expect(head).toBe(lines.length - 1 + names.length - 1);
    for (let i = 0; i < head; i++) await attempt.undo();
    expect(await fileSystem.readdir('/')).toEqual(['lines']);
    expect(await fileSystem.readText('/lines')).toBe('first\n');
  });
});
