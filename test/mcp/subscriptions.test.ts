import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { McpWorkspaceServer, serveHttp } from '@scratchfs/mcp';
import { openWorkspace } from '@scratchfs/workspace';
import { expect, it, onTestFinished, vi } from 'vitest';
import { passingHandle } from './passing-handle.js';
import { type Grounds, grounds } from './program.js';

const info = { name: 'tester', version: '1' };
const latest = { versionNegotiation: { mode: { pin: '2026-07-28' } } } as const;

const stdio = async (client: Client, { args, env }: Grounds): Promise<void> =>
  client.connect(new StdioClientTransport({ command: process.execPath, args: args(), env }));

const http = async (client: Client, { directory }: Grounds): Promise<void> => {
  const token = 'a-token-of-some-length';
  const server = new McpWorkspaceServer(() => openWorkspace(directory));
  const { url, close } = await serveHttp(server, { port: 0, token });
  onTestFinished(async () => {
    await close();
    await server.close();
  });
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
};

it.each([
  { way: 'stdio', revision: '2025-11-25', connect: stdio, client: new Client(info) },
  { way: 'stdio', revision: '2026-07-28', connect: stdio, client: new Client(info, latest) },
  { way: 'HTTP', revision: '2025-11-25', connect: http, client: new Client(info) },
  { way: 'HTTP', revision: '2026-07-28', connect: http, client: new Client(info, latest) },
])(
  'a subscription hears of changes by another process: $way, revision $revision',
  async ({ revision, connect, client }) => {
    const project = grounds({ a: 'a', b: 'b' });
    vi.stubEnv('XDG_STATE_HOME', project.env['XDG_STATE_HOME']);
    onTestFinished(() => void vi.unstubAllEnvs());
    await connect(client, project);
    passingHandle(client);
    onTestFinished(() => client.close());
    const heard: string[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      heard.push(params.uri);
    });
    const write = (path: string) => client.callTool({ name: 'write_file', arguments: { path, content: 'own' } });
    await write('/b');
    await using workspace = await openWorkspace(project.directory);
    const attempt = await workspace.attempt();
    const [uri, begun] = ['a', 'begun'].map((name) => `scratchfs://${attempt.name}/${name}`) as [string, string];
    if (revision === '2025-11-25') for (const each of [uri, begun]) await client.subscribeResource({ uri: each });
    else await client.listen({ resourceSubscriptions: [uri, begun] });
    // The server begins to follow changes some time after the request. From the first one that is heard on, none is missed.
    await expect.poll(() => write('/begun').then(() => heard)).toContain(begun);
    const others = (): string[] => heard.filter((each) => each !== begun);
    await write('/a');
    await expect.poll(others).toEqual([uri]);
    await attempt.fileSystem.writeFile('/b', 'by another process');
    await attempt.fileSystem.writeFile('/a', 'by another process');
    await expect.poll(others).toEqual([uri, uri]);
  },
);
