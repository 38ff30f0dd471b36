import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { median } from './median.js';

// The built MCP server on a directory of 50,000 files, over stdio: its first result, tool calls, and its memory. Processor
// time is that of the server alone.
// Usage: npm run bench -- mcp [directory, default that of the benchmark workspace] [starts, default 5]

const directory = process.argv[2] ?? join(tmpdir(), 'scratchfs-bench-workspace');
const starts = Number(process.argv[3] ?? 5);
if (!existsSync(directory)) throw new Error(`There is no directory ${directory}: npm run bench -- workspace makes one`);

const state = mkdtempSync(join(tmpdir(), 'scratchfs-bench-mcp-'));
process.env['XDG_STATE_HOME'] = state;
const bin = fileURLToPath(new URL('../../packages/mcp/dist/bin.js', import.meta.url));

interface Usage {
  /** Milliseconds of processor time since the start of the process. */
  readonly cpuMs: number;
  readonly residentMb: number;
}

/** Lets the server report its usage when it is asked over the channel of `spawn`, which does not keep it running. */
const REPORT = `data:text/javascript,${encodeURIComponent(
  "process.on('message', () => { const { user, system } = process.cpuUsage(); process.send({ cpuMs: (user + system) / 1000, residentMb: process.memoryUsage.rss() / 2 ** 20 }); }); process.channel.unref();",
)}`;

class Client {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (message: { readonly error?: unknown; readonly result?: unknown }) => void>();
  #id = 0;

  constructor() {
    const args = ['--import', REPORT, bin, directory];
    this.#child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit', 'ipc'] });
    createInterface({ input: this.#child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const message = JSON.parse(line) as { readonly id?: number; readonly error?: unknown; readonly result?: unknown };
      if (message.id !== undefined) this.#waiting.get(message.id)?.(message);
    });
  }

  async request(method: string, params: unknown): Promise<unknown> {
    const id = ++this.#id;
    this.#send({ id, method, params });
    const { error, result } = await new Promise<{ readonly error?: unknown; readonly result?: unknown }>((resolve) =>
      this.#waiting.set(id, resolve),
    );
    this.#waiting.delete(id);
    const isFailed = (result as { readonly isError?: boolean } | undefined)?.isError === true;
    if (error !== undefined || isFailed) throw new Error(`${method} failed: ${JSON.stringify(error ?? result)}`);
    return result;
  }

  async initialize(): Promise<void> {
    const clientInfo = { name: 'bench', version: '1' };
    await this.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    this.#send({ method: 'notifications/initialized' });
  }

  call(name: string, args: Record<string, unknown>): Promise<unknown> {
    return this.request('tools/call', { name, arguments: args });
  }

  usage(): Promise<Usage> {
    return new Promise((resolve) => {
      this.#child.once('message', resolve as (message: unknown) => void);
      this.#child.send('usage');
    });
  }

  async end(): Promise<void> {
    const closed = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.stdin?.end();
    await closed;
  }

  #send(message: object): void {
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
}

function report(what: string, ms: number, cpuMs: number, allowed: string): void {
  const [wall, cpu] = [ms, cpuMs].map((figure) => figure.toFixed(figure < 10 ? 2 : 0).padStart(7));
  console.log(`${what.padEnd(44)} ${wall} ms, processor ${cpu} ms, ${allowed}`);
}

async function timed(client: Client, work: () => Promise<unknown>): Promise<readonly [ms: number, cpuMs: number]> {
  const before = await client.usage();
  const start = performance.now();
  await work();
  const ms = performance.now() - start;
  return [ms, (await client.usage()).cpuMs - before.cpuMs];
}

async function medianOf(
  client: Client,
  times: number,
  work: (i: number) => Promise<unknown>,
): Promise<[number, number]> {
  const spans: (readonly [number, number])[] = [];
  for (let i = 0; i < times; i++) spans.push(await timed(client, () => work(i)));
  return [median(spans.map(([ms]) => ms)), median(spans.map(([, cpuMs]) => cpuMs))];
}

async function measure(): Promise<void> {
  const path = (i: number): string => `d${i % 50}/e${i % 2_500}/f${i % 20}.ts`;
  const begun: (readonly [number, number])[] = [];
  for (let i = 0; i < starts; i++) {
    const start = performance.now();
    const client = new Client();
    await client.initialize();
    begun.push([performance.now() - start, (await client.usage()).cpuMs]);
    await client.end();
  }
  const [wall, cpu] = [0, 1].map((i) => median(begun.map((span) => span[i] as number))) as [number, number];
  report(`first result (median of ${starts})`, wall, cpu, 'at most 1200, processor 480');
  const client = new Client();
  await client.initialize();
  report(
    'first read of a file',
    ...(await timed(client, () => client.call('read_file', { path: path(1) }))),
    'no limit',
  );
  await client.call('write_file', { path: 'bench-new', content: 'x' });
  const read = (i: number): Promise<unknown> => client.call('read_file', { path: path(i) });
  for (let i = 0; i < 100; i++) await read(i);
  report('a read (median of 300)', ...(await medianOf(client, 300, (i) => read(i + 100))), 'at most 5');
  const write = (i: number): Promise<unknown> => client.call('write_file', { path: `bench-${i}`, content: 'x' });
  report('a write (median of 100)', ...(await medianOf(client, 100, write)), 'at most 5');
  report(
    'grep through all',
    ...(await timed(client, () => client.call('grep', { pattern: 'compute(2499, 19)', literal: true }))),
    'at most 4000',
  );
  console.log(`resident memory after it: ${(await client.usage()).residentMb.toFixed(0)} MB, at most 300`);
  let changed = 0;
  for (const files of [50, 800]) {
    for (; changed < files; changed++) await client.call('write_file', { path: path(changed), content: `x${changed}` });
    const again = (i: number): Promise<unknown> =>
      client.call('write_file', { path: path(i), content: `y${files} ${i}` });
    report(`a write with ${files} changed files (median of 50)`, ...(await medianOf(client, 50, again)), 'at most 5');
  }
  await client.end();
}

try {
  await measure();
} finally {
  rmSync(state, { recursive: true, force: true });
}
