import { request } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { McpWorkspaceServer } from '../server/workspace-server.js';
import { MemoryWorkspace } from '../testing/memory-workspace.js';
import { type HttpServer, serveHttp } from './serve-http.js';
import { MAX_SESSIONS } from './sessions.js';

const TOKEN = 'a-token-of-some-length';
const MAX_BODY_BYTES = 10_000;

let server: HttpServer;
const workspace = new MemoryWorkspace({ '/a.txt': 'a\n' });
const mcp = new McpWorkspaceServer(workspace.open);

beforeAll(async () => {
  server = await serveHttp(mcp, {
    port: 0,
    token: TOKEN,
    allowedHosts: ['proxy.example'],
    maxBodyBytes: MAX_BODY_BYTES,
  });
});
afterAll(() => server.close());

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const PING = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });

/** Sends a request, of which tests replace parts, such as headers that a browser would not send. */
function send({ method = 'POST', path = '/mcp', headers = {}, body = PING }: Sent) {
  const { port } = new URL(server.url);
  return new Promise<{ status: number; headers: Record<string, unknown>; text: string }>((resolve, reject) => {
    const all = {
      host: `127.0.0.1:${port}`,
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    };
    const sent = request({ host: '127.0.0.1', port, path, method, headers: all }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

describe('a request', () => {
  it('with everything right is served', async () => {
    expect((await send({})).status).toBe(200);
    expect((await send({ headers: { host: 'localhost' } })).status).toBe(200);
    expect((await send({ headers: { host: 'proxy.example' } })).status).toBe(200);
  });

  it.each<[string, Sent, number]>([
    ['of a page whose name was bound to this address', { headers: { host: 'evil.example' } }, 403],
    ['with a Host that only begins well', { headers: { host: '127.0.0.1.evil.example' } }, 403],
    ['with a user in its Host', { headers: { host: '127.0.0.1@evil.example' } }, 403],
    ['of another origin', { headers: { origin: 'https://evil.example' } }, 403],
    ['of another port of this machine', { headers: { origin: 'http://127.0.0.1:1' } }, 403],
    ['of a page without origin', { headers: { origin: 'null' } }, 403],
    ['with an empty origin', { headers: { origin: '' } }, 403],
    ['without a token', { headers: { authorization: '' } }, 401],
    ['with another token', { headers: { authorization: `Bearer ${TOKEN}x` } }, 401],
    ['with the beginning of the token', { headers: { authorization: `Bearer ${TOKEN.slice(0, -1)}` } }, 401],
    ['with the token by another scheme', { headers: { authorization: `Basic ${TOKEN}` } }, 401],
    ['with the token in a query', { path: `/mcp?token=${TOKEN}`, headers: { authorization: '' } }, 400],
    ['with a query', { path: '/mcp?a=b' }, 400],
    ['for another path', { path: '/' }, 404],
    ['for the path by another spelling', { path: '/x/../mcp' }, 404],
    ['to read', { method: 'GET', body: '' }, 405],
    ['to ask what another origin may do', { method: 'OPTIONS', body: '' }, 405],
    ['with a long body', { body: ' '.repeat(MAX_BODY_BYTES + 1) }, 413],
    [
      'with a long body of unknown length',
      { body: ' '.repeat(MAX_BODY_BYTES + 1), headers: { 'transfer-encoding': 'chunked' } },
      413,
    ],
  ])('%s is refused', async (_, sent, status) => {
    const response = await send(sent);
    expect(response.status).toBe(status);
    expect(Object.keys(response.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(response.text).not.toContain(TOKEN);
  });

  it('that nothing understands is refused by the protocol', async () => {
    expect((await send({ body: '{' })).status).toBe(400);
    expect((await send({ headers: { 'content-type': 'text/plain' } })).status).toBe(415);
  });
});

describe.each(['legacy', 'auto'] as const)('a client of mode %s', (mode) => {
  it('works over HTTP', async () => {
    const client = new Client({ name: 'tester', version: '1' }, { versionNegotiation: { mode } });
    const headers = { authorization: `Bearer ${TOKEN}` };
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers } }));
    const { content } = await client.callTool({ name: 'read_file', arguments: { path: '/a.txt' } });
    expect(content[0]).toMatchObject({ text: expect.stringContaining('a') });
    await client.close();
  });
});

describe('a session', () => {
  const info = { name: 'tester', version: '1' };
  const INITIALIZE = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: info },
  });
  const begin = async (): Promise<string> => String((await send({ body: INITIALIZE })).headers['mcp-session-id']);
  const ping = async (id: string, method = 'POST'): Promise<number> =>
    (await send({ method, headers: { 'mcp-session-id': id }, body: method === 'POST' ? PING : '' })).status;

  it('takes no subscription with a longer URI than a resource has', async () => {
    const headers = { 'mcp-session-id': await begin() };
    const subscribe = async (length: number): Promise<string> => {
      const uri = 'scratchfs://a/'.padEnd(length, 'x');
      const message = { jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri } };
      return (await send({ headers, body: JSON.stringify(message) })).text;
    };
    expect(await subscribe(4096)).toContain('"result":{}');
    expect(await subscribe(4097)).toContain('at most 4096');
  });

  it('ends when its client says so', async () => {
    const id = await begin();
    expect(await ping(id)).toBe(200);
    expect(await ping(id, 'DELETE')).toBe(200);
    expect(await ping(id)).toBe(404);
  });

  it('that is unknown is refused, and asks for a token first', async () => {
    expect(await ping('1234')).toBe(404);
    expect(await ping('1234', 'GET')).toBe(404);
    expect(
      (await send({ method: 'GET', headers: { 'mcp-session-id': '1', authorization: '' }, body: '' })).status,
    ).toBe(401);
  });

  it('ends if it was used least recently of too many', async () => {
    const [first, second] = [await begin(), await begin()];
    for (let i = 0; i < MAX_SESSIONS - 2; i++) await begin();
    expect(await ping(first)).toBe(200);
    await begin();
    expect([await ping(first), await ping(second)]).toEqual([200, 404]);
  });
});

describe('serveHttp()', () => {
  it('refuses a long request that subscribes to resources', async () => {
    const large = await serveHttp(mcp, { port: 0, token: TOKEN });
    onTestFinished(() => large.close());
    const params = { notifications: { resourceSubscriptions: ['x'.repeat(300_000)] } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params });
    const headers = {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const response = await fetch(large.url, { method: 'POST', headers, body });
    expect([response.status, await response.text()]).toEqual([413, expect.stringContaining('262144 bytes')]);
  });

  it('refuses a token that can be guessed, and options that it does not know', async () => {
    await expect(serveHttp(mcp, { port: 0, token: 'short' })).rejects.toThrow('16');
    await expect(serveHttp(mcp, { port: 0, token: `${TOKEN} ${TOKEN}` })).rejects.toThrow('without spaces');
    await expect(serveHttp(mcp, { port: 0, token: TOKEN, requestTimeoutMs: 0 })).rejects.toThrow('requestTimeoutMs');
    await expect(serveHttp(mcp, { port: -1, token: TOKEN })).rejects.toThrow('port');
    await expect(serveHttp(mcp, { port: 0, token: TOKEN, host: '0.0.0.0' } as never)).rejects.toThrow('host');
  });
});
