import { McpServer, type McpServerFactory } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { MAX_SESSIONS, Sessions } from './sessions.js';

const clientInfo = { name: 'tester', version: '1' };
const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
const BODY = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
const NEVER = new Promise<void>(() => undefined);

function begin(sessions: Sessions): Promise<Response | undefined> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const request = new Request('http://127.0.0.1/mcp', { method: 'POST', headers, body: BODY });
  return sessions.serve(request, new TextEncoder().encode(BODY), NEVER);
}

const made = () => new McpServer({ name: 'tested', version: '1' });

describe('Sessions', () => {
  it('gives back the place of a session that could not begin', async () => {
    let hasFault = true;
    const factory: McpServerFactory = () => {
      if (hasFault) throw new Error('fault');
      return made();
    };
    const sessions = new Sessions(factory, 10_000);
    for (let i = 0; i < MAX_SESSIONS; i++) await expect(begin(sessions)).rejects.toThrow('fault');
    hasFault = false;
    expect((await begin(sessions))?.status).toBe(200);
    await sessions.close();
  });

  it('never has more of them, also if many begin at the same time', async () => {
    const sessions = new Sessions(made, 10_000);
    const all = await Promise.all(Array.from({ length: MAX_SESSIONS + 3 }, () => begin(sessions)));
    expect(all.filter((response) => response?.status === 503)).toHaveLength(3);
    await sessions.close();
  });

  it('begins none after it was closed, also if its server was being made', async () => {
    let make = (): void => undefined;
    const making = new Promise<void>((resolve) => {
      make = resolve;
    });
    const server = made();
    const sessions = new Sessions(() => making.then(() => server), 10_000);
    const first = begin(sessions);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await sessions.close();
    make();
    expect((await first)?.status).toBe(503);
    expect((await begin(sessions))?.status).toBe(503);
    expect(server.isConnected()).toBe(false);
  });
});
