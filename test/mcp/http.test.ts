import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { McpWorkspaceServer } from '@scratchfs/mcp';
import { openWorkspace } from '@scratchfs/workspace';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serve, TOKEN } from './other-node.js';
import { passingHandle } from './passing-handle.js';
import { grounds } from './program.js';

interface Caller {
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
}

const info = { name: 'tester', version: '1' };
const requestInit = { headers: { Authorization: `Bearer ${TOKEN}` } };
const options = { capabilities: { elicitation: { form: {} } } };

/** Connects clients whose person says yes to every form, and collects the forms. */
const CLIENTS: Readonly<Record<string, (url: URL, forms: string[]) => Promise<Caller & { close(): Promise<void> }>>> = {
  'of SDK 2 in revision 2026-07-28': async (url, forms) => {
    const client = new Client(info, { ...options, versionNegotiation: { mode: { pin: '2026-07-28' } } });
    return connected(client, url, forms);
  },
  'of SDK 2 in revision 2025-11-25': async (url, forms) => connected(new Client(info, options), url, forms),
  'of SDK 1': async (url, forms) => {
    const client = new FirstClient(info, options);
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      forms.push(params.message);
      return { action: 'accept', content: { approve: true } };
    });
    await client.connect(new FirstTransport(url, { requestInit }) as never);
    return client;
  },
};

async function connected(client: Client, url: URL, forms: string[]): Promise<Client> {
  client.setRequestHandler('elicitation/create', ({ params }) => {
    forms.push(params.message);
    return { action: 'accept', content: { approve: true } };
  });
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  return client;
}

const textOf = async (caller: Caller, name: string, input: Record<string, unknown> = {}): Promise<string> => {
  const { content } = (await caller.callTool({ name, arguments: input })) as { content: { text?: string }[] };
  return content.map(({ text = '' }) => text).join('\n');
};

describe.each(Object.entries(CLIENTS))('a client %s over HTTP', (_, connect) => {
  it('changes, undoes, and accepts by a form', async () => {
    const project = grounds({ 'src/a.ts': 'let x = 1;\n' });
    const before = project.read();
    const server = new McpWorkspaceServer(() => openWorkspace(project.directory, { store: 'memory:' }));
    onTestFinished(() => server.close());
    const forms: string[] = [];
    const client = passingHandle(await connect(new URL((await serve(server)).url), forms));
    onTestFinished(() => client.close());
    await textOf(client, 'write_file', { path: '/src/a.ts', content: 'gone\n' });
    expect(await textOf(client, 'undo')).toContain('Took back');
    expect(await textOf(client, 'read_file', { path: '/src/a.ts' })).toContain('let x = 1;');
    expect(project.read()).toEqual(before);
    expect(forms).toEqual([]);
    await textOf(client, 'write_file', { path: '/src/a.ts', content: 'new\n' });
    await textOf(client, 'accept');
    expect(forms).toEqual([expect.stringContaining('+new')]);
    expect(project.read()).toEqual({ '/src/a.ts': 'new\n' });
  });
});
