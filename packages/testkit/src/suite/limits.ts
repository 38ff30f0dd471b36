import { isFsError } from '@scratchfs/core';
import { equal, ok } from './assert.js';
import { type Add, plant } from './context.js';

export function limitCases(add: Add): void {
  add('stats counts sizes, files, directories and nodes, without the root', async ({ fs }) => {
    equal(await fs.stats(), { totalSize: 0, fileCount: 0, directoryCount: 0, nodeCount: 0 });
    await plant(fs, { '/a/b/f': '12345', '/g': 'é' });
    equal(await fs.stats(), { totalSize: 7, fileCount: 2, directoryCount: 2, nodeCount: 4 });
    await fs.cp('/a', '/c', { recursive: true });
    equal(await fs.stats(), { totalSize: 12, fileCount: 3, directoryCount: 4, nodeCount: 7 });
    await fs.rename('/a', '/c/b/a');
    await fs.truncate('/g', 100);
    equal(await fs.stats(), { totalSize: 110, fileCount: 3, directoryCount: 4, nodeCount: 7 });
    await fs.rm('/c', { recursive: true });
    equal(await fs.stats(), { totalSize: 100, fileCount: 1, directoryCount: 0, nodeCount: 1 });
  });

  add(
    'maxTotalSize is exact for every operation that adds bytes, and the error has limit, used and requested',
    async ({ fs, fails }) => {
      await plant(fs, { '/a': '1234567', '/d': null });
      await fs.writeFile('/b', '890');
      const cases: readonly [() => Promise<unknown>, number][] = [
        [() => fs.writeFile('/c', 'x'), 11],
        [() => fs.writeFile('/a', '12345678'), 11],
        [() => fs.appendFile('/a', 'xyz'), 13],
        [() => fs.truncate('/a', 9), 12],
        [() => fs.cp('/b', '/c'), 13],
        [() => fs.copyFile('/a', '/b'), 14],
        [() => fs.symlink('é', '/l'), 12],
        [() => fs.editFile('/b', '8', '888'), 12],
        [() => fs.writeFile('/a', '123456789', { flag: 'r+' }), 12],
        [() => fs.cp('/d2', '/e', { recursive: true }), 13],
      ];
      for (const [i, [grow, requested]] of cases.entries()) {
        if (i === 9) {
          await fs.mkdir('/d2');
          await fs.rename('/b', '/d2/b');
        }
        const error = await fails(grow, 'ENOSPC');
        equal(
          [error.limit, error.used, error.requested, error.allowed],
          ['maxTotalSize', 10, requested, 10],
          `way ${i}`,
        );
      }
      await fs.mkdir('/more');
      await fs.link('/a', '/more/a');
      await fs.writeFile('/empty', '');
      await fs.writeFile('/a', '7654321');
      await fs.truncate('/a', 0);
      await fs.writeFile('/c', '1234567');
      equal((await fs.stats()).totalSize, 10);
    },
    { limits: { maxTotalSize: 10 } },
  );

  add(
    'cp may use the bytes of the file that it replaces, unless that file has another name',
    async ({ fs, fails }) => {
      await plant(fs, { '/a': '123456', '/s': '7890' });
      await fs.link('/a', '/b');
      equal((await fails(() => fs.cp('/s', '/a'), 'ENOSPC')).requested, 14);
      await fs.unlink('/b');
      await fs.cp('/s', '/a');
      equal([await fs.readText('/a'), (await fs.stats()).totalSize], ['7890', 8]);
    },
    { limits: { maxTotalSize: 10 } },
  );

  add(
    'maxFileSize is exact for every operation that grows a file, and fails with EFBIG',
    async ({ fs, fails }) => {
      await fs.writeFile('/a', '12345');
      const cases: readonly [() => Promise<unknown>, number, number][] = [
        [() => fs.writeFile('/b', '123456'), 0, 6],
        [() => fs.writeFile('/a', '1234567'), 5, 7],
        [() => fs.appendFile('/a', 'x'), 5, 6],
        [() => fs.truncate('/a', 6), 5, 6],
        [() => fs.editFile('/a', '1', '11'), 5, 6],
      ];
      for (const [i, [grow, used, requested]] of cases.entries()) {
        const error = await fails(grow, 'EFBIG');
        equal(
          [error.limit, error.used, error.requested, error.allowed],
          ['maxFileSize', used, requested, 5],
          `way ${i}`,
        );
      }
      const handle = await fs.open('/a', 'r+');
      await fails(() => handle.write('x', 5), 'EFBIG');
      await fails(() => handle.write('xyz', 3), 'EFBIG');
      await fails(() => handle.truncate(6), 'EFBIG');
      await handle.write('xy', 3);
      await handle.close();
      equal(await fs.readText('/a'), '123xy');
      await fs.writeFile('/c', '12345');
    },
    { limits: { maxFileSize: 5 } },
  );

  add(
    'maxNodeCount counts every name and holds for every operation that creates one',
    async ({ fs, fails }) => {
      await plant(fs, { '/a': 'x', '/d/f': '' });
      const cases: readonly [() => Promise<unknown>, number][] = [
        [() => fs.writeFile('/b', ''), 4],
        [() => fs.mkdir('/b'), 4],
        [() => fs.mkdir('/b/c/d', { recursive: true }), 6],
        [() => fs.symlink('x', '/b'), 4],
        [() => fs.link('/a', '/b'), 4],
        [() => fs.cp('/a', '/b'), 4],
        [() => fs.cp('/d', '/e', { recursive: true }), 5],
        [() => fs.copyFile('/a', '/b'), 4],
        [() => fs.open('/b', 'w'), 4],
        [() => fs.mkdtemp('/t-'), 4],
        [() => fs.appendFile('/b', ''), 4],
      ];
      for (const [i, [grow, requested]] of cases.entries()) {
        const error = await fails(grow, 'ENOSPC');
        equal([error.limit, error.used, error.requested, error.allowed], ['maxNodeCount', 3, requested, 3], `way ${i}`);
      }
      await fs.rename('/a', '/d/a');
      await fs.rename('/d/a', '/d/f');
      await fs.writeFile('/b', '');
      equal((await fs.stats()).nodeCount, 3);
    },
    { limits: { maxNodeCount: 3 } },
  );

  add(
    'a limit of 0 allows nothing',
    async ({ fs, fails }) => {
      await fails(() => fs.writeFile('/a', 'x'), 'ENOSPC', 'EFBIG');
      await fs.writeFile('/a', '');
      await fs.mkdir('/d');
      equal((await fs.stats()).nodeCount, 2);
    },
    { limits: { maxTotalSize: 0, maxFileSize: 0 } },
  );

  add(
    'at a limit one writer of many wins and the counters stay exact',
    async ({ fs }) => {
      const results = await Promise.allSettled(
        Array.from({ length: 20 }, (_, i) => fs.writeFile(`/f${i}`, '1234567890')),
      );
      const refused = results.filter((result) => result.status === 'rejected');
      for (const result of refused) ok(isFsError(result.reason, 'ENOSPC'), `refused with ${String(result.reason)}`);
      equal(refused.length, 15);
      equal(await fs.stats(), { totalSize: 50, fileCount: 5, directoryCount: 0, nodeCount: 5 });
    },
    { limits: { maxTotalSize: 50 } },
  );

  add(
    'overwriting at the limit needs room for the difference only',
    async ({ fs, fails }) => {
      await plant(fs, { '/a': '12345', '/b': '12345' });
      await fs.writeFile('/a', '54321');
      await fs.rename('/a', '/b');
      await fs.writeFile('/c', '12345');
      await fs.copyFile('/b', '/c');
      await fs.cp('/b', '/c');
      await fails(() => fs.appendFile('/c', 'x'), 'ENOSPC');
    },
    { limits: { maxTotalSize: 10 } },
  );

  add(
    'limits are readable, and a fork has its own under the same limits',
    async ({ fs, fails }) => {
      equal({ ...fs.limits }, { maxTotalSize: 5 });
      await fs.writeFile('/a', '12345');
      if (!fs.capabilities.forks) return;
      const fork = await fs.fork();
      await fails(() => fork.writeFile('/b', 'x'), 'ENOSPC');
      await fork.unlink('/a');
      await fork.writeFile('/b', 'x');
      await fails(() => fs.writeFile('/b', 'x'), 'ENOSPC');
      await fork.close();
    },
    { limits: { maxTotalSize: 5 } },
  );
}
