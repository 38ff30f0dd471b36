import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileSystem } from '@scratchfs/core';
import { FsError, fileSystemOn } from '@scratchfs/core';
import { DiskStorage } from '@scratchfs/disk';
import { createFileSystem } from 'scratchfs';
import { afterEach, describe, expect, it } from 'vitest';
import { AttemptIndex } from './attempt-index.js';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** Several clients of one store on the disk, as several processes have them. */
function diskClients(count: number): FileSystem[] {
  const directory = mkdtempSync(join(tmpdir(), 'attempts-'));
  cleanUps.push(() => rmSync(directory, { recursive: true, force: true }));
  return Array.from({ length: count }, () => {
    const storage = new DiskStorage(join(directory, 'store'), { durability: 'process' });
    cleanUps.push(() => storage.close());
    return fileSystemOn(storage);
  });
}

const indexOn = (store: FileSystem = createFileSystem(), newName?: () => string): AttemptIndex =>
  new AttemptIndex(store, () => 1_000, newName);
const failure = (code: string, text = /(?:)/): unknown =>
  expect.objectContaining({ code, message: expect.stringMatching(text) });

describe('AttemptIndex', () => {
  it('keeps what an attempt began with', async () => {
    const index = indexOn();
    const head = { kind: 'branch', name: 'main' } as const;
    const created = await index.create('fix-login', { head });
    expect(created).toEqual({ name: 'fix-login', createdAt: 1_000, head, parent: undefined, state: 'open' });
    expect(await index.get('fix-login')).toEqual(created);
    await index.create('second', { parent: { attempt: 'fix-login', operation: 3 } });
    expect((await index.list()).map(({ name, parent }) => [name, parent])).toEqual([
      ['fix-login', undefined],
      ['second', { attempt: 'fix-login', operation: 3 }],
    ]);
    await index.update('fix-login', { head: { kind: 'branch', name: 'other' } });
    expect((await index.get('fix-login')).head).toEqual({ kind: 'branch', name: 'other' });
  });

  it('reads an empty store without writing to it', async () => {
    const store = createFileSystem();
    const index = indexOn(store);
    expect(await index.list()).toEqual([]);
    expect(await index.current()).toBeUndefined();
    expect(await index.find('calm-otter')).toBeUndefined();
    await expect(index.get('calm-otter')).rejects.toEqual(failure('not-found', /calm-otter.*none yet/));
    expect(store.readdirSync('/')).toEqual([]);
  });

  it('takes a name once, also one that was discarded', async () => {
    const index = indexOn();
    await index.create('one');
    await expect(index.create('one')).rejects.toEqual(failure('exists', /"?one/));
    expect(await index.discard('one')).toBe(true);
    expect(await index.discard('one')).toBe(false);
    await expect(index.create('one')).rejects.toEqual(failure('exists', /discarded/));
    await expect(index.get('one')).rejects.toEqual(failure('closed'));
    await expect(index.discard('two')).rejects.toEqual(failure('not-found'));
    expect(await index.list()).toMatchObject([{ name: 'one', state: 'discarded' }]);
  });

  it.each(['../x', '__proto__', 'a/b', '', 'x'.repeat(300), '\ud800'])('finds nothing of the name %j', async (name) => {
    const index = indexOn();
    expect(await index.find(name)).toBeUndefined();
    await expect(index.get(name)).rejects.toEqual(failure('not-found'));
    await expect(index.create(name)).rejects.toThrow(RangeError);
    await expect(index.switchTo(name)).rejects.toEqual(failure('not-found'));
  });

  it('skips a directory whose attempt was not created completely', async () => {
    const store = createFileSystem({ files: { '/attempts/calm-otter/operations': null, '/attempts/x y': 'other' } });
    expect(await indexOn(store).list()).toEqual([]);
  });

  it('an attempt begins to exist with all that belongs to it, or leaves nothing', async () => {
    const store = createFileSystem({ files: { '/attempts/one/state/0': 'half of an attempt' } });
    const index = indexOn(store);
    const full = index.create('one', {}, undefined, async (target) => {
      await target.writeFile('/attempts/one/state/0', 'whole');
      throw new FsError('ENOSPC', { syscall: 'write' });
    });
    await expect(full).rejects.toMatchObject({ code: 'ENOSPC' });
    expect([await index.list(), store.readTextSync('/attempts/one/state/0')]).toEqual([[], 'half of an attempt']);
    const prepare = (target: FileSystem): Promise<void> => target.writeFile('/attempts/one/state/0', 'whole');
    await index.create('one', {}, undefined, prepare);
    expect(store.readTextSync('/attempts/one/state/0')).toBe('whole');
    await expect(index.create('one', {}, undefined, prepare)).rejects.toEqual(failure('exists'));
  });

  it('chooses another name if the first ones are taken', async () => {
    const index = indexOn(undefined, () => 'calm-otter');
    expect((await index.create(undefined)).name).toBe('calm-otter');
    expect((await index.create(undefined)).name).toBe('calm-otter-20');
    expect((await index.create(undefined)).name).toBe('calm-otter-21');
  });

  it('the current attempt is the first one, then what switchTo() says, and none after it was discarded', async () => {
    const index = indexOn();
    await index.ensure('one', {});
    expect((await index.current())?.name).toBe('one');
    await index.ensure('one', {});
    await index.create('two');
    expect(await index.offer('two')).toBe('one');
    await index.switchTo('two');
    expect((await index.current())?.name).toBe('two');
    await index.discard('two');
    expect(await index.current()).toBeUndefined();
    expect(await index.offer('one')).toBe('one');
    await expect(index.switchTo('two')).rejects.toEqual(failure('closed'));
  });

  it('a current attempt that was discarded without being taken from its place is replaced', async () => {
    const store = createFileSystem();
    const index = indexOn(store);
    await index.create('one');
    await index.switchTo('one');
    store.writeFileSync('/attempts/one/discarded', '{"format":1}');
    expect(await index.current()).toBeUndefined();
    await index.ensure('two', {});
    expect((await index.current())?.name).toBe('two');
  });

  it('an attempt of another process that was discarded or is live does not become the current one', async () => {
    const store = createFileSystem();
    const index = indexOn(store);
    await index.create('discarded');
    await index.discard('discarded');
    await index.create('live', { live: true });
    for (const name of ['discarded', 'live']) await index.ensure(name, {});
    expect([await index.current(), store.existsSync('/current')]).toEqual([undefined, false]);
  });

  it('a damaged record is an error and stays', async () => {
    const store = createFileSystem({ files: { '/attempts/one/attempt': '{"format":1', '/current': '7' } });
    await expect(indexOn(store).list()).rejects.toEqual(failure('foreign-store', /\/attempts\/one\/attempt/));
    await expect(indexOn(store).current()).rejects.toEqual(failure('foreign-store'));
  });
});

describe('several processes', () => {
  it('that change something first at the same time mean one attempt', async () => {
    const clients = diskClients(6).map((store) => indexOn(store));
    const names = await Promise.all(clients.map((index) => index.nextName('/project')));
    await Promise.all(clients.map((index, i) => index.ensure(names[i] as string, {})));
    expect((await clients[0]?.list())?.map(({ name }) => name)).toEqual([names[0]]);
    expect((await clients[5]?.current())?.name).toBe(names[0]);
    const next = await clients[0]?.nextName('/project');
    expect(next).not.toBe(names[0]);
    expect(await clients[1]?.nextName('/other')).not.toBe(next);
  });

  it('that create the same name get it once', async () => {
    const clients = diskClients(6).map((store) => indexOn(store));
    const results = await Promise.allSettled(clients.map((index) => index.create('same')));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('that discard the current attempt while another one switches keep the other one', async () => {
    const [a, b] = diskClients(2).map((store) => indexOn(store)) as [AttemptIndex, AttemptIndex];
    for (let round = 0; round < 5; round++) {
      const [old, next] = [`old-${round}`, `next-${round}`];
      await a.create(old);
      await a.create(next);
      await a.switchTo(old);
      await Promise.all([a.discard(old), b.switchTo(next)]);
      expect((await a.current())?.name).toBe(next);
    }
  });
});
