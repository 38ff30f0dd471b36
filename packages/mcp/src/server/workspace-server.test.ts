import { describe, expect, it } from 'vitest';
import { connect, type Era } from '../testing/clients.js';
import { MemoryWorkspace } from '../testing/memory-workspace.js';
import type { McpServerOptions } from './options.js';
import { McpWorkspaceServer } from './workspace-server.js';

const ERAS: readonly Era[] = ['legacy', 'modern'];

function project(options?: McpServerOptions): { workspace: MemoryWorkspace; server: McpWorkspaceServer } {
  const workspace = new MemoryWorkspace({ '/src/a.ts': 'let x = 1;\n', '/b.txt': 'b\n' });
  return { workspace, server: new McpWorkspaceServer(workspace.open, options) };
}

it('attempts marks the one that calls without a name use, and leaves out those that were discarded', async () => {
  const { server, workspace } = project({ attempt: 'mine' });
  workspace.make('mine', {});
  workspace.discarded.add('gone');
  workspace.make('gone', {});
  await workspace.attempt();
  const { text } = await connect(server, 'modern');
  expect(await text('attempts')).toBe(
    'mine (current) 0 operations 0 changed paths\ncalm-otter 0 operations 0 changed paths',
  );
});

describe.each(ERAS)('a client of a %s revision', (era) => {
  it('reads, writes and undoes, and the disk stays as it is', async () => {
    const { server, workspace } = project();
    const { call, text } = await connect(server, era);
    expect(await text('read_file', { path: '/src/a.ts' })).toContain('let x = 1;');
    const { structuredContent } = await call('write_file', { path: '/src/a.ts', content: 'gone' });
    expect(structuredContent).toEqual({
      text: expect.stringContaining('Wrote 4 characters'),
      attempt: 'calm-otter',
      operation: 1,
      changes: [{ path: '/src/a.ts', type: 'changed' }],
    });
    expect(await text('undo')).toMatch(/^Took back operation 1 \(write_file\): \S+\n {4}M \/src\/a\.ts\n/);
    expect(await text('read_file', { path: '/src/a.ts' })).toContain('let x = 1;');
    expect(workspace.disk.get('/src/a.ts')).toBe('let x = 1;\n');
  });

  it('opens no workspace by asking what there is', async () => {
    const { server, workspace } = project();
    const { client, text } = await connect(server, era);
    await client.listTools();
    expect(workspace.openings).toBe(0);
    await Promise.all([text('log'), text('log')]);
    expect(workspace.openings).toBe(1);
  });

  it('is the actor in the log', async () => {
    const { server } = project();
    const { text } = await connect(server, era);
    await text('write_file', { path: '/c', content: 'c' });
    expect(await text('log')).toContain('tester write_file');
  });

  it('may name files by their path on the disk', async () => {
    const { server } = project();
    const { text } = await connect(server, era);
    expect(await text('read_file', { path: '/home/me/project/src/a.ts' })).toContain('let x = 1;');
    expect(await text('read_file', { path: '/home/me/project2/src/a.ts' })).toContain('Error: ');
  });

  it('works in a fork beside the first attempt', async () => {
    const { server } = project();
    const { text } = await connect(server, era);
    await text('fork', { name: 'other' });
    await text('write_file', { path: '/b.txt', content: 'other', attempt: 'other' });
    expect(await text('read_file', { path: '/b.txt' })).toContain('b');
    expect(await text('read_file', { path: '/b.txt', attempt: 'other' })).toContain('other');
    expect(await text('read_file', { path: '/b.txt', attempt: 'nobody' })).toBe('Error: There is no attempt nobody.');
    expect(await text('read_file', { path: '/b.txt', attempt: 7 })).toContain('attempt must be the name');
  });

  it('sees no secrets, writes none, and finds none', async () => {
    const { server, workspace } = project({ deny: ['private'], allowSecrets: ['.env.test'] });
    for (const path of ['/.env', '/.env.test', '/.env.example', '/sub/id_rsa', '/private/x'])
      workspace.disk.set(path, 'hunter2\n');
    const { text } = await connect(server, era);
    const listed = await text('list_files');
    for (const path of ['.env\n', 'id_rsa', 'private']) expect(`${listed}\n`).not.toContain(path);
    expect(await text('read_file', { path: '/.env.test' })).toContain('hunter2');
    expect(await text('read_file', { path: '/.env' })).toContain('Error: ');
    expect((await text('grep', { pattern: 'hunter2' })).match(/hunter2/g)).toHaveLength(2);
    for (const path of ['/.env', '/private/y', '/new/.env.production'])
      expect(await text('write_file', { path, content: 'x' })).toContain('Error: ');
    expect(await text('move_file', { from: '/.env', to: '/env.txt' })).toContain('Error: ');
  });

  it('gets an explanation of wrong input', async () => {
    const { server } = project();
    const { text } = await connect(server, era);
    expect(await text('read_file', {})).toContain('The parameter path is missing');
    expect(await text('accept', { as: 'force' })).toContain('as must be apply or merge or branch or patch');
    expect(await text('undo', { path: '/a' })).toContain('path needs to');
  });
});

describe('tools/list', () => {
  it.each(['scratchfs', 'claude'] as const)('costs less than 3,000 tokens in the profile %s', async (profile) => {
    const { server } = project({ allowRun: true, profile });
    const { client } = await connect(server, 'modern');
    const { tools } = await client.listTools();
    expect(tools.length).toBeLessThanOrEqual(20);
    expect(Buffer.byteLength(JSON.stringify({ tools })) / 4).toBeLessThan(3000);
  });

  it('calls only what no undo takes back destructive', async () => {
    const destructive = async (options: McpServerOptions): Promise<string[]> => {
      const { client } = await connect(project({ allowRun: true, ...options }).server, 'modern');
      const { tools } = await client.listTools();
      return tools
        .filter(({ annotations }) => annotations?.readOnlyHint !== true && annotations?.destructiveHint !== false)
        .map(({ name }) => name);
    };
    expect(await destructive({})).toEqual(['undo', 'redo', 'accept']);
    const live = ['write_file', 'edit_file', 'delete_file', 'move_file', 'run', 'undo', 'redo', 'accept'];
    expect(await destructive({ live: true })).toEqual(live);
    expect(await destructive({ network: true })).toEqual(['run', 'undo', 'redo', 'accept']);
  });

  it('has run only if the server allows it', async () => {
    const names = async (options: McpServerOptions): Promise<string[]> => {
      const { client } = await connect(project(options).server, 'modern');
      return (await client.listTools()).tools.map(({ name }) => name);
    };
    expect(await names({})).not.toContain('run');
    expect(await names({ allowRun: true })).toContain('run');
    const { text } = await connect(project().server, 'modern');
    await expect(text('run', { command: 'true' })).rejects.toThrow('not found');
  });

  it('has no tool that changes anything if the server is read-only', async () => {
    const { client, text } = await connect(project({ readOnly: true, allowRun: true }).server, 'modern');
    const { tools } = await client.listTools();
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
    await expect(text('write_file', { path: '/c', content: 'c' })).rejects.toThrow('not found');
  });

  it('has the tools that are asked for, and refuses names that none has', async () => {
    const { client } = await connect(project({ tools: ['read_file', 'undo'] }).server, 'modern');
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['read_file', 'undo']);
    expect(() => project({ tools: ['rm'] })).toThrow("There is no tool 'rm'");
  });
});
