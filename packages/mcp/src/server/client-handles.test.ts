import { expect, it } from 'vitest';
import { type Connection, connect } from '../testing/clients.js';
import { MemoryWorkspace } from '../testing/memory-workspace.js';
import { McpWorkspaceServer } from './workspace-server.js';

function project(): { server: McpWorkspaceServer; workspace: MemoryWorkspace } {
  const workspace = new MemoryWorkspace({ '/a': 'a\n', '/b': 'b\n', '/d/c': 'c\n' });
  return { workspace, server: new McpWorkspaceServer(workspace.open) };
}

/** Calls a tool with the handle that is given, and returns the text and the handle that it names. */
function bare({ client }: Connection) {
  return async (name: string, input: Record<string, unknown> = {}) => {
    const { content } = await client.callTool({ name, arguments: input });
    const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    return { text, handle: /pass client: "(\w+)"/i.exec(text)?.[1] };
  };
}

const CHANGES: readonly (readonly [string, Record<string, unknown>])[] = [
  ['write_file', { path: '/a', content: 'ONE' }],
  ['edit_file', { path: '/a', old_text: 'TWO', new_text: 'ONE' }],
  ['delete_file', { path: '/a' }],
  ['move_file', { from: '/a', to: '/e' }],
];

it.each(CHANGES)('%s replaces no change by another client if parallel reads got two handles', async (tool, input) => {
  const { server } = project();
  const one = bare(await connect(server, 'modern'));
  const two = await connect(server, 'modern');
  const reads = await Promise.all([one('read_file', { path: '/a' }), one('read_file', { path: '/b' })]);
  const [first, second] = reads.map(({ handle }) => handle);
  expect(first).not.toBe(second);
  await two.text('write_file', { path: '/a', content: 'TWO' });
  for (const client of [second, first])
    expect((await one(tool, { ...input, client })).text).toContain('has changed since you read it');
  expect(await two.text('read_file', { path: '/a' })).toContain('TWO');
  await one('read_file', { path: '/a', client: second });
  expect((await one(tool, { ...input, client: second })).text).toContain('[Operation 2');
});

it('a handle that replaces another in the middle protects what was read under the first', async () => {
  const { server } = project();
  const one = bare(await connect(server, 'modern'));
  const { handle } = await one('read_file', { path: '/d/c' });
  await one('read_file', { path: '/a', client: handle });
  const { handle: next } = await one('read_file', { path: '/b' });
  await (await connect(server, 'modern')).text('write_file', { path: '/d/c', content: 'TWO' });
  expect((await one('delete_file', { path: '/d', recursive: true, client: next })).text).toContain('has changed since');
});

it.each(['legacy', 'modern'] as const)('an attempt that falls out of a %s client is still protected', async (era) => {
  const { server, workspace } = project();
  const one = await connect(server, era);
  const two = await connect(server, era);
  await one.text('read_file', { path: '/a' });
  for (let i = 0; i < 10; i++) {
    workspace.make(`other-${i}`, {});
    await one.text('list_files', { path: '/', attempt: `other-${i}` });
  }
  await two.text('write_file', { path: '/a', content: 'TWO' });
  expect(await one.text('write_file', { path: '/a', content: 'ONE' })).toContain('has changed since you read it');
});

it('a call that fails without a handle takes the place of no other client', async () => {
  const { server } = project();
  const one = bare(await connect(server, 'modern'));
  const { handle } = await one('read_file', { path: '/a' });
  for (let i = 0; i < 70; i++) await one('read_file', { path: '/b', attempt: 'none' });
  const { text } = await one('write_file', { path: '/a', content: 'ONE', client: handle });
  expect(text).toContain('Wrote');
});

it('a client may write again what it has deleted or moved away', async () => {
  const { server } = project();
  const { text } = await connect(server, 'modern');
  await text('read_file', { path: '/a' });
  await text('delete_file', { path: '/a' });
  expect(await text('write_file', { path: '/a', content: 'ONE' })).toContain('Wrote');
  expect(await text('write_file', { path: '/a', content: 'TWO' })).toContain('Wrote');
});
