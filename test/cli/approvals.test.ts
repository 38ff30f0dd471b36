import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { openWorkspace } from '@scratchfs/workspace';
import { describe, expect, it } from 'vitest';
import { PROGRAM } from './bundle.js';
import { ENVIRONMENT, folder, json, ok, run } from './program.js';
import { repository } from './repository.js';

describe('approvals', () => {
  it('are listed, approved and denied once', async () => {
    const cwd = repository();
    const store = folder('store');
    const args = ['--store', store];
    await using workspace = await openWorkspace(cwd, { store: `file://${store}` });
    const what = { attempt: 'calm-otter', head: 0, action: 'accept' };
    await workspace.approvals.request({ ...what, summary: 'Accept \u001b[31m3 paths' });
    await workspace.approvals.request({ ...what, summary: 'Accept everything' });
    expect((await json('approvals', args, { cwd }))['approvals']).toMatchObject([{ id: 2 }, { id: 1 }]);
    expect(await ok(['approvals', ...args], { cwd })).toContain('Accept \\e[31m3 paths');
    expect((await json('approve', ['1', ...args], { cwd }))['approvals']).toMatchObject([{ id: 1, state: 'approved' }]);
    expect((await json('deny', ['2', ...args], { cwd }))['approvals']).toMatchObject([{ id: 2, state: 'denied' }]);
    expect((await run(['approve', '2', ...args], { cwd })).code).toBe(5);
    expect((await run(['deny', '9', ...args], { cwd })).code).toBe(3);
    expect(await ok(['approvals', ...args], { cwd })).toBe('Nothing waits for you.\n');
    expect(await json('gc', args, { cwd })).toMatchObject({ code: 0, deleted: 0 });
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
    expect(JSON.parse(await line)).toMatchObject({
      command: 'watch',
      event: { type: 'operation', operation: { tool: 'fs write' } },
    });
    child.kill('SIGINT');
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
  });
});
