import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type FileSystem, openFileSystem } from '@scratchfs/core';
import { dump, recount } from '@scratchfs/testkit';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DiskStorage } from './disk-storage.js';

const WRITERS = Number(process.env['DISK_WRITERS'] ?? 4);
const INCREMENTS = WRITERS === 4 ? 25 : 100;
const KILLS = Number(process.env['DISK_KILLS'] ?? 6);
const LONG = { timeout: 60_000 + WRITERS * 30_000 + KILLS * 5_000 };

const root = await mkdtemp(join(tmpdir(), 'scratchfs-disk-'));
afterAll(() => rm(root, { recursive: true, force: true }));

const program = join(root, 'increment.mjs');
beforeAll(() =>
  build({
    entryPoints: [fileURLToPath(new URL('./testing/increment.ts', import.meta.url))],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@scratchfs/source'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  }),
);

/** Command that runs another one under a host name of its own, in the same process. */
const onHost = (name: string): string[] => ['unshare', '--uts', 'sh', '-c', 'hostname "$0" && exec "$@"', name];

/** Returns the reason why a process cannot have a host name of its own here; undefined if it can. */
function whyOneHost(): string | undefined {
  const [file = '', ...args] = onHost('scratchfs-a');
  try {
    return `${execFileSync(file, [...args, 'hostname'], { stdio: 'pipe' })}`.trim() === 'scratchfs-a'
      ? undefined
      : 'unshare has no effect';
  } catch {
    return 'unshare is missing or not allowed';
  }
}

const oneHost = whyOneHost();

class Client {
  readonly process: ChildProcess;
  readonly ended: Promise<unknown>;
  readonly ready: Promise<unknown>;
  #said = '';

  constructor(directory: string, times: number, own: string, host?: string) {
    const command = [process.execPath, program, directory, String(times), own];
    const [file = '', ...args] = host === undefined ? command : [...onHost(host), ...command];
    this.process = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.ended = once(this.process, 'close');
    this.ready = once(this.process.stdout as NodeJS.ReadableStream, 'data');
    this.process.stdout?.on('data', (bytes: Buffer) => {
      this.#said += bytes.toString();
    });
  }

  get host(): string | undefined {
    return /^ready on (.*)\n/.exec(this.#said)?.[1];
  }

  /** The values that the client has acknowledged by complete lines. */
  get values(): number[] {
    return this.#said.split('\n').slice(1, -1).map(Number);
  }
}

async function newCounter(name: string): Promise<{ readonly directory: string; readonly fs: FileSystem }> {
  const directory = join(root, name);
  const fs = await openFileSystem(new DiskStorage(directory, { durability: 'process' }));
  await fs.writeFile('/counter', '0');
  return { directory, fs };
}

const value = async (fs: FileSystem): Promise<number> => Number(await fs.readText('/counter'));

describe('Several processes on one directory', () => {
  it(`increment one counter ${WRITERS} × ${INCREMENTS} times and lose none`, LONG, async () => {
    const { directory, fs } = await newCounter('racing');
    const clients = Array.from({ length: WRITERS }, (_, i) => new Client(directory, INCREMENTS, `own-${i}`));
    await Promise.all(clients.map(({ ended }) => ended));
    const all = clients.flatMap(({ values }) => values).sort((a, b) => a - b);
    expect(all).toEqual(Array.from({ length: WRITERS * INCREMENTS }, (_, i) => i + 1));
    expect(await value(fs)).toBe(WRITERS * INCREMENTS);
    await fs.close();
  });

  const title = `of two hosts go on beside one that is stopped and one that is killed${oneHost ? ` (${oneHost})` : ''}`;
  it.skipIf(oneHost !== undefined)(title, LONG, async () => {
    const { directory, fs } = await newCounter('hosts');
    const [stopped, killed] = ['scratchfs-a', 'scratchfs-b'].map(
      (host) => new Client(directory, 1_000_000, host, host),
    ) as [Client, Client];
    await expect.poll(() => Math.min(stopped.values.length, killed.values.length)).toBeGreaterThan(2);
    // Both are in the middle of a commit nearly always.
    stopped.process.kill('SIGSTOP');
    killed.process.kill('SIGKILL');
    await killed.ended;
    const clients = [0, 1, 2, 3].map((i) => new Client(directory, 25, `own-${i}`, `scratchfs-${'ab'[i % 2]}`));
    await Promise.all(clients.map(({ ended }) => ended));
    const before = Math.max(...clients.flatMap(({ values }) => values));
    stopped.process.kill('SIGCONT');
    await expect.poll(() => stopped.values.at(-1)).toBeGreaterThan(before + 2);
    stopped.process.kill('SIGKILL');
    await stopped.ended;
    const all = [stopped, killed, ...clients];
    expect(all.map(({ host }) => host)).toEqual(['a', 'b', 'a', 'b', 'a', 'b'].map((letter) => `scratchfs-${letter}`));
    const seen = all.flatMap(({ values }) => values);
    expect(clients.map(({ values }) => values.length)).toEqual([25, 25, 25, 25]);
    expect(new Set(seen).size).toBe(seen.length);
    expect(await value(fs)).toBeGreaterThanOrEqual(seen.length);
    // Each of the killed ones may have made one increment that it could not report.
    expect(await value(fs)).toBeLessThanOrEqual(seen.length + 2);
    await fs.close();
  });

  it(`keep every acknowledged increment through ${KILLS} kills at random moments`, LONG, async () => {
    const { directory, fs } = await newCounter('killed');
    let acknowledged = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const clients = [0, 1].map((i) => new Client(directory, 1_000_000, `own-${i}`));
      await Promise.all(clients.map(({ ready }) => ready));
      await wait(Math.random() * 150);
      for (const client of clients) client.process.kill('SIGKILL');
      await Promise.all(clients.map(({ ended }) => ended));
      const seen = clients.flatMap(({ values }) => values);
      expect(new Set(seen).size).toBe(seen.length);
      acknowledged += seen.length;
      const now = await value(fs);
      expect(now).toBeGreaterThanOrEqual(acknowledged);
      // Each killed process may have made one increment that it could not report.
      expect(now).toBeLessThanOrEqual(acknowledged + clients.length * (kill + 1));
      const fresh = await openFileSystem(new DiskStorage(directory, { durability: 'process' }));
      expect(await value(fresh)).toBe(now);
      const state = await dump(fresh);
      expect(recount(state)).toEqual(state.stats);
      await fresh.close();
    }
    expect(acknowledged).toBeGreaterThan(0);
    const storage = new DiskStorage(directory, { durability: 'process' });
    const other = await openFileSystem(storage);
    const before = await value(other);
    await storage.collectGarbage();
    expect(await value(other)).toBe(before);
    await Promise.all([fs.close(), other.close()]);
  });
});
