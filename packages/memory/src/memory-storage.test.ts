import { asyncStorage, openFileSystem } from '@scratchfs/core';
import { describe, expect, it } from 'vitest';
import { asyncMemoryStorage, MemoryStorage, memoryBackend } from './index.js';

describe('a storage in memory', () => {
  it('takes the time from the given clock, and from the system without one', async () => {
    const given = openFileSystem(new MemoryStorage({ clock: () => 7 }));
    expect(given.statSync('/').birthtimeMs).toBe(7);
    const before = Date.now();
    const { birthtimeMs } = openFileSystem(new MemoryStorage()).statSync('/');
    expect(birthtimeMs).toBeGreaterThanOrEqual(before);
    expect(birthtimeMs).toBeLessThanOrEqual(Date.now());
  });

  it('is shared by all filesystems on it, and by no others', () => {
    const storage = new MemoryStorage();
    openFileSystem(storage).writeFileSync('/a', 'text');
    expect(openFileSystem(storage).readTextSync('/a')).toBe('text');
    expect(openFileSystem(new MemoryStorage()).existsSync('/a')).toBe(false);
  });
});

describe('its async form', () => {
  it('has promises only, and the given clock', async () => {
    const fs = await openFileSystem(asyncMemoryStorage({ clock: () => 7 }));
    await fs.writeFile('/a', 'text');
    expect([fs.kind, await fs.readText('/a'), 'readTextSync' in fs]).toEqual(['async', 'text', false]);
    expect((await fs.stat('/')).birthtimeMs).toBe(7);
    expect((await (await openFileSystem(asyncMemoryStorage())).stat('/')).birthtimeMs).toBeGreaterThan(7);
  });

  it('exposes its backend, which can be wrapped', async () => {
    const backend = memoryBackend({ clock: () => 7 });
    const [one, other] = await Promise.all([1, 2].map(() => openFileSystem(asyncStorage(backend))));
    await one?.writeFile('/a', 'text');
    expect(await other?.readText('/a')).toBe('text');
    expect((await other?.stat('/'))?.birthtimeMs).toBe(7);
  });
});
