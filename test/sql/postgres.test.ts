import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { type FileSystem, openFileSystem } from '@scratchfs/core';
import { ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { type PostgresClient, PostgresStorage } from '@scratchfs/sql';
import {
  backendSuite,
  fileSystemSuite,
  objectStoreFaults,
  objectStoreSuite,
  storageSuite,
  workingCopySuite,
} from '@scratchfs/testkit';
import pg from 'pg';
import postgres from 'postgres';
import { afterAll, describe, expect, it } from 'vitest';
import { connectionOf } from '../../packages/sql/src/postgres-client.js';
import { PostgresObjectStore } from '../../packages/sql/src/postgres-object-store.js';
import { mountSmallDisk, unmountSmallDisk, whyNoDisk } from '../attacks/small-disk.js';
import { killOnCounter, raceOnCounter } from './counting-clients.js';
import { findPostgres, PostgresServer } from './servers/postgres-server.js';

const bin = findPostgres();
const given = process.env['SCRATCHFS_TEST_POSTGRES_URL'];
const server = bin === undefined || given !== undefined ? undefined : await PostgresServer.start(bin);
const url = given ?? server?.url;
const pool = url === undefined ? undefined : new pg.Pool({ connectionString: url });
pool?.on('error', () => undefined);
afterAll(async () => {
  await pool?.end();
  await server?.close();
});

let made = 0;
const newName = (): string => `f${process.pid}-${made++}`;
const withName = (name: string): string => `${url}?name=${name}`;

const reason = url === undefined && process.env['CI'] === undefined ? 'there is no PostgreSQL' : undefined;

/** Clients that race, and kills of clients; a campaign has more. */
const WRITERS = Number(process.env['SQL_WRITERS'] ?? 4);
const INCREMENTS = WRITERS === 4 ? 25 : 100;
const KILLS = Number(process.env['SQL_KILLS'] ?? 4);
const LONG = { timeout: 60_000 + WRITERS * 30_000 + KILLS * 5_000 };

describe.skipIf(reason !== undefined)(`PostgresStorage${reason === undefined ? '' : ` (${reason})`}`, () => {
  const client = pool as pg.Pool;
  const test = { describe, it: (name: string, body: () => Promise<void>) => it.concurrent(name, body) };
  storageSuite({ test, create: ({ clock }) => new PostgresStorage(client, { name: newName(), clock }) });
  fileSystemSuite({
    test,
    create: ({ clock, limits }) =>
      openFileSystem(new PostgresStorage(client, { name: newName(), clock, maxCacheBytes: 0 }), { clock, limits }),
  });
  // A campaign also runs the suites of the object store, which the unit tests run on PGlite, and of the code above it.
  if (process.env['SCRATCHFS_TEST_EVERYTHING'] !== undefined) {
    const storeOf = (place: string): PostgresObjectStore =>
      new PostgresObjectStore(async () => connectionOf(client), place);
    const methods = ['commit', 'watch', 'deleteHead'] as const;
    objectStoreSuite({ test, name: 'Rows', methods, open: storeOf, listedObjects: 1_200, watchTimeoutMs: 60_000 });
    backendSuite({ test, create: () => new ObjectTreeBackend(storeOf(newName())) });
    workingCopySuite({
      test,
      create: () => {
        const name = newName();
        return { ours: new PostgresStorage(client, { name }), theirs: new PostgresStorage(client, { name }) };
      },
    });
    it('leaves the state that was reported when replies are lost', LONG, async () => {
      const { faults, problems } = await objectStoreFaults({ create: () => storeOf(newName()), every: 11 });
      expect(problems).toEqual([]);
      expect(faults).toBeGreaterThan(30);
    });
  }

  const clients: Readonly<Record<string, () => Promise<[PostgresClient, () => Promise<void>]>>> = {
    'a pool of pg': async () => [client, async () => undefined],
    'a connection of pg': async () => {
      const one = new pg.Client({ connectionString: url });
      await one.connect();
      return [one, () => one.end()];
    },
    postgres: async () => {
      const sql = postgres(url as string, { max: 4, onnotice: () => undefined });
      return [sql as unknown as PostgresClient, () => sql.end()];
    },
    pglite: async () => {
      const database = await PGlite.create();
      return [database as unknown as PostgresClient, () => database.close()];
    },
  };
  for (const [name, open] of Object.entries(clients)) {
    it(`works with ${name}: files, ranges, checkpoints, watchers of other clients, names`, async () => {
      const [one, close] = await open();
      const named = { name: newName() };
      const storage = new PostgresStorage(one, named);
      const fs = await openFileSystem(storage);
      const other = await openFileSystem(new PostgresStorage(one, named));
      const large = new Uint8Array(3_000_000).map((_, i) => i % 251);
      await fs.writeFile('/large', large);
      const before = await fs.checkpoint();
      const events = other.watch('/')[Symbol.asyncIterator]();
      const next = events.next();
      await fs.rm('/large');
      expect((await next).value).toEqual({ type: 'overflow', path: '/' });
      await events.return?.(undefined);
      await fs.rollback(before);
      expect(Buffer.compare(await other.readFile('/large'), large)).toBe(0);
      expect(await PostgresStorage.list(one)).toContain(named.name);
      await storage.destroy();
      expect(await PostgresStorage.list(one)).not.toContain(named.name);
      await Promise.all([fs.close(), other.close()]);
      await close();
    });
  }

  it('is created by several clients at the same time', async () => {
    const named = { name: newName() };
    const all = await Promise.all(Array.from({ length: 8 }, () => openFileSystem(new PostgresStorage(client, named))));
    await Promise.all(all.map((fs, i) => fs.writeFile(`/f${i}`, 'x')));
    expect((await (all[0] as FileSystem).readdir('/')).length).toBe(8);
    await Promise.all(all.map((fs) => fs.close()));
  });

  it('creates no tables for a listing, nor if create is false, and refuses newer ones in both', async () => {
    const database = await PGlite.create();
    const client = database as unknown as PostgresClient;
    const tables = async () => (await database.query("SELECT 1 FROM pg_tables WHERE tablename LIKE 'scratchfs%'")).rows;
    expect(await PostgresStorage.list(client)).toEqual([]);
    const opening = openFileSystem(new PostgresStorage(client, { create: false }));
    await expect(opening).rejects.toMatchObject({
      kind: 'lost',
      message: /no tables of scratchfs, and create is false/,
    });
    expect(await tables()).toEqual([]);
    const fs = await openFileSystem(new PostgresStorage(client, { name: 'one' }));
    expect([await PostgresStorage.list(client), (await tables()).length]).toEqual([['one'], 3]);
    await fs.close();
    await database.query('UPDATE scratchfs_format SET version = 2');
    for (const create of [true, false])
      await expect(openFileSystem(new PostgresStorage(client, { create }))).rejects.toMatchObject({ kind: 'version' });
    await expect(PostgresStorage.list(client)).rejects.toMatchObject({ kind: 'version' });
    await database.close();
  });

  it('creates the tables of an empty database from several clients at the same time', async () => {
    for (let round = 0; round < 3; round++) {
      const database = newName();
      await client.query(`CREATE DATABASE "${database}"`);
      const there = new URL(url as string);
      there.pathname = `/${database}`;
      const open = async (delay: number): Promise<void> => {
        await new Promise((resolve) => setTimeout(resolve, delay));
        const fs = await openFileSystem(new PostgresStorage(there));
        await fs.close();
      };
      await Promise.all(Array.from({ length: 6 }, (_, i) => open(3 * i)));
    }
  });

  it('listens on one connection of a pool, and on a new one if that is lost; listeners are removed', async () => {
    const small = new pg.Pool({ connectionString: url, max: 2 });
    small.on('error', () => undefined);
    const names = Array.from({ length: 3 }, newName);
    const all = await Promise.all(names.map((name) => openFileSystem(new PostgresStorage(small, { name }))));
    const watchers = all.map((fs) => fs.watch('/')[Symbol.asyncIterator]());
    for (let round = 0; round < 3; round++) {
      const next = watchers.map((watcher) => watcher.next());
      await expect.poll(() => [small.totalCount - small.idleCount, small.waitingCount]).toEqual([1, 0]);
      for (const name of names) {
        const other = await openFileSystem(new PostgresStorage(client, { name }));
        await other.writeFile('/a', String(round));
        await other.close();
      }
      expect((await Promise.all(next)).map(({ value }) => value?.type)).toEqual(names.map(() => 'overflow'));
      await client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'");
      await expect.poll(() => small.totalCount - small.idleCount).toBe(0);
    }
    await Promise.all(watchers.map((watcher) => watcher.return?.(undefined)));
    await Promise.all(all.map((fs) => fs.close()));
    await small.end();

    const one = new pg.Client({ connectionString: url });
    await one.connect();
    const fs = await openFileSystem(new PostgresStorage(one, { name: newName() }));
    const watcher = fs.watch('/')[Symbol.asyncIterator]();
    const next = watcher.next();
    await expect.poll(() => one.listenerCount('notification')).toBe(1);
    await watcher.return?.(undefined);
    await next;
    const counts = (): number[] => ['error', 'notification', 'end'].map((event) => one.listenerCount(event));
    await expect.poll(counts).toEqual([0, 0, 0]);
    await fs.close();
    await one.end();
  });

  it('goes on after the server has ended its connections, and writes nothing twice', async () => {
    const fs = await openFileSystem(new PostgresStorage(url === undefined ? '' : withName(newName())));
    await fs.writeFile('/log', '');
    for (let i = 0; i < 5; i++) {
      const write = fs.appendFile('/log', 'x');
      await client.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE $1',
        ['%scratchfs_%'],
      );
      await write;
    }
    expect(await fs.readText('/log')).toBe('xxxxx');
    await fs.close();
  });

  it('gives no tag twice, also in a database that was restored, or after destroy()', async () => {
    const name = newName();
    const store = new PostgresObjectStore(async () => connectionOf(client), name);
    const swap = (text: string, expected?: string) => store.swapHead(new TextEncoder().encode(text), expected);
    const first = await swap('1');
    const second = await swap('2', first);
    await client.query('UPDATE scratchfs_heads SET tag = $2 WHERE filesystem = $1', [name, first]);
    const third = await swap('3', first);
    await store.deleteHead();
    const tags = [first, second, third, await swap('4')];
    expect([new Set(tags).size, tags.includes(undefined)]).toEqual([4, false]);
  });

  it('is denied to a user without rights on its tables, and to one who may only read them', async () => {
    const named = { name: newName() };
    const owner = await openFileSystem(new PostgresStorage(client, named));
    await owner.writeFile('/f', 'kept');
    const role = newName();
    await client.query(`CREATE ROLE "${role}" LOGIN`);
    const address = new URL(url as string);
    address.username = role;
    const other = new pg.Pool({ connectionString: address.href });
    const open = () => openFileSystem(new PostgresStorage(other, named));
    await expect(open()).rejects.toMatchObject({ kind: 'denied' });
    await client.query(`GRANT SELECT ON scratchfs_format, scratchfs_heads, scratchfs_objects TO "${role}"`);
    const reader = await open();
    expect(await reader.readText('/f')).toBe('kept');
    const refused = { kind: 'denied', mayHaveHappened: false };
    await expect(reader.writeFile('/f', 'changed')).rejects.toMatchObject(refused);
    expect(await owner.readText('/f')).toBe('kept');
    await Promise.all([owner.close(), reader.close()]);
    await other.end();
    await client.query(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`);
  });

  it('ends a write that waits too long for a lock, and writes it once or never when the lock is gone', async () => {
    const name = newName();
    const fs = await openFileSystem(new PostgresStorage(client, { name, timeoutMs: 2_000, retries: 0 }));
    await fs.writeFile('/log', 'x');
    const holder = new pg.Client({ connectionString: url });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM scratchfs_heads WHERE filesystem = $1 FOR UPDATE', [name]);
    await expect(fs.appendFile('/log', 'y')).rejects.toMatchObject({ kind: 'unavailable', mayHaveHappened: true });
    expect(await fs.readText('/log')).toBe('x');
    await holder.query('COMMIT');
    await holder.end();
    // The server may run the statement now, although its client has given up.
    const patient = await openFileSystem(new PostgresStorage(client, { name }));
    await patient.appendFile('/log', 'z');
    expect(await patient.readText('/log')).toMatch(/^xy?z$/);
    await Promise.all([fs.close(), patient.close()]);
  });

  const noDisk = server === undefined ? 'the server is not one of these tests' : whyNoDisk();
  it.skipIf(noDisk !== undefined)(
    `says that the server's disk is full, keeps what was written, and goes on${noDisk === undefined ? '' : ` (${noDisk})`}`,
    async () => {
      const { folder, user } = server as PostgresServer;
      const place = join(folder, 'small');
      mkdirSync(place);
      mountSmallDisk(place);
      try {
        if (user.uid !== undefined) chownSync(place, user.uid, user.gid as number);
        await client.query(`CREATE TABLESPACE small LOCATION '${place}'`);
        await client.query('CREATE DATABASE small TABLESPACE pg_default');
        const address = new URL(url as string);
        address.pathname = '/small';
        const small = new pg.Pool({ connectionString: address.href });
        small.on('error', () => undefined);
        const fs = await openFileSystem(new PostgresStorage(small));
        await fs.writeFile('/kept', 'text');
        await small.query('ALTER TABLE scratchfs_objects SET TABLESPACE small');
        const content = () => crypto.getRandomValues(new Uint8Array(65_536));
        const fill = async () => {
          for (let i = 0; i < 40; i++) await fs.writeFile(`/f${i}`, content());
        };
        const refused = { kind: 'full', mayHaveHappened: false, message: /disk of the PostgreSQL server is full/ };
        await expect(fill()).rejects.toMatchObject(refused);
        expect(await fs.readText('/kept')).toBe('text');
        const names = await fs.readdir('/');
        execFileSync('mount', ['-o', 'remount,size=16m', place]);
        await fs.writeFile('/more', content());
        expect(await fs.readdir('/')).toEqual([...names, 'more']);
        await fs.close();
        await small.end();
        await client.query('DROP DATABASE small WITH (FORCE)');
        await client.query('DROP TABLESPACE small');
      } finally {
        unmountSmallDisk(place);
      }
    },
  );

  it('refuses a newer format, and says where nobody replies', async () => {
    const database = await PGlite.create();
    await database.exec('CREATE TABLE scratchfs_format (version int); INSERT INTO scratchfs_format VALUES (2)');
    const newer = openFileSystem(new PostgresStorage(database as unknown as PostgresClient));
    await expect(newer).rejects.toMatchObject({ kind: 'version', message: /format 2/ });
    const tables = await database.query("SELECT relname FROM pg_class WHERE relname LIKE 'scratchfs%'");
    expect(tables.rows).toEqual([{ relname: 'scratchfs_format' }]);
    await database.close();
    const storage = new PostgresStorage('postgres://127.0.0.1:1/none', { retries: 0 });
    await expect(openFileSystem(storage)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it.each([
    ['', /must look like postgres:/],
    ['mysql://x/y', /must look like postgres:/],
    [{}, /needs a client of pg, postgres or/],
    ['postgres://x:99999/y', /is not valid/],
    ['postgres://user:pass%word@x/y', /is not valid/],
    ['postgres://x y/z', /is not valid/],
    ['postgres://x/y?name=..%2Fz', /cannot be the name/],
    ['postgres://x/y?name=%zz', /not a part of a URL/],
    ['postgres://x/y?name=a&sslmode=disable&name=b', /more than one/],
  ])('refuses the client %j', (what, message) => {
    expect(() => new PostgresStorage(what as string)).toThrow(message);
  });

  it(`loses none of ${WRITERS} × ${INCREMENTS} increments of processes`, LONG, () =>
    raceOnCounter(withName(newName()), WRITERS, INCREMENTS),
  );

  it(`keeps every acknowledged increment through ${KILLS} kills at random moments`, LONG, () =>
    killOnCounter(withName(newName()), KILLS),
  );

  it.skipIf(given !== undefined)(
    'keeps every acknowledged write through kill -9 of the server (not of a given one)',
    async () => {
      const fs = await openFileSystem(new PostgresStorage(withName(newName())));
      let acknowledged = 0;
      let isKilled = false;
      const write = async (): Promise<void> => {
        for (let i = 0; !isKilled; i++) {
          await fs.writeFile(`/f${i}`, 'x');
          acknowledged = i + 1;
        }
      };
      const writing = write().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 300));
      isKilled = true;
      await server?.stop('SIGKILL');
      await writing;
      await server?.launch(bin as string);
      const fresh = await openFileSystem(new PostgresStorage(client, { name: 'default' }));
      await fresh.close();
      const names = await fs.readdir('/');
      expect(names.length).toBeGreaterThanOrEqual(acknowledged);
      await fs.close();
    },
  );
});
