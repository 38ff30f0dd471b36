import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { grounds } from './program.js';

/** `npm run campaign -- mcp/requests` sends 10,000. */
const REQUESTS = Number(process.env['MCP_REQUESTS'] ?? 400);
/** Greatest memory in MB that the program may take. Run from its sources it takes 100 MB more than built. */
const MAX_MB = 600;
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

it.skipIf(!existsSync('/proc/self/status'))(
  `the program responds to ${REQUESTS} calls at the same time in bounded memory, and goes on (reads /proc)`,
  async () => {
    const { args, env } = grounds({ a: 'a' });
    const child = spawn(process.execPath, args('--http', '0'), { env, stdio: ['ignore', 'ignore', 'pipe'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    let told = '';
    child.stderr.on('data', (chunk) => {
      told += chunk;
    });
    await expect.poll(() => told).toMatch(/Bearer \S+\n/);
    const [, port] = /127\.0\.0\.1:(\d+)/.exec(told) as RegExpExecArray;
    const [, token] = /Bearer (\S+)/.exec(told) as RegExpExecArray;
    const params = { name: 'read_file', arguments: { path: '/a' }, _meta: META };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const headers = [
      'POST /mcp HTTP/1.1',
      `Host: 127.0.0.1:${port}`,
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      'Accept: application/json, text/event-stream',
      'MCP-Protocol-Version: 2026-07-28',
      'Mcp-Method: tools/call',
      'Mcp-Name: read_file',
      `Content-Length: ${body.length}`,
    ];
    const bytes = `${headers.join('\r\n')}\r\n\r\n${body}`;
    const call = () =>
      new Promise<string>((resolve) => {
        const socket = connect(Number(port), '127.0.0.1', () => socket.write(bytes));
        socket.once('data', (chunk) => {
          resolve(chunk.toString('latin1').slice(9, 12));
          socket.destroy();
        });
        // The system refuses connections beyond those that wait to be accepted (4,096).
        socket.once('error', () => resolve('reset')).once('close', () => resolve('closed'));
      });
    expect(await call()).toBe('200');
    const results = await Promise.all(Array.from({ length: REQUESTS }, call));
    const counts: Record<string, number> = {};
    for (const result of results) counts[result] = (counts[result] ?? 0) + 1;
    const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024;
    if (REQUESTS > 2000) console.log(`${JSON.stringify(counts)}, at most ${Math.round(peak)} MB`);
    expect(Object.keys(counts).filter((each) => !['200', '503', 'reset'].includes(each))).toEqual([]);
    if (REQUESTS < 4000) expect(counts['reset']).toBeUndefined();
    expect(counts['200']).toBeGreaterThan(200);
    expect(peak).toBeLessThan(MAX_MB);
    expect(await call()).toBe('200');
  },
  600_000,
);
