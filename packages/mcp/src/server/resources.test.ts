import { describe, expect, it } from 'vitest';
import { connect, type Era } from '../testing/clients.js';
import { MemoryWorkspace } from '../testing/memory-workspace.js';
import { McpWorkspaceServer } from './workspace-server.js';

const ERAS: readonly Era[] = ['legacy', 'modern'];

function project(): { workspace: MemoryWorkspace; server: McpWorkspaceServer } {
  const workspace = new MemoryWorkspace({ '/src/a b.ts': 'let x = 1;\n', '/src/c.ts': 'c', '/.env': 'hunter2' });
  return { workspace, server: new McpWorkspaceServer(workspace.open) };
}

describe.each(ERAS)('resources for a client of a %s revision', (era) => {
  it('are the files of an attempt, by the links of results', async () => {
    const { client, text } = await connect(project().server, era);
    await text('write_file', { path: '/src/a b.ts', content: 'new' });
    const { content } = await client.callTool({ name: 'read_file', arguments: { path: '/src/a b.ts' } });
    const link = content.find((block) => block.type === 'resource_link');
    const uri = link?.type === 'resource_link' ? link.uri : '';
    expect(uri).toBe('scratchfs://calm-otter/src/a%20b.ts');
    const { contents } = await client.readResource({ uri });
    expect(contents).toEqual([{ uri, mimeType: 'text/plain', text: 'new' }]);
    const { resources } = await client.listResources();
    expect(resources.map((each) => each.uri)).toEqual([uri]);
  });

  it.each([
    'scratchfs://calm-otter/.env',
    'scratchfs://calm-otter/none',
    'scratchfs://nobody/src/c.ts',
    'scratchfs://calm-otter/%ff',
  ])('do not have %s', async (uri) => {
    const { client } = await connect(project().server, era);
    await expect(client.readResource({ uri })).rejects.toThrow(/not found/i);
  });

  it('complete attempts and paths, without secrets', async () => {
    const { client, text } = await connect(project().server, era);
    await text('log');
    const ref = { type: 'ref/resource', uri: 'scratchfs://{attempt}/{+path}' } as const;
    const values = async (name: string, value: string): Promise<string[]> =>
      (await client.complete({ ref, argument: { name, value } })).completion.values;
    expect(await values('attempt', 'calm')).toEqual(['calm-otter']);
    expect(await values('path', '')).toEqual(['src/']);
    expect(await values('path', 'src/c')).toEqual(['src/c.ts']);
    expect(await values('path', 'none/')).toEqual([]);
  });
});

describe('a subscription', () => {
  it('hears of changes that any connection makes', async () => {
    const { server } = project();
    const { client } = await connect(server, 'legacy');
    const other = await connect(server, 'modern');
    const heard: string[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      heard.push(params.uri);
    });
    await client.subscribeResource({ uri: 'scratchfs://calm-otter/src/c.ts' });
    await other.text('write_file', { path: '/src/c.ts', content: 'new' });
    await other.text('write_file', { path: '/src/d.ts', content: 'new' });
    await other.text('write_file', { path: '/src/c.ts', content: 'newer' });
    await expect.poll(() => heard, { interval: 1 }).toHaveLength(2);
    expect(new Set(heard)).toEqual(new Set(['scratchfs://calm-otter/src/c.ts']));
    await client.unsubscribeResource({ uri: 'scratchfs://calm-otter/src/c.ts' });
    await client.close();
  });
});

describe.each(ERAS)('prompts for a client of a %s revision', (era) => {
  it('name the tools to call, and quote names', async () => {
    const { client } = await connect(project().server, era);
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(['review', 'compare-attempts', 'what-happened']);
    const { messages } = await client.getPrompt({ name: 'compare-attempts', arguments: { first: 'a"b', second: 'c' } });
    expect(messages[0]?.content).toMatchObject({ text: expect.stringContaining('attempt: "a\\"b"') });
    await expect(client.getPrompt({ name: 'compare-attempts', arguments: { first: 'a' } })).rejects.toThrow('second');
    const wrong = { first: 'a', second: 7 as unknown as string };
    await expect(client.getPrompt({ name: 'compare-attempts', arguments: wrong })).rejects.toThrow();
    expect((await client.getPrompt({ name: 'review' })).messages).toHaveLength(1);
  });
});
