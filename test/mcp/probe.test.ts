import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Grounds, grounds } from './program.js';

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'probe', version: '1' },
};
const info = { name: 'probe', version: '1' };
const INITIALIZE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: info };

/** Requests of clients that start a server only to look at it. */
const PROBES: Readonly<Record<string, { readonly method: string; readonly params: object }>> = {
  initialize: { method: 'initialize', params: INITIALIZE },
  'server/discover': { method: 'server/discover', params: { _meta: META } },
};

/** Returns the state of every entry in the directory and beside it: stats without access times, and bytes. */
function stateOf({ directory }: Grounds): Record<string, unknown> {
  const top = dirname(directory);
  const names = ['', ...readdirSync(top, { recursive: true, encoding: 'utf8' })];
  return Object.fromEntries(
    names.map((name) => {
      const { mode, mtimeMs, ctimeMs, size, ino, nlink } = lstatSync(join(top, name));
      const isFile = lstatSync(join(top, name)).isFile();
      return [
        name,
        { mode, mtimeMs, ctimeMs, size, ino, nlink, bytes: isFile && readFileSync(join(top, name), 'base64') },
      ];
    }),
  );
}

/** Starts the program without Node's cache of compiled code. */
const start = ({ args, env }: Grounds, ...more: readonly string[]) => {
  const child = spawn(process.execPath, args(...more), { env: { ...env, NODE_DISABLE_COMPILE_CACHE: '1' } });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
};

const files = { 'src/a.ts': 'a\n', '.env': 'A=1\n', '.git/HEAD': 'ref: refs/heads/main\n', '.gitignore': 'dist\n' };

describe.each(Object.entries(PROBES))('a server that is asked %s and ended', (_, message) => {
  const request = JSON.stringify({ jsonrpc: '2.0', id: 1, ...message });

  it('leaves directory and stores as they are, byte for byte, over stdio', async () => {
    const project = grounds(files);
    const before = stateOf(project);
    const child = start(project);
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    child.stdin.end(`${request}\n`);
    await once(child, 'close');
    expect(output).toContain('erverInfo"');
    expect(stateOf(project)).toEqual(before);
  });

  it('leaves directory and stores as they are, byte for byte, over HTTP', async () => {
    const project = grounds(files);
    const before = stateOf(project);
    const child = start(project, '--http', '0');
    let told = '';
    child.stderr.on('data', (chunk) => {
      told += chunk;
    });
    await expect.poll(() => told).toMatch(/Bearer \S+\n/);
    const [url = ''] = /http:\S+/.exec(told) as RegExpExecArray;
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        Authorization: /Bearer \S+/.exec(told)?.[0] ?? '',
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        ...(message.method === 'initialize'
          ? {}
          : { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': message.method }),
      },
      body: request,
    });
    expect(await response.text()).toContain('erverInfo"');
    child.kill('SIGTERM');
    await once(child, 'close');
    expect(stateOf(project)).toEqual(before);
  });
});
