import { connect, type Socket } from 'node:net';
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MAX_BACKLOG_BYTES, MAX_RUNNING, serveHttp } from './serve-http.js';
import { MAX_SESSIONS } from './sessions.js';

const TOKEN = 'a-token-of-some-length';
/** Time for a request. On a busy machine, one that is sent at once takes some hundred milliseconds too. */
const SLOW_MS = 2_000;
const BODY = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait', arguments: {} } });
const head = (token: string, length: number): string =>
  `POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n` +
  `Accept: application/json, text/event-stream\r\nContent-Length: ${length}\r\n\r\n`;
const CALL = head(TOKEN, BODY.length) + BODY;

/** Serves a tool that waits for `open()`, and counts the calls that wait. */
async function gated(requestTimeoutMs?: number) {
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const calls = { waiting: 0 };
  const servers: McpServer[] = [];
  const factory = () => {
    const server = new McpServer({ name: 'gated', version: '1' }, { capabilities: { logging: {} } });
    servers.push(server);
    const inputSchema = fromJsonSchema<object>({ type: 'object' });
    server.registerTool('wait', { inputSchema }, async () => {
      calls.waiting++;
      await gate;
      return { content: [] };
    });
    return server;
  };
  const source = { factory, onResourceChange: () => () => undefined };
  const server = await serveHttp(source, { port: 0, token: TOKEN, requestTimeoutMs });
  onTestFinished(() => server.close());
  return { port: Number(new URL(server.url).port), open, calls, servers };
}

/** Sends bytes on a connection of their own. Collects the status codes of the responses. */
function sent(port: number, bytes: string, statuses: number[] = []) {
  const socket: Socket = connect(port, '127.0.0.1', () => socket.write(bytes));
  onTestFinished(() => void socket.destroy());
  socket.on('data', (chunk) => {
    for (const [, status] of chunk.toString('latin1').matchAll(/HTTP\/1\.1 (\d+)/g)) statuses.push(Number(status));
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()).on('error', () => undefined));
  return { statuses, socket, closed };
}

const sum = (statuses: readonly number[], status: number): number => statuses.filter((each) => each === status).length;

describe('many requests at the same time', () => {
  it('are served up to a number, and the others refused', async () => {
    const { port, open, calls } = await gated();
    const statuses: number[] = [];
    for (let i = 0; i < 2000; i++) sent(port, CALL, statuses);
    await expect.poll(() => sum(statuses, 503)).toBe(2000 - MAX_RUNNING);
    await expect.poll(() => calls.waiting).toBe(MAX_RUNNING);
    open();
    await expect.poll(() => sum(statuses, 200)).toBe(MAX_RUNNING);
    const after = sent(port, CALL);
    await expect.poll(() => after.statuses).toEqual([200]);
  });

  it('are all responded to if they are sent on one connection', async () => {
    const { port, open, calls } = await gated();
    const { statuses } = sent(port, CALL.repeat(400));
    await expect.poll(() => calls.waiting).toBe(MAX_RUNNING);
    // Responses come in the order of the requests, so that none is seen before the first call ends.
    expect(statuses).toEqual([]);
    open();
    await expect.poll(() => statuses.length).toBe(400);
    expect(sum(statuses, 200) + sum(statuses, 503)).toBe(400);
    expect(sum(statuses, 200)).toBeGreaterThanOrEqual(MAX_RUNNING);
  });
});

describe('a session', () => {
  const headers = {
    authorization: `Bearer ${TOKEN}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const initialize = (): string => {
    const clientInfo = { name: 'tester', version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    return JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
  };
  const begin = async (url: string): Promise<Record<string, string>> => {
    const response = await fetch(url, { method: 'POST', headers, body: initialize() });
    await response.text();
    return { ...headers, 'mcp-session-id': String(response.headers.get('mcp-session-id')) };
  };

  it('has no more calls than may run, also if its client drops them', async () => {
    const { port, open, calls } = await gated();
    const url = `http://127.0.0.1:${port}/mcp`;
    const session = await begin(url);
    const call = (id: number, signal?: AbortSignal) =>
      fetch(url, {
        method: 'POST',
        headers: session,
        body: BODY.replace('"id":1', `"id":${id}`),
        signal: signal ?? null,
      });
    const dropped = new AbortController();
    // A head arrives with the first event, so that none is awaited.
    const sent = Array.from({ length: MAX_RUNNING }, (_, id) => call(id + 1, dropped.signal));
    await expect.poll(() => calls.waiting).toBe(MAX_RUNNING);
    dropped.abort();
    await Promise.allSettled(sent);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await call(999)).status).toBe(503);
    open();
    await expect.poll(async () => (await call(1000)).status).toBe(200);
  });

  it('with an open request stays, and a new one is refused if all have one', async () => {
    const { port, open, calls } = await gated();
    const url = `http://127.0.0.1:${port}/mcp`;
    const sessions = [];
    for (let i = 0; i < MAX_SESSIONS; i++) sessions.push(await begin(url));
    const [stream, ...calling] = sessions;
    const streaming = new AbortController();
    onTestFinished(() => streaming.abort());
    await fetch(url, { headers: stream as Record<string, string>, signal: streaming.signal });
    const called = calling.map((session) => fetch(url, { method: 'POST', headers: session, body: BODY }));
    await expect.poll(() => calls.waiting).toBe(MAX_SESSIONS - 1);
    const refused = await fetch(url, { method: 'POST', headers, body: initialize() });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    open();
    expect((await Promise.all(called)).map(({ status }) => status)).toEqual(calling.map(() => 200));
    await expect.poll(async () => (await begin(url))['mcp-session-id']).not.toBe('null');
  });

  it('whose client reads nothing is closed at a bounded backlog', async () => {
    const { port, servers } = await gated();
    const { 'mcp-session-id': id } = await begin(`http://127.0.0.1:${port}/mcp`);
    const line = (text: string): string => `${text}\r\n`;
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    let received = 0;
    socket.on('data', (chunk) => {
      received += chunk.length;
    });
    const get = ['GET /mcp HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${TOKEN}`, `mcp-session-id: ${id}`];
    socket.write([...get, 'Accept: text/event-stream', ''].map(line).join(''));
    await expect.poll(() => received).toBeGreaterThan(0);
    socket.pause();
    const data = 'x'.repeat(MAX_BACKLOG_BYTES / 8);
    // The system holds at most some 10 MiB for both ends.
    for (let i = 0; i < 30 * 8; i++) {
      await servers.at(-1)?.server.sendLoggingMessage({ level: 'info', data });
      if (i % 8 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const closed = new Promise((resolve) => socket.once('close', resolve).on('error', () => undefined));
    socket.resume();
    await closed;
    expect(received).toBeLessThan(20 * MAX_BACKLOG_BYTES);
  });

  it('has a stream whose head arrives before any event', async () => {
    const { port } = await gated();
    const url = `http://127.0.0.1:${port}/mcp`;
    const response = await fetch(url, { headers: await begin(url), signal: AbortSignal.timeout(20_000) });
    expect(response.status).toBe(200);
    await response.body?.cancel();
  });
});

describe('requests that never end', () => {
  it.each([
    ['that send nothing', ''],
    ['in their head', CALL.slice(0, 40)],
    ['in their body', CALL.slice(0, -10)],
    ['in their body, without the token', `${head('wrong', 50)}{`],
  ])('%s are closed, and keep no other waiting', async (_, bytes) => {
    const { port, open } = await gated(SLOW_MS);
    open();
    const slow = Array.from({ length: 200 }, () => sent(port, bytes));
    const other = sent(port, CALL);
    await expect.poll(() => other.statuses).toEqual([200]);
    await Promise.all(slow.map(({ closed }) => closed));
    for (const { statuses } of slow) expect([[], [408]]).toContainEqual(statuses);
  });

  it('of clients without the token take no place from those with it', async () => {
    const { port, open } = await gated();
    open();
    for (let i = 0; i < MAX_RUNNING + 50; i++) sent(port, `${head('wrong', 50)}{`);
    const other = sent(port, CALL);
    await expect.poll(() => other.statuses).toEqual([200]);
  });
});
