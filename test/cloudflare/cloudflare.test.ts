import type { Miniflare } from 'miniflare';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, openWorker } from './open-worker.js';
import { type Result, SUITE_NAMES } from './suites.js';

/** The whole suites take minutes in a simulated bucket; `npm run campaign -- cloudflare/suites` runs them. */
const isWhole = process.env['CLOUDFLARE_SUITES'] !== undefined;
const writers = Number(process.env['CLOUDFLARE_WRITERS'] ?? 4);
const increments = writers === 4 ? 25 : 100;

/** Every n-th test of a suite runs, and every n-th fault. */
const EVERY: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  bucket: { objects: 1, backend: 4, storage: 5, files: 19, copies: 29 },
  agents: { objects: 1, backend: 1, storage: 1, files: 5, copies: 9, faults: 97 },
};

let worker: Miniflare;
beforeAll(async () => {
  worker = await openWorker();
});
afterAll(() => worker.dispose());

describe.each([
  ['R2Storage', 'bucket'],
  ['DurableObjectStorage', 'agents'],
] as const)('%s', { timeout: 1_800_000 }, (_, where) => {
  const run = <T>(path: string): Promise<T> => call<T>(worker, `${where}/${path}`);

  it.each(SUITE_NAMES.filter((suite) => isWhole || EVERY[where]?.[suite] !== undefined))(
    'passes the suite of %s inside workerd',
    async (suite) => {
      const every = isWhole ? (suite === 'faults' ? 41 : 1) : (EVERY[where]?.[suite] as number);
      const results = await run<Result[]>(`suite/${suite}?every=${suite === 'faults' ? 1 : every}&everyFault=${every}`);
      expect(results.filter(({ error }) => error !== undefined)).toEqual([]);
      expect(results.length).toBeGreaterThan(suite === 'faults' ? 0 : 4);
      console.log(`${where} ${suite}: ${results.length} tests, ${results.reduce((sum, { ms }) => sum + ms, 0)} ms`);
    },
  );

  async function race(name: string, clients: number, times: number): Promise<void> {
    const path = `increment?name=${name}&times=${times}`;
    const values = await Promise.all(Array.from({ length: clients }, () => run<number[]>(path)));
    const all = Array.from({ length: clients * times }, (_, i) => i + 1);
    expect(values.flat().sort((a, b) => a - b)).toEqual(all);
    expect(await run(`read?name=${name}`)).toBe(String(clients * times));
  }

  it(`loses no increment of ${writers} clients`, () => race('counter', writers, increments));
  it('loses no increment of 20 clients', () => race('counter20', 20, 1));

  it('holds several filesystems, which are listed and destroyed', async () => {
    expect(await run('names')).toEqual({
      before: expect.not.arrayContaining(['one']),
      listed: expect.arrayContaining(['one', 'one.more', 'two']),
      left: expect.not.arrayContaining(['one']),
      kept: 'x',
      after: expect.not.arrayContaining(['one', 'one.more', 'two']),
    });
  });

  it('holds a file of 5 MB, also in a checkpoint', async () => {
    const { isSame, largest } = await run<{ isSame: boolean; largest?: [{ largest: number }] }>('largeFile');
    expect(isSame).toBe(true);
    if (largest !== undefined) expect(largest[0].largest).toBeLessThan(2_000_000);
  });

  it('is lost if its data is deleted while it is open, and can be created again', async () => {
    const { failures, fresh } = await run<{ failures: [string, string][]; fresh: string[] }>('gone');
    expect(failures[0]?.[0]).toBe('lost');
    expect(fresh).toEqual([]);
  });
});

describe('R2Storage', () => {
  it('leaves the keys of others alone', async () => {
    const found = await call<{ listed: string[] }>(worker, 'bucket/otherKeys');
    expect(found).toMatchObject({ isKept: true, left: [] });
    expect(found.listed).toContain('one');
    // Objects without a head are what an interrupted deletion has left.
    for (const other of ['three', 'four', 'Not a name']) expect(found.listed).not.toContain(other);
  });

  it('refuses a newer format, and leaves it as it is', async () => {
    expect(await call(worker, 'bucket/newerHead')).toEqual({
      failure: ['version', expect.stringContaining('format 2')],
      isSame: true,
    });
  });

  it('waits if the bucket refuses a second write of the head, and loses nothing', async () => {
    expect(await call(worker, 'bucket/limitedRate')).toEqual({ refused: true, text: 'xx' });
  });
});

describe('DurableObjectStorage', () => {
  it('leaves the alarm, the keys and the tables of the Durable Object alone', async () => {
    expect(await call(worker, 'agents/otherState')).toEqual({
      alarm: [true, true],
      keys: [['key', 'value']],
      tables: [{ x: 7 }],
    });
  });

  it('stores rows of the greatest size with the longest name, and says so if one is larger', async () => {
    const [greatest, [kind, message]] = await call<[number, [string, string]]>(worker, 'agents/greatestRow');
    expect(greatest).toBe(1_900_000);
    expect([kind, message]).toEqual(['full', expect.stringContaining('larger')]);
  });

  it('gives no tag twice, also if a transaction of the application rolls the first head back', async () => {
    const tags = await call<unknown[]>(worker, 'agents/rolledBackTags');
    expect([typeof tags[0], typeof tags[1], new Set(tags).size]).toEqual(['string', 'string', 2]);
  });

  it('tells watchers of the changes of other clients', async () => {
    expect(await call(worker, 'agents/watch')).toEqual({ type: 'overflow', path: '/' });
  });

  it('refuses tables of a newer format, and adds none', async () => {
    expect(await call(worker, 'agents/newerTables')).toEqual({
      failure: ['version', expect.stringContaining('format 2')],
      tables: [{ name: 'scratchfs_format' }],
    });
  });

  it('is unsupported in a class without SQLite, with what to do', async () => {
    expect(await call(worker, 'old/open')).toEqual(['unsupported', expect.stringContaining('new_sqlite_classes')]);
  });
});
