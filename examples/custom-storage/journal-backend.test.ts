import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asyncStorage, isStorageError } from '@scratchfs/core';
import { backendSuite, fileSystemSuite, storageSuite } from '@scratchfs/testkit';
import { createFileSystem } from 'scratchfs';
import { afterAll, describe, expect, it } from 'vitest';
import { JournalBackend } from './journal-backend.js';

const folder = mkdtempSync(join(tmpdir(), 'scratchfs-custom-storage-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
const newFile = () => join(folder, `${files++}.journal`);
const test = { describe, it };

backendSuite({ test, name: 'The seam of a journal', create: () => new JournalBackend(newFile()) });

storageSuite({
  test,
  name: 'A storage in a journal',
  create: ({ clock }) => asyncStorage(new JournalBackend(newFile(), clock), { clock }),
});

fileSystemSuite({
  test,
  name: 'A filesystem in a journal',
  create: ({ clock, limits }) =>
    createFileSystem({ storage: asyncStorage(new JournalBackend(newFile(), clock), { clock }), clock, limits }),
});

describe('The journal', () => {
  const open = (file: string) => createFileSystem({ storage: asyncStorage(new JournalBackend(file)) });

  /** A journal with two commits; answers where the second begins. */
  async function twoCommits(): Promise<{ file: string; second: number }> {
    const file = newFile();
    const fs = await open(file);
    await fs.writeFile('/first', 'one');
    const second = statSync(file).size;
    await fs.writeFile('/second', 'two');
    return { file, second };
  }

  it('has everything when it is opened again', async () => {
    const file = newFile();
    const first = await open(file);
    await first.mkdir('/a/b', { recursive: true });
    await first.writeFile('/a/b/c.txt', 'hello');
    await first.link('/a/b/c.txt', '/d');
    await first.cp('/a', '/copy', { recursive: true });
    await first.rm('/copy/b/c.txt');
    const [stats, root] = [await first.stats(), await first.stat('/')];
    const second = await open(file);
    expect(await second.stats()).toEqual(stats);
    expect(await second.stat('/')).toEqual(root);
    await second.appendFile('/d', ' again');
    expect(await second.readText('/a/b/c.txt')).toBe('hello again');
  });

  it('loses only the commit that was not written to its end, wherever it was cut', async () => {
    const { file, second } = await twoCommits();
    const whole = readFileSync(file);
    for (let end = second; end < whole.length; end += 7) {
      writeFileSync(file, whole.subarray(0, end));
      expect(await (await open(file)).readdir('/')).toEqual(['first']);
    }
    writeFileSync(file, whole);
    appendFileSync(file, new Uint8Array(100));
    const again = await open(file);
    expect(await again.readdir('/')).toEqual(['first', 'second']);
    await again.writeFile('/third', 'three');
    expect(await (await open(file)).readdir('/')).toEqual(['first', 'second', 'third']);
  });

  it('is refused where it is damaged before its end', async () => {
    const { file, second } = await twoCommits();
    const whole = readFileSync(file);
    for (let at = 0; at < second; at += 5) {
      const damaged = Uint8Array.from(whole);
      damaged[at] = (damaged[at] as number) ^ 0x10;
      writeFileSync(file, damaged);
      const error = await Promise.resolve()
        .then(() => new JournalBackend(file))
        .catch((caught: unknown) => caught);
      expect([at, isStorageError(error, 'corrupt')]).toEqual([at, true]);
    }
  });

  it('settles an operation whose answer was lost, also in the next process', async () => {
    const file = newFile();
    const meta = { mode: 0o644, uid: 0, gid: 0, atime: 1, mtime: 1, ctime: 1, birthtime: 1 };
    const write = { kind: 'create', path: '/f', id: 'f', type: 'file', meta } as const;
    const checks = [{ kind: 'entry', path: '/f', id: null }] as const;
    const batch = { operationId: 'one', checks, writes: [write], limits: {} };
    const result = await new JournalBackend(file).commit(batch);
    const size = statSync(file).size;
    const again = new JournalBackend(file);
    expect(await again.outcome('one')).toEqual(result);
    expect(await again.commit(batch)).toEqual(result);
    expect(statSync(file).size).toBe(size);
    expect(await again.outcome('two')).toBe('absent');
  });
});
