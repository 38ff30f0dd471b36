import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createFileSystem } from 'scratchfs';
import { expect } from 'vitest';

const program = fileURLToPath(new URL('./increment.ts', import.meta.url));

class Client {
  readonly process: ChildProcess;
  readonly ended: Promise<unknown>;
  readonly ready: Promise<unknown>;
  #said = '';

  constructor(url: string, times: number) {
    const args = ['--conditions=@scratchfs/source', '--import', 'tsx', program, url, String(times)];
    this.process = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.ended = once(this.process, 'close');
    this.ready = once(this.process.stdout as NodeJS.ReadableStream, 'data');
    this.process.stdout?.on('data', (bytes: Buffer) => {
      this.#said += bytes.toString();
    });
  }

  /** The values that the client has acknowledged by complete lines. */
  get values(): number[] {
    const lines = this.#said.split('\n').slice(0, -1);
    return lines.filter((line) => line !== 'ready').map(Number);
  }
}

/** Lets clients in processes of their own increment one counter at the same time. No increment may be lost. */
export async function raceOnCounter(url: string, writers: number, increments: number): Promise<void> {
  const fs = await createFileSystem({ storage: url });
  await fs.writeFile('/counter', '0');
  const clients = Array.from({ length: writers }, () => new Client(url, increments));
  await Promise.all(clients.map(({ ended }) => ended));
  const all = clients.flatMap(({ values }) => values).sort((a, b) => a - b);
  expect(all).toEqual(Array.from({ length: writers * increments }, (_, i) => i + 1));
  expect(await fs.readText('/counter')).toBe(String(writers * increments));
  await fs.close();
}

/** Kills clients at random moments. Acknowledged ≤ value ≤ acknowledged + one unknown for each killed client. */
export async function killOnCounter(url: string, kills: number): Promise<void> {
  const fs = await createFileSystem({ storage: url });
  await fs.writeFile('/counter', '0');
  let acknowledged = 0;
  for (let kill = 1; kill <= kills; kill++) {
    const clients = [new Client(url, 1_000_000), new Client(url, 1_000_000)];
    await Promise.all(clients.map(({ ready }) => ready));
    await wait(Math.random() * 150);
    for (const client of clients) client.process.kill('SIGKILL');
    await Promise.all(clients.map(({ ended }) => ended));
    acknowledged += clients.flatMap(({ values }) => values).length;
    const value = Number(await fs.readText('/counter'));
    expect(value).toBeGreaterThanOrEqual(acknowledged);
    expect(value).toBeLessThanOrEqual(acknowledged + clients.length * kill);
  }
  await fs.close();
}
