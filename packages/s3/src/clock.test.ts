import { asyncStorage, type FileSystem, openFileSystem } from '@scratchfs/core';
import { type ObjectStore, ObjectTreeBackend, type ObjectTreeOptions } from '@scratchfs/core/object-tree';
import { MemoryObjectStore, Random, SlowStore } from '@scratchfs/testkit';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

const HOUR = 3_600_000;
const MAX_MS = 10_000;

/** Runs work in fake time that passes as fast as possible, at most MAX_MS. */
async function done<T>(work: Promise<T>): Promise<T> {
  let isDone = false;
  const end = (): void => {
    isDone = true;
  };
  work.then(end, end);
  for (let ms = 0; !isDone && ms < MAX_MS; ms += 2) await vi.advanceTimersByTimeAsync(2);
  expect(isDone, 'what is waited for ends').toBe(true);
  return work;
}

const open = (store: ObjectStore, options: ObjectTreeOptions = {}): Promise<FileSystem> =>
  done(openFileSystem(asyncStorage(new ObjectTreeBackend(store, options))));

describe('The clock of the machine', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] }));
  afterEach(() => void vi.useRealTimers());

  /** Opens a reader with `maxStalenessMs` of 200 whose cached content another client has just overwritten. */
  async function behind(): Promise<FileSystem> {
    const store = new MemoryObjectStore();
    const writer = await open(store);
    await done(writer.writeFile('/f', 'old'));
    const reader = await open(store, { maxStalenessMs: 200 });
    expect(await done(reader.readText('/f'))).toBe('old');
    await done(writer.writeFile('/f', 'new'));
    expect(await done(reader.readText('/f'))).toBe('old');
    return reader;
  }

  it('set back lets nothing be read that is older than allowed', async () => {
    const reader = await behind();
    vi.setSystemTime(Date.now() - HOUR);
    await vi.advanceTimersByTimeAsync(200);
    expect(await done(reader.readText('/f'))).toBe('new');
  });

  it('set forward, as after a sleep, lets nothing old be read either', async () => {
    const reader = await behind();
    vi.setSystemTime(Date.now() + HOUR);
    expect(await done(reader.readText('/f'))).toBe('new');
  });

  it('set back while a client waits for its turn does not prolong the wait', async () => {
    const store = new MemoryObjectStore();
    const random = new Random(7);
    const far = (): Promise<FileSystem> =>
      open(new SlowStore(store, () => 20), { random: (below) => random.below(below) });
    const [a, b] = [await far(), await far()];
    await done(a.writeFile('/log', ''));
    for (let i = 0; i < 4; i++) await done(Promise.all([a.appendFile('/log', 'a'), b.appendFile('/log', 'b')]));
    await done(b.appendFile('/log', 'b'));
    await done(a.appendFile('/log', 'a'));
    // The other client committed before it and goes first.
    const waiting = a.appendFile('/log', ' late');
    await vi.advanceTimersByTimeAsync(30);
    vi.setSystemTime(Date.now() - HOUR);
    await done(waiting);
    expect(await done(b.readText('/log'))).toMatch(/ late$/);
  });
});
