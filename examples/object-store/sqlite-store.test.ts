import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileSystem } from '@scratchfs/core';
import { objectTreeStorage } from '@scratchfs/core/object-tree';
import { objectStoreSuite } from '@scratchfs/testkit';
import { afterAll, describe, expect, it } from 'vitest';
import { SqliteStore } from './sqlite-store.js';

// Memory is enough here: the tests do not stop the machine.
const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'scratchfs-object-store-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fileOf = (place: string): string => join(folder, `${place}.db`);
const test = { describe, it: (name: string, body: () => Promise<void>) => it(name, body) };

objectStoreSuite({
  test,
  methods: ['commit', 'deleteHead'],
  name: 'A SQLite file',
  open: (place) => new SqliteStore(fileOf(place)),
  listedObjects: 600,
});

describe('A SQLite file', () => {
  it('keeps a filesystem after it was closed', async () => {
    for (const text of ['', 'again ']) {
      const storage = objectTreeStorage(new SqliteStore(fileOf('kept')));
      const fs = await openFileSystem(storage);
      await fs.appendFile('/log', `${text}here`);
      await storage.close();
    }
    const fs = await openFileSystem(objectTreeStorage(new SqliteStore(fileOf('kept'))));
    expect(await fs.readText('/log')).toBe('hereagain here');
  });

  it('that is none, or cannot be opened, is a clear error', () => {
    writeFileSync(
      fileOf('text'),
      'no database, but a text that is long enough to have a header of a hundred bytes'.repeat(9),
    );
    expect(() => new SqliteStore(fileOf('text'))).toThrow(expect.objectContaining({ kind: 'corrupt' }));
    expect(() => new SqliteStore(join(folder, 'absent', 'x.db'))).toThrow(expect.objectContaining({ kind: 'denied' }));
  });
});
