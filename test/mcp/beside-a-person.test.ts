import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { McpWorkspaceServer } from '@scratchfs/mcp';
import { openWorkspace } from '@scratchfs/workspace';
import { describe, expect, it, onTestFinished } from 'vitest';
import { grounds } from './program.js';

const lines = Array.from({ length: 12 }, (_, i) => `line ${i + 1}`);
const before = `${lines.join('\n')}\n`;

async function started({ directory, read } = grounds({ a: before, b: 'b\n' }), store = 'memory:') {
  const server = new McpWorkspaceServer(() => openWorkspace(directory, { store }));
  const handler = createMcpHandler(server.factory);
  const client = new Client({ name: 'tester', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const fetch = ((input: string, init?: RequestInit) => handler.fetch(new Request(input, init))) as never;
  await client.connect(new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), { fetch }));
  onTestFinished(() => server.close());
  const text = async (name: string, input: object = {}): Promise<string> => {
    const { content } = await client.callTool({ name, arguments: { ...input } });
    return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  };
  const edit = (from: string, to: string): Promise<string> =>
    text('edit_file', { path: '/a', edits: [{ old_text: from, new_text: to }] });
  const person = (content: string): void => writeFileSync(join(directory, 'a'), content);
  return { text, edit, person, read };
}

describe('an agent beside a person', () => {
  it('is told what the person changed, and has both changes', async () => {
    const { text, edit, person } = await started();
    await edit('line 1\n', 'agent 1\n');
    person(before.replace('line 12', 'person 12'));
    expect(await text('write_file', { path: '/c', content: 'c' })).toContain('1 file changed on disk: /a');
    const merged = await text('read_file', { path: '/a' });
    expect(merged).toContain('agent 1');
    expect(merged).toContain('person 12');
  });

  it('is told of a conflict, and keeps its own version', async () => {
    const { text, edit, person } = await started();
    await edit('line 5', 'agent 5');
    person(before.replace('line 5', 'person 5'));
    expect(await text('write_file', { path: '/c', content: 'c' })).toContain(
      'conflict /a: both changed the same lines',
    );
    expect(await text('read_file', { path: '/a' })).toContain('agent 5');
  });

  it('settles no conflict of which only another client was told', async () => {
    const ground = grounds({ a: before, b: 'b\n' });
    const store = `file://${grounds({}).directory}`;
    const other = await started(ground, store);
    await other.edit('line 5', 'agent 5');
    other.person(before.replace('line 5', 'person 5'));
    expect(await other.text('write_file', { path: '/c', content: 'c' })).toContain('conflict /a');
    const { text } = await started(ground, store);
    const both = before.replace('line 5', 'both 5');
    await text('read_file', { path: '/a' });
    expect(await text('write_file', { path: '/a', content: both })).toContain('conflict /a');
    expect(await text('accept', { dry_run: true })).toContain('conflict /a');
    await text('write_file', { path: '/a', content: both });
    expect(await text('accept', { dry_run: true })).not.toContain('conflict /a');
  });

  it('is told of a conflict by the undo that brings it about', async () => {
    const { text, edit, person } = await started();
    await edit('line 5', 'agent 5');
    await edit('agent 5', 'line 5');
    person(before.replace('line 5', 'person 5'));
    expect(await text('undo', {})).toContain('conflict /a: both changed the same lines');
  });

  it('does not overwrite what it has not seen', async () => {
    const { text, person, read } = await started();
    await text('read_file', { path: '/a' });
    person('from the person\n');
    expect(await text('write_file', { path: '/a', content: 'over it' })).toContain('changed since');
    expect(await text('read_file', { path: '/a' })).toContain('from the person');
    expect(read()).toMatchObject({ '/a': 'from the person\n' });
  });
});
