import { isStorageError, type LoadRequest, type LoadResult, openFileSystem } from '@scratchfs/core';
import { RedisBackend, RedisStorage } from '@scratchfs/redis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RECORD_STRIDE } from '../../packages/redis/src/format/stored/record.js';
import { freshNamespace } from './clients.js';
import { useServer } from './faults/test-fixtures.js';
import { hasOwnServer } from './servers/test-server.js';

/** The first letters of a page, a directory and a bucket. */
const [PAGE, DIRECTORY, BUCKET] = [0x41, 0x44, 0x4c];
const BUDGET = 1_000_000;

type Values = Readonly<Record<string, Buffer>>;

/** Returns a stored value with one bit flipped. */
function flipped(value: Buffer, at: number): Buffer {
  const damaged = Buffer.from(value);
  damaged[at] = (damaged[at] as number) ^ (1 << (at % 8));
  return damaged;
}

/** Reports whether a value is a chunk of the large file. */
function isLarge({ length }: Buffer): boolean {
  return length > 5_000;
}

/**
 * Returns the distance to the next byte to flip. Content under one digest is only sampled. All directories have the
 * same fields, and so have the records of a bucket, so different bytes of each are flipped.
 */
function stepAfter(value: Buffer, at: number): number {
  if (isLarge(value)) return at < 40 || at > value.length - 20 ? 1 : Math.min(4_999, value.length - 19 - at);
  if (value[0] === DIRECTORY) return 2;
  return value[0] === BUCKET && at > 150 ? 4 : 1;
}

/** Returns loaded results as text, without the fields `version`, `directory` and `complete`. */
function described(results: readonly LoadResult[]): string {
  return JSON.stringify(results, (key, value: unknown) => {
    if (key === 'version' || key === 'directory' || key === 'complete') return undefined;
    return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
  });
}

describe.skipIf(!hasOwnServer)('Damage of a stored value', () => {
  const on = useServer();
  let namespace: string;
  let backend: RedisBackend;
  let requests: LoadRequest[];
  let expected: string;
  let largeFile: LoadRequest;
  let expectedLarge: string;
  let objects: string;
  let values: Values;

  const read = async (from = backend): Promise<string> => described(await from.load(requests));
  const readOrKind = (from?: RedisBackend): Promise<string> =>
    read(from).catch((error: unknown) => (isStorageError(error) ? `error ${error.kind}` : String(error)));
  const largeOrKind = (): Promise<string> =>
    backend
      .load([largeFile])
      .then(described, (error: unknown) => (isStorageError(error) ? `error ${error.kind}` : String(error)));
  const isAllowed = (found: string): boolean =>
    found === expected || found === expectedLarge || /^error (corrupt|lost|version)$/.test(found);

  beforeEach(async () => {
    namespace = freshNamespace();
    const storage = new RedisStorage(on.server.url, { namespace });
    const fs = await openFileSystem(storage);
    await fs.writeFile('/a', 'AAAA');
    await fs.appendFile('/a', 'BB');
    await fs.truncate('/a', 5);
    await fs.writeFile('/b', 'content of b');
    await fs.symlink('/a', '/s');
    await fs.link('/b', '/l');
    await fs.mkdir('/d');
    for (let i = 0; i < 13; i++) await fs.writeFile(`/d/n${i}`, `text ${i % 3}`);
    await fs.cp('/d', '/copy', { recursive: true });
    await fs.writeFile(
      '/large',
      new Uint8Array(140_000).map((_, i) => i % 251),
    );
    await storage.close();
    backend = new RedisBackend(on.server.url, { namespace });
    const paths = ['/l', '/d/missing'];
    requests = paths.map((path) => ({ kind: 'path', path, content: BUDGET }));
    const [root, large] = await backend.load(['/', '/large'].map((path) => ({ kind: 'path', path, content: -1 })));
    if (root?.kind !== 'path' || large?.kind !== 'path') throw new Error('Not loaded');
    requests.push({ kind: 'tree', at: { path: '/', id: root.nodes[0]?.id ?? '' }, budget: BUDGET, contents: true });
    largeFile = { kind: 'content', at: { path: '/large', id: large.nodes[1]?.id ?? '' }, offset: 0, length: 140_000 };
    expected = await read();
    expectedLarge = described(await backend.load([largeFile]));
    expect(expected).toContain(Buffer.from('AAAAB').toString('base64'));
    objects = `scratchfs:{${namespace}}:o`;
    values = await on.server.control.hgetallBuffer(objects);
  });
  afterEach(() => backend.close());

  it('in any byte of any object is noticed, or changes only counters', async () => {
    const { control } = on.server;
    let noticed = 0;
    for (const [id, value] of Object.entries(values)) {
      // A field whose name begins with a letter has the digest of a large chunk.
      const isDigest = id.startsWith('b');
      for (let at = isLarge(value) || isDigest ? 0 : Number(id) % 2; at < value.length; at += stepAfter(value, at)) {
        const written = control.hset(objects, id, flipped(value, at));
        // A page may belong to the large file or to a directory.
        const seen = isLarge(value) || isDigest ? [] : [await readOrKind()];
        if (isLarge(value) || isDigest || value[0] === PAGE) seen.push(await largeOrKind());
        await written;
        for (const one of seen)
          if (!isAllowed(one)) expect.fail(`object ${id} (${value.toString('latin1', 0, 1)}), byte ${at}: ${one}`);
        if (seen.includes('error corrupt')) noticed += 1;
      }
      await control.hset(objects, id, value);
    }
    expect(await read()).toBe(expected);
    expect(noticed).toBeGreaterThan(700);
  });

  it('in the state is noticed', async () => {
    const { control } = on.server;
    const head = `scratchfs:{${namespace}}:m`;
    const fields = await control.hgetallBuffer(head);
    for (const [field, value] of Object.entries(fields)) {
      if (!['s', 'f', 't'].includes(field)) continue;
      for (let at = 0; at < value.length; at++) {
        await control.hset(head, field, flipped(value, at));
        const other = new RedisBackend(on.server.url, { namespace, create: false });
        const seen = await readOrKind(other);
        await control.hset(head, field, value);
        await other.close();
        if (!isAllowed(seen)) expect.fail(`field ${field}, byte ${at}: ${seen}`);
      }
    }
    expect(await read()).toBe(expected);
  });

  it('of the stored limits is noticed by writes, and limits can be set anew', async () => {
    const { control } = on.server;
    const head = `scratchfs:{${namespace}}:m`;
    const storage = new RedisStorage(on.server.url, { namespace });
    const fs = await openFileSystem(storage);
    const kind = (work: Promise<unknown>): Promise<unknown> =>
      work.then(
        () => 'ok',
        (error: unknown) => (isStorageError(error) ? error.kind : error),
      );
    try {
      await fs.setLimits({ maxTotalSize: 1_000_000, maxCheckpoints: 3 });
      const limits = (await control.hgetBuffer(head, 'q')) as Buffer;
      for (let at = 0; at < limits.length; at += 3) {
        await control.hset(head, 'q', flipped(limits, at));
        expect(await kind(fs.writeFile('/b', 'x')), `byte ${at}`).toBe('corrupt');
        expect(await kind(fs.checkpoint()), `byte ${at}`).toBe('corrupt');
      }
      expect(await fs.readText('/d/n1')).toBe('text 1');
      await fs.setLimits({ maxTotalSize: 1_000_000 });
      expect(await kind(fs.writeFile('/b', 'x'))).toBe('ok');
    } finally {
      await storage.close();
    }
  });

  it('is noticed if one object lies in the place of another', async () => {
    const { control } = on.server;
    const all = Object.entries(values);
    const whole = `${expected} ${expectedLarge}`;
    const unnoticed = new Set<string>();
    for (const [at, [id, value]] of all.entries()) {
      const others = [...all.slice(at + 1), ...all.slice(0, at)].filter(([, { 0: kind }]) => kind === value[0]);
      for (const [otherId, other] of others.slice(0, 3)) {
        const written = control.hset(objects, id, other);
        const seen = `${await readOrKind()} ${await largeOrKind()}`;
        await written;
        if (seen === whole) unnoticed.add(id);
        else expect(seen, `object ${otherId} in the place of ${id}`).toContain('error corrupt');
      }
      await control.hset(objects, id, value);
    }
    // Objects that are not used any more and wait to be freed.
    expect(unnoticed.size).toBeLessThan(5);
  });

  it('is noticed if a record lies in the place of one of the same name in another bucket', async () => {
    const { control } = on.server;
    const storage = new RedisStorage(on.server.url, { namespace });
    const fs = await openFileSystem(storage);
    const kinds = async (...calls: (() => Promise<unknown>)[]): Promise<string[]> => {
      const found: string[] = [];
      for (const call of calls)
        found.push(await call().then(String, (error: unknown) => (isStorageError(error) ? error.kind : String(error))));
      return found;
    };
    try {
      await fs.mkdir('/e');
      await fs.writeFile('/e/n1', 'another text');
      await fs.writeFile('/d/n1', 'text 1');
      await fs.writeFile('/e/n2', 'x');
      const places = Object.entries(await control.hgetallBuffer(objects)).flatMap(([id, value]) => {
        if (value[0] !== BUCKET) return [];
        const recordsAt = 15 + value.readUInt32BE(11);
        const index = value.toString('latin1', 15, recordsAt).split('/').indexOf('\0n1');
        return index < 0 ? [] : [{ id, value, at: recordsAt + index * RECORD_STRIDE }];
      });
      // Of /d, of its copy, and of /e.
      expect(places).toHaveLength(3);
      for (const [i, { id, value, at }] of places.entries()) {
        const other = places[(i + 1) % places.length] as (typeof places)[number];
        const exchanged = Buffer.from(value);
        other.value.copy(exchanged, at, other.at, other.at + RECORD_STRIDE);
        await control.hset(objects, id, exchanged);
      }
      const fresh = await openFileSystem(new RedisStorage(on.server.url, { namespace }));
      const reads = ['/d/n1', '/copy/n1', '/e/n1'].map((path) => () => fresh.readText(path));
      expect(await kinds(...reads, () => fresh.readdir('/e', { withFileTypes: true }))).toEqual(
        Array.from({ length: 4 }, () => 'corrupt'),
      );
      expect(
        await kinds(
          () => fs.writeFile('/e/n1', 'y'),
          () => fs.appendFile('/e/n1', 'y'),
        ),
      ).toEqual(['corrupt', 'corrupt']);
      // Copying the bucket does not cover it up.
      await fs.checkpoint();
      expect(
        await kinds(
          () => fs.writeFile('/e/n2', 'z'),
          () => fs.chmod('/e/n2', 0o600),
        ),
      ).toEqual(['undefined', 'undefined']);
      expect(
        await kinds(
          () => fresh.readText('/e/n1'),
          () => fresh.readText('/e/n2'),
        ),
      ).toEqual(['corrupt', 'z']);
      await fresh.close();
    } finally {
      await storage.close();
    }
  });

  it('at one path fails only the calls that meet it, also in a shared request', async () => {
    const { control } = on.server;
    const storage = new RedisStorage(on.server.url, { namespace });
    const fs = await openFileSystem(storage);
    try {
      await fs.mkdir('/x');
      await fs.writeFile('/x/f', 'whole');
      await fs.writeFile('/d/n1', 'text 1');
      await fs.readText('/x/f');
      // Damages the name n1.
      for (const [id, value] of Object.entries(await control.hgetallBuffer(objects)))
        if (value[0] === BUCKET && value.includes('n1/'))
          await control.hset(objects, id, flipped(value, value.indexOf('n1/')));
      const kinds = (calls: readonly Promise<unknown>[]): Promise<string[]> =>
        Promise.all(
          calls.map((call) =>
            call.then(
              () => 'ok',
              (error: unknown) => (isStorageError(error) ? error.kind : String(error)),
            ),
          ),
        );
      const all = await kinds([
        fs.writeFile('/x/f', '1'),
        fs.rename('/d/n1', '/d/n2'),
        fs.writeFile('/x/g', '2'),
        fs.appendFile('/a', '3'),
      ]);
      expect(all).toEqual(['ok', 'corrupt', 'ok', 'ok']);
      // Reads from the server, and reads that are only checked there.
      expect(await kinds([fs.readText('/x/g'), fs.readText('/d/n1'), fs.readText('/x/f')])).toEqual([
        'ok',
        'corrupt',
        'ok',
      ]);
      const fresh = new RedisBackend(on.server.url, { namespace });
      const loads = ['/x/f', '/d/n1', '/a'].map((path) => fresh.load([{ kind: 'path', path, content: BUDGET }]));
      expect(await kinds(loads)).toEqual(['ok', 'corrupt', 'ok']);
      await fresh.close();
      expect(await fs.readText('/x/f')).toBe('1');
    } finally {
      await storage.close();
    }
  });

  it('is not covered up by later writes', async () => {
    const { control } = on.server;
    for (const [id, value] of Object.entries(values)) {
      for (let at = 10; at < Math.min(value.length, 2_000); at += 211) {
        const storage = new RedisStorage(on.server.url, { namespace });
        const fs = await openFileSystem(storage);
        await fs.stats();
        await fs.readdir('/d');
        await control.hset(objects, id, flipped(value, at));
        const work = [
          () => fs.writeFile('/b', 'content of b'),
          () => fs.appendFile('/a', ''),
          () => fs.writeFile('/d/n1', 'text 1'),
          () => fs.writeFile('/d/new', 'x'),
          () => fs.rm('/d/new'),
        ];
        for (const one of work)
          await one().catch((error: unknown) => expect(isStorageError(error), String(error)).toBe(true));
        const seen = await readOrKind();
        if (seen !== expected && !seen.startsWith('error')) {
          // Only the times of what was written may differ, and the name that could not be removed.
          const strip = (text: string): string => text.replace(/"meta":\{[^}]*\}/g, '');
          if (strip(seen) !== strip(expected)) expect.fail(`object ${id}, byte ${at}: ${seen}`);
        }
        await storage.close();
        await control.del(objects);
        await control.hset(objects, values);
      }
    }
  });
});
