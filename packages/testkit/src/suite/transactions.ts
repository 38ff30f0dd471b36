import type { FileSystem, SyncFileSystem } from '@scratchfs/core';
import { differences, dump } from '../dump.js';
import { equal, ok, rejects } from './assert.js';
import { type Add, plant, utf8 } from './context.js';

export function transactionCases(add: Add): void {
  add(
    'a transaction is applied atomically and returns the result of its work',
    async ({ fs }) => {
      await plant(fs, { '/a': '1', '/b': '1' });
      const answer = await fs.transaction(async (tx) => {
        await tx.writeFile('/a', '2');
        equal(await tx.readText('/a'), '2', 'it sees its own writes');
        equal(await fs.readText('/a'), '1', 'others do not');
        await tx.mkdir('/d');
        await tx.rename('/b', '/d/b');
        return 'done';
      });
      equal(answer, 'done');
      equal([await fs.readText('/a'), await fs.readText('/d/b'), await fs.exists('/b')], ['2', '1', false]);
    },
    { promiseOnly: true },
  );

  add(
    'bytes that a transaction writes into a file that it has removed are visible to handles outside',
    async ({ fs }) => {
      await plant(fs, { '/f': 'old', '/g': 'old' });
      const [outer, kept] = [await fs.open('/f', 'r'), await fs.open('/g', 'r')];
      const write = async (tx: FileSystem, path: string): Promise<void> => {
        const handle = await tx.open(path, 'r+');
        await tx.unlink(path);
        await handle.write('new', 0);
        await handle.close();
      };
      await fs.transaction((tx) => write(tx, '/f'));
      equal(await outer.readFile(), utf8('new'));
      const failed = fs.transaction(async (tx) => {
        await write(tx, '/g');
        throw new Error('changed my mind');
      });
      await rejects(() => failed, 'Error');
      equal(await kept.readFile(), utf8('old'));
      await outer.close();
      await kept.close();
    },
    { promiseOnly: true },
  );

  add(
    'later steps of a transaction read and change the result of earlier ones',
    async ({ fs }) => {
      await plant(fs, { '/f': 'aaaa', '/linked': 'aaaa' });
      await fs.link('/linked', '/other');
      for (const path of ['/f', '/linked', '/other']) await fs.readText(path);
      const patch = async (tx: FileSystem, path: string, text: string, position: number): Promise<void> => {
        const handle = await tx.open(path, 'r+');
        await handle.write(text, position);
        await handle.close();
      };
      await fs.transaction(async (tx) => {
        await tx.writeFile('/new', 'aaaa');
        await patch(tx, '/new', 'b', 1);
        await tx.chmod('/f', 0o600);
        await patch(tx, '/f', 'b', 1);
        await patch(tx, '/f', 'c', 3);
        await tx.writeFile('/made', 'aaaa');
        await tx.link('/made', '/made-too');
        await patch(tx, '/made-too', 'b', 0);
        await tx.utimes('/other', 1, 2);
        await patch(tx, '/linked', 'bb', 2);
        await tx.writeFile('/long', 'x'.repeat(200_000));
        await patch(tx, '/long', 'y'.repeat(10), 100_000);
        await tx.truncate('/long', 150_000);
        await tx.appendFile('/long', 'z');
      });
      const texts = [];
      for (const path of ['/new', '/f', '/linked', '/other', '/made']) texts.push(await fs.readText(path));
      equal(texts, ['abaa', 'abac', 'aabb', 'aabb', 'baaa']);
      const long = `${'x'.repeat(100_000)}${'y'.repeat(10)}${'x'.repeat(49_990)}z`;
      ok((await fs.readText('/long')) === long, 'a long file too');
      await fs.editFile('/new', 'ba', 'BA');
      await fs.appendFile('/f', '!');
      equal([await fs.readText('/new'), await fs.readText('/f')], ['aBAa', 'abac!']);
    },
    { promiseOnly: true },
  );

  add(
    'bytes that a transaction writes into files that it has removed count against the limit',
    async ({ fs }) => {
      await plant(fs, { '/f': 'x', '/g': 'x' });
      const outer = [await fs.open('/f', 'r'), await fs.open('/g', 'r')];
      await fs.transaction(async (tx) => {
        const [f, g] = [await tx.open('/f', 'r+'), await tx.open('/g', 'r+')];
        await tx.unlink('/f');
        await tx.unlink('/g');
        await f.write('y'.repeat(90), 0);
        await rejects(() => g.write('z'.repeat(90), 0), 'ENOSPC');
        await rejects(() => tx.writeFile('/new', 'z'.repeat(90)), 'ENOSPC');
        await g.write('z'.repeat(9), 0);
      });
      const sizes = [];
      for (const handle of outer) sizes.push((await handle.stat()).size);
      equal(sizes, [90, 9]);
      await rejects(() => fs.writeFile('/new', 'zz'), 'ENOSPC');
      for (const handle of outer) await handle.close();
      await fs.writeFile('/new', 'z'.repeat(100));
    },
    { limits: { maxTotalSize: 100 }, promiseOnly: true },
  );

  add(
    'a transaction that rejects changes nothing',
    async ({ fs }) => {
      await plant(fs, { '/a': '1' });
      const before = await dump(fs);
      const reason = new Error('changed my mind');
      const error = await rejects(
        () =>
          fs.transaction(async (tx) => {
            await tx.writeFile('/a', '2');
            await tx.mkdir('/d/e', { recursive: true });
            throw reason;
          }),
        'Error',
      );
      equal(error === reason, true, 'the reason is the one thrown');
      equal(differences(before, await dump(fs)), []);
    },
    { promiseOnly: true },
  );

  add(
    'the work of a transaction may catch the error of an operation and go on',
    async ({ fs }) => {
      await fs.transaction(async (tx) => {
        await tx.writeFile('/a', '1');
        await rejects(() => tx.mkdir('/a'), 'EEXIST');
        await tx.writeFile('/b', '2');
      });
      equal(await fs.readdir('/'), ['a', 'b']);
    },
    { promiseOnly: true },
  );

  add(
    'concurrent transactions that increment one counter lose no increment',
    async ({ fs }) => {
      await fs.writeFile('/counter', '0');
      const increment = async (): Promise<void> =>
        fs.transaction(async (tx) => tx.writeFile('/counter', String(Number(await tx.readText('/counter')) + 1)));
      await Promise.all(Array.from({ length: 8 }, increment));
      equal(await fs.readText('/counter'), '8');
    },
    { promiseOnly: true },
  );

  add(
    'a transaction keeps concurrent changes of others',
    async ({ fs }) => {
      await plant(fs, { '/mine': '0', '/theirs': '0' });
      let runs = 0;
      await fs.transaction(async (tx) => {
        runs += 1;
        await tx.writeFile('/mine', '1');
        if (runs === 1) await fs.writeFile('/theirs', '1');
      });
      equal([await fs.readText('/mine'), await fs.readText('/theirs')], ['1', '1']);
      ok(runs <= 2, `it ran ${runs} times`);
    },
    { promiseOnly: true },
  );

  add(
    'the filesystem inside a transaction is closed with the transaction, and transactions do not nest',
    async ({ fs }) => {
      let leaked: FileSystem | undefined;
      await fs.transaction(async (tx) => {
        leaked = tx;
        await tx.writeFile('/a', '1');
        let nested: unknown;
        try {
          await tx.transaction(async () => undefined);
        } catch (error) {
          nested = error;
        }
        ok(nested instanceof Error, 'a transaction in a transaction is refused');
      });
      const before = await dump(fs);
      let error: unknown;
      try {
        await leaked?.writeFile('/a', '2');
      } catch (late) {
        error = late;
      }
      ok(error instanceof Error, 'a write after the end is refused');
      equal(differences(before, await dump(fs)), []);
    },
    { promiseOnly: true },
  );

  add(
    'limits hold inside a transaction',
    async ({ fs }) => {
      await fs.transaction(async (tx) => {
        await tx.writeFile('/a', '12345');
        await rejects(() => tx.writeFile('/b', 'x'), 'ENOSPC');
        await tx.unlink('/a');
        await tx.writeFile('/b', '1234');
      });
      equal((await fs.stats()).totalSize, 4);
    },
    { promiseOnly: true, limits: { maxTotalSize: 5 } },
  );

  add(
    'an operation that fails half-way in a transaction leaves nothing, and the work may go on',
    async ({ fs }) => {
      await fs.transaction(async (tx) => {
        await plant(tx, { '/from/a': '12', '/from/b': '34', '/to/c': '' });
        await rejects(() => tx.cp('/from', '/to', { recursive: true }), 'ENOSPC');
        equal(await tx.readdir('/to'), ['c']);
        await tx.writeFile('/to/d', '5');
      });
      equal([await fs.readdir('/to'), (await fs.stats()).totalSize], [['c', 'd'], 5]);
    },
    { promiseOnly: true, limits: { maxTotalSize: 7 } },
  );

  add(
    'transactionSync behaves the same without promises',
    async ({ fs }) => {
      if (!('transactionSync' in fs)) return;
      const sync = fs as SyncFileSystem;
      equal(
        sync.transactionSync((tx) => {
          tx.writeFileSync('/a', '1');
          return tx.readTextSync('/a');
        }),
        '1',
      );
      const reason = new Error('no');
      await rejects(
        () =>
          sync.transactionSync((tx) => {
            tx.rmSync('/a');
            throw reason;
          }),
        'Error',
      );
      equal(await fs.readText('/a'), '1');
    },
    { promiseOnly: true },
  );

  add(
    'while transactionSync runs, access to the filesystem outside it throws EBUSY, and nothing is lost',
    async ({ fs }) => {
      if (!('transactionSync' in fs)) return;
      const sync = fs as SyncFileSystem;
      sync.writeFileSync('/a', '1');
      const refused = sync.transactionSync((tx) => {
        tx.writeFileSync('/a', '2');
        return [
          () => sync.readTextSync('/a'),
          () => sync.writeFileSync('/outer', 'x'),
          () => sync.transactionSync((other) => other.writeFileSync('/outer', 'x')),
        ].map((change) => {
          try {
            change();
            return 'done';
          } catch (error) {
            return (error as { readonly code?: unknown }).code;
          }
        });
      });
      equal(refused, ['EBUSY', 'EBUSY', 'EBUSY']);
      equal([await fs.readText('/a'), await fs.exists('/outer')], ['2', false]);
    },
    { promiseOnly: true },
  );

  add(
    'forks and checkpoints are refused inside a transaction',
    async ({ fs }) => {
      const refused: ((tx: FileSystem) => Promise<unknown>)[] = [
        (tx) => tx.fork(),
        (tx) => tx.checkpoint(),
        (tx) => tx.checkpoints(),
        (tx) => tx.rollback('any'),
        (tx) => tx.drop('any'),
      ];
      await fs.transaction(async (tx) => {
        for (const call of refused) await rejects(() => call(tx), 'EINVAL');
      });
    },
    { promiseOnly: true },
  );
}
