import { asyncStorage, openFileSystem } from '@scratchfs/core';
import { ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { MemoryObjectStore, Random, SlowStore } from '@scratchfs/testkit';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] }));
afterEach(() => void vi.useRealTimers());

interface Writers {
  /** Milliseconds that each client's requests take. */
  readonly clients: readonly number[];
  readonly writes: number;
  readonly isShared: boolean;
  /** Differs between races over the same store. */
  readonly seed?: number;
}

/** Runs work in fake time that passes as fast as possible. */
async function inOwnTime<T>(work: Promise<T>): Promise<T> {
  let isDone = false;
  const end = (): void => {
    isDone = true;
  };
  work.then(end, end);
  while (!isDone) await vi.advanceTimersByTimeAsync(100);
  return work;
}

/** Lets clients append concurrently, and returns the outcome of each. */
async function race(store: MemoryObjectStore, { clients, writes, isShared, seed = 7 }: Writers) {
  const random = new Random(seed);
  const below = (n: number): number => random.below(n);
  const nameOf = (client: number): string => (isShared ? '/log' : `/log-${seed}-${client}`);
  const open = (far: SlowStore | MemoryObjectStore) => {
    const backend = new ObjectTreeBackend(far, { random: below, timeoutMs: 60_000 });
    return openFileSystem(asyncStorage(backend, { random: below, timeoutMs: 3_600_000 }));
  };
  const first = await open(store);
  await first.writeFile('/log', '');
  const outcomes = await Promise.all(
    clients.map(async (ms, client) => {
      const far = new SlowStore(store, () => ms * (0.5 + random.below(1_000) / 1_000));
      const fs = await open(far);
      const begun = Date.now();
      for (let i = 0; i < writes; i++) await fs.appendFile(nameOf(client), `${client}.${i} `);
      return { mostLost: far.mostLost, ms: Date.now() - begun };
    }),
  );
  const texts = await Promise.all(clients.map((_, client) => first.readText(nameOf(client))));
  texts.forEach((text, client) => {
    const mine = text.split(' ').filter((word) => word.startsWith(`${client}.`));
    expect(mine).toEqual(Array.from({ length: writes }, (_, i) => `${client}.${i}`));
  });
  return outcomes;
}

describe('Clients that compete for the head', () => {
  it('do not starve one whose requests take five times as long', async () => {
    const clients = [100, ...Array.from({ length: 11 }, () => 20)];
    const [slow] = await inOwnTime(race(new MemoryObjectStore(), { clients, writes: 12, isShared: false }));
    // A client asks for priority after eight lost races; each of the others may have a commit in flight at that moment.
    expect(slow?.mostLost).toBeLessThanOrEqual(8 + 11);
  });

  it('that write one file take turns and finish at about the same time', async () => {
    const outcomes = await inOwnTime(
      race(new MemoryObjectStore(), { clients: Array.from({ length: 12 }, () => 20), writes: 8, isShared: true }),
    );
    const times = outcomes.map(({ ms }) => ms).sort((a, b) => a - b);
    expect(times.at(-1)).toBeLessThanOrEqual(2 * (times[6] as number));
    expect(Math.max(...outcomes.map(({ mostLost }) => mostLost))).toBeLessThanOrEqual(8 + 11);
  });

  it('wait for a client that requested priority and is gone, but only for a limited time and only once', async () => {
    const store = new MemoryObjectStore();
    await store.put('turn', new TextEncoder().encode('gone 1 1 4000'));
    const outcomes = await inOwnTime(race(store, { clients: [120, 120, 120], writes: 3, isShared: false }));
    const longest = Math.max(...outcomes.map(({ ms }) => ms));
    expect(longest).toBeGreaterThan(10_000);
    expect(longest).toBeLessThan(25_000);
  });

  it('wait only once for a client that requested priority, has committed before and never does again', async () => {
    const store = new MemoryObjectStore();
    await inOwnTime(race(store, { clients: [20], writes: 1, isShared: false, seed: 1 }));
    const { bytes } = (await store.readHead(undefined)) as { readonly bytes: Uint8Array };
    const [, json = ''] = new TextDecoder().decode(bytes).split('\n');
    const { clients, commit } = JSON.parse(json);
    const [{ client, flight }] = clients;
    await store.put('turn', new TextEncoder().encode(`${client} ${flight + 1} ${commit} 1000`));
    const longest = async (seed: number): Promise<number> => {
      const outcomes = await inOwnTime(race(store, { clients: [20, 20, 20], writes: 10, isShared: false, seed }));
      return Math.max(...outcomes.map(({ ms }) => ms));
    };
    const [first, second] = [await longest(2), await longest(3)];
    expect(first).toBeGreaterThan(3_000);
    expect(second).toBeLessThan(first - 2_000);
  });

  it('ignore a priority request that cannot be read', async () => {
    const store = new MemoryObjectStore();
    await store.put('turn', new Uint8Array([255, 0, 255]));
    const outcomes = await inOwnTime(race(store, { clients: [20, 20, 20], writes: 10, isShared: false }));
    expect(Math.max(...outcomes.map(({ ms }) => ms))).toBeLessThan(6_000);
  });
});
