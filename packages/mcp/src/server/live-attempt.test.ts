import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openWorkspace } from '@scratchfs/workspace';
import { createFileSystem } from 'scratchfs';
import { expect, it, onTestFinished } from 'vitest';
import { connect, type Reply } from '../testing/clients.js';
import { McpWorkspaceServer } from './workspace-server.js';

/** Makes a directory in which a live attempt has written `live\n` over `old\n` in `/a`, and a server without `live`. */
async function afterLive() {
  const directory = mkdtempSync(join(tmpdir(), 'scratchfs-live-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, 'a'), 'old\n');
  const store = createFileSystem();
  {
    await using workspace = await openWorkspace(directory, { store, live: true });
    await (await workspace.attempt()).fileSystem.writeFile('/a', 'live\n');
  }
  const server = new McpWorkspaceServer(() => openWorkspace(directory, { store }));
  onTestFinished(() => server.close());
  return { directory, store, server, read: () => readFileSync(join(directory, 'a'), 'utf8') };
}

it('a server without live asks the person before undo or redo of a live attempt writes to the disk', async () => {
  const { server, read } = await afterLive();
  let reply: Reply = { action: 'decline' };
  const { text, forms } = await connect(server, 'modern', () => reply);
  const change = (how: boolean): void => {
    reply = how ? { action: 'accept', content: { approve: true } } : { action: 'decline' };
  };
  for (const [tool, input, before, after, shown] of [
    ['undo', {}, 'live\n', 'old\n', 'Take back on your disk:'],
    ['redo', {}, 'old\n', 'live\n', 'Make again on your disk:'],
    ['undo', { to: 0 }, 'live\n', 'old\n', 'Take back on your disk what operations after 0 changed:\nM /a'],
  ] as const) {
    change(false);
    expect(await text(tool, { attempt: 'live', ...input })).toContain('has not approved');
    expect(read()).toBe(before);
    expect(forms.at(-1)).toContain(shown);
    change(true);
    await text(tool, { attempt: 'live', ...input });
    expect(read()).toBe(after);
  }
  expect(forms).toHaveLength(6);
});

it('a server without live says why it does not write into a live attempt', async () => {
  const { server, read } = await afterLive();
  const { text } = await connect(server, 'modern');
  expect(await text('write_file', { attempt: 'live', path: '/a', content: 'x' })).toContain(
    'Error: The attempt live writes to the disk at once',
  );
  expect(read()).toBe('live\n');
});

it('a live server refuses to use an attempt that keeps its changes apart', async () => {
  const { directory, store } = await afterLive();
  {
    await using workspace = await openWorkspace(directory, { store });
    await workspace.createAttempt('apart');
  }
  const server = new McpWorkspaceServer(() => openWorkspace(directory, { store, live: true }), {
    live: true,
    attempt: 'apart',
  });
  onTestFinished(() => server.close());
  const { text } = await connect(server, 'modern');
  expect(await text('write_file', { path: '/b', content: 'x' })).toContain('keeps its changes apart');
});

it('a live server marks its own attempt as the current one, not that of the directory', async () => {
  const { directory, store } = await afterLive();
  {
    await using workspace = await openWorkspace(directory, { store });
    await workspace.createAttempt('apart');
    await workspace.switchTo('apart');
  }
  const server = new McpWorkspaceServer(() => openWorkspace(directory, { store, live: true }), { live: true });
  onTestFinished(() => server.close());
  const { text } = await connect(server, 'modern');
  expect((await text('attempts')).split('\n').filter((line) => line.includes('(current)'))).toEqual([
    expect.stringMatching(/^live \(current\)/),
  ]);
});

it('a server whose own attempt was discarded still lists the others', async () => {
  const { directory, store } = await afterLive();
  {
    await using workspace = await openWorkspace(directory, { store });
    for (const name of ['own', 'other']) await workspace.createAttempt(name);
    await (await workspace.attempt('own')).discard();
  }
  const server = new McpWorkspaceServer(() => openWorkspace(directory, { store }), { attempt: 'own' });
  onTestFinished(() => server.close());
  const { text } = await connect(server, 'modern');
  expect(await text('attempts', { attempt: 'other' })).toMatch(/^other /m);
});
