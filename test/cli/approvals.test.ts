import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openWorkspace } from '@scratchfs/workspace';
import { describe, expect, it } from 'vitest';
import { PROGRAM } from './bundle.js';
import { checked, ENVIRONMENT, folder, json, ok, run } from './program.js';
import { repository } from './repository.js';
import { HAS_TMUX, Terminal } from './terminal.js';

describe('approvals', () => {
  it('are listed, and denied all or none', async () => {
    const cwd = repository();
    const store = folder('store');
    const args = ['--store', store];
    await using workspace = await openWorkspace(cwd, { store: `file://${store}` });
    const { name: attempt } = await workspace.createAttempt();
    const what = { attempt, head: 0, action: 'accept' };
    const details = { as: 'branch', branch: 'evil', paths: ['/src', '/b\u001b.txt'] };
    await workspace.approvals.request({ ...what, summary: 'Accept \u001b[31m3 paths', details });
    await workspace.approvals.request({ ...what, summary: 'Accept everything' });
    expect((await json('approvals', args, { cwd }))['approvals']).toMatchObject([{ id: 2 }, { id: 1 }]);
    expect(await ok(['approvals', ...args], { cwd })).toMatch(
      new RegExp(
        `just now +${attempt} +accept +Accept \\\\e\\[31m3 paths \\(as branch, branch evil, /src /b\\\\e.txt\\)`,
      ),
    );
    expect((await run(['deny', '1', '9', ...args], { cwd })).code).toBe(3);
    expect((await json('deny', ['2', ...args], { cwd }))['approvals']).toMatchObject([{ id: 2, state: 'denied' }]);
    expect((await run(['deny', '1', '2', ...args], { cwd })).code).toBe(5);
    expect((await json('deny', ['1', ...args], { cwd }))['approvals']).toMatchObject([{ id: 1, state: 'denied' }]);
    expect((await run(['approve', '2', ...args], { cwd })).code).toBe(5);
    expect(await ok(['approvals', ...args], { cwd })).toBe('Nothing waits for you.\n');
    expect(await json('gc', args, { cwd })).toMatchObject({ code: 0, deleted: 0 });
  });
});

describe('approve', () => {
  it('needs a terminal, and the state that the agent asked for', async () => {
    const cwd = repository();
    const store = folder('store');
    const args = ['--store', store];
    await using workspace = await openWorkspace(cwd, { store: `file://${store}` });
    const attempt = await workspace.createAttempt();
    const what = { attempt: attempt.name, head: 0, action: 'accept', summary: 'Accept' };
    await workspace.approvals.request(what);
    const piped = await run(['approve', '1', ...args], { cwd, input: 'yes\n', detached: true });
    expect(piped).toMatchObject({ code: 4, stderr: expect.stringContaining('no terminal') });
    await attempt.fileSystem.writeFile('/more', 'x');
    const moved = await run(['approve', '1', ...args], { cwd, detached: true });
    expect(moved).toMatchObject({ code: 5, stderr: expect.stringContaining('has changed since') });
    expect(await workspace.approvals.get(1)).toMatchObject({ state: 'pending' });
  });
});

describe.skipIf(!HAS_TMUX)('approve in a terminal (needs tmux)', () => {
  it('shows the change and takes a typed yes only', async () => {
    const cwd = repository();
    const store = folder('store');
    await using workspace = await openWorkspace(cwd, { store: `file://${store}` });
    const attempt = await workspace.createAttempt();
    await attempt.fileSystem.writeFile('/new', 'hello\n');
    const what = { attempt: attempt.name, head: 1, action: 'accept', summary: 'Accept' };
    for (let id = 1; id <= 3; id++) await workspace.approvals.request(what);
    const terminal = new Terminal(cwd);
    try {
      terminal.type(`scratchfs approve 1 2 --store ${store}; echo "code $?"`);
      expect(await terminal.shows('Approve 1? Type yes:')).toContain('+hello');
      terminal.type('y');
      await terminal.shows('Approve 2? Type yes:');
      terminal.type('yes');
      expect(await terminal.shows('code 4')).toContain('Approved 2');
      const file = join(folder('results'), 'approve.json');
      terminal.type(`scratchfs approve 3 --json --store ${store} > ${file}; echo "json $?"`);
      await terminal.shows('Approve 3? Type yes:');
      terminal.type('yes');
      await terminal.shows('json 0');
      expect(checked('approve', readFileSync(file, 'utf8'))['approvals']).toMatchObject([{ id: 3, state: 'approved' }]);
    } finally {
      terminal.close();
    }
    expect(await workspace.approvals.list()).toMatchObject([
      { state: 'approved' },
      { state: 'approved' },
      { state: 'pending' },
    ]);
  });
});

describe('watch', () => {
  it('prints operations of other processes until Ctrl-C', async () => {
    const cwd = repository();
    const child = spawn(process.execPath, [PROGRAM, 'watch', '--json'], { cwd, env: ENVIRONMENT });
    const line = new Promise<string>((resolve) => {
      const lines = createInterface({ input: child.stdout });
      lines.on('line', (text) => text.includes('"type":"operation"') && resolve(text));
    });
    await new Promise((resolve) => child.stderr.once('data', resolve));
    await ok(['fs', 'write', 'a', '1'], { cwd });
    expect(checked('watch', await line)).toMatchObject({
      command: 'watch',
      event: { type: 'operation', operation: { tool: 'fs write' } },
    });
    child.kill('SIGINT');
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
  });
});
