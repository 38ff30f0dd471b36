import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundled } from '../testing/bundled.js';

const folder = mkdtempSync(join(tmpdir(), 'scratchfs-terminal-'));
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let bundle: string;
beforeAll(async () => {
  bundle = await bundled('run-in-terminal', folder);
});

/** Runs a command in a terminal of 33 × 77, writes `keys` when it prints `ready`, and returns all that it shows. */
function inTerminal(command: string, keys = ''): Promise<string> {
  const line = `stty rows 33 cols 77; ${process.execPath} ${bundle} '${command}'`;
  const child = spawn('script', ['-qec', line, '/dev/null'], { stdio: ['pipe', 'pipe', 'ignore'] });
  let shown = '';
  child.stdout.on('data', (chunk: Buffer) => {
    if (keys !== '' && !shown.includes('ready') && `${shown}${chunk}`.includes('ready')) child.stdin.write(keys);
    shown += chunk;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve(shown.replaceAll('\r', '')));
  });
}

const isThere = ['/usr/bin/bwrap', '/usr/bin/script'].every((path) => existsSync(path));

// Skipped without bubblewrap and the program script, which have to be installed. On a build server that is a failure.
describe.skipIf(!isThere && !process.env['CI'])('runConfined() in a terminal (needs bubblewrap, script)', () => {
  it('connects the command with the terminal, its size and its keys, and returns its exit code', async () => {
    const shown = await inTerminal(
      'test -t 0 && test -t 1 && test -t 2 && stty size; echo ready; read x; echo "got $x"; exit 7',
      'typed\n',
    );
    expect(shown).toContain('33 77\n');
    expect(shown).toContain('got typed\n');
    expect(shown).toMatch(/end 7 undefined\n$/);
  });

  it('ends the command by Ctrl-C, and not this process', async () => {
    // Not `sleep`: dash loses a signal that comes while it starts a program.
    expect(await inTerminal('echo ready; read x', '\x03')).toMatch(/end (null SIGINT|130 undefined)\n$/);
  });

  it('leaves Ctrl-C to a command that handles it', async () => {
    const command = 'trap "echo caught" INT; echo ready; read x; read x; echo "got $x"; exit 9';
    const shown = await inTerminal(command, '\x03\ntyped\n');
    expect(shown).toMatch(/caught\n[\s\S]*end 9 undefined\n$/);
  });
});
