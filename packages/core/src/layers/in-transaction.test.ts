import { describe, expect, it } from 'vitest';
import { asyncStorage } from '../async-storage.js';
import { openFileSystem } from '../create-file-system.js';
import type { FileSystem } from '../file-system.js';
import { sampleBackend } from '../testing/sample-backend.js';
import { codeOf, sample } from '../testing/sample-file-system.js';
import { SampleGuard } from '../testing/sample-guard.js';
import { mount } from './mount.js';
import { observe } from './observe.js';
import { overlay } from './overlay.js';
import { readonly } from './readonly.js';
import { restrict } from './restrict.js';

const FILES = { '/work/a': 'text', '/private/key': 'secret' };

const open = (): Promise<FileSystem> => openFileSystem(asyncStorage(sampleBackend()), { files: FILES });

const BASES: Readonly<Record<string, () => FileSystem | Promise<FileSystem>>> = {
  memory: () => sample(FILES),
  'an asynchronous storage': open,
  'observe over an asynchronous storage': async () => observe(await open(), () => {}),
  'an overlay over an asynchronous storage': async () => overlay(await open()),
  'a mount over an asynchronous storage': async () => mount(await open(), {}),
};

describe.each(Object.entries(BASES))('a layer over the filesystem of a transaction, over %s', (_name, create) => {
  it('readonly refuses writes, and the transaction itself can write', async () => {
    const fs = await create();
    await fs.transaction(async (inner) => {
      const fixed = readonly(inner);
      await inner.writeFile('/work/a', 'first');
      expect(await codeOf(() => fixed.writeFile('/work/a', 'refused'))).toBe('EROFS');
      await inner.appendFile('/work/a', ', second');
      expect(await fixed.readText('/work/a')).toBe('first, second');
    });
    expect(await fs.readText('/work/a')).toBe('first, second');
  });

  it('restrict hides and refuses, also in walks', async () => {
    const fs = await create();
    await fs.transaction(async (inner) => {
      const narrow = restrict(inner, new SampleGuard([{ root: '/work', read: true, write: false }]));
      expect(await codeOf(() => narrow.readFile('/private/key'))).toBe('EACCES');
      expect(await codeOf(() => narrow.writeFile('/work/a', 'x'))).toBe('EACCES');
      expect(await narrow.readdir('/')).toEqual(['work']);
      const found: string[] = [];
      for await (const { path } of narrow.walk('/')) found.push(path);
      expect(found).toEqual(['/work', '/work/a']);
      expect(await inner.readText('/private/key')).toBe('secret');
    });
  });
});
