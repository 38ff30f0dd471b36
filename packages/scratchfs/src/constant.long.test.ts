import { expect, it } from 'vitest';
import { createFileSystem, type SyncFileSystem } from './index.js';

const [SMALL, LARGE] = [1_000, 100_000];

function tree(files: number): SyncFileSystem {
  const fs = createFileSystem();
  fs.mkdirSync('/t');
  for (let d = 0; d < files / 100; d++) {
    fs.mkdirSync(`/t/${d}`);
    for (let f = 0; f < 100; f++) fs.writeFileSync(`/t/${d}/${f}`, 'text');
  }
  return fs;
}

/**
 * Returns the CPU milliseconds of some hundred calls, the least of seven runs, because other work can only add to it.
 */
function costOf(operation: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 7; run++) {
    const before = process.cpuUsage();
    for (let i = 0; i < 300; i++) operation();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

const OPERATIONS: Readonly<Record<string, (fs: SyncFileSystem) => void>> = {
  'a checkpoint and a rollback behind a write': (fs) => {
    const before = fs.checkpointSync();
    fs.writeFileSync('/t/0/0', 'changed');
    fs.rollbackSync(before);
    fs.dropSync(before);
  },
  'a fork that is written to': (fs) => fs.forkSync().writeFileSync('/t/1/1', 'changed'),
  'the statistics': (fs) => void fs.statsSync(),
  'a directory renamed there and back': (fs) => {
    fs.renameSync('/t', '/u');
    fs.renameSync('/u', '/t');
  },
  'all removed in a fork': (fs) => fs.forkSync().rmSync('/t', { recursive: true }),
  'a transaction that writes': (fs) => fs.transactionSync((inside) => inside.writeFileSync('/t/2/2', 'changed')),
};

const [small, large] = [tree(SMALL), tree(LARGE)];

it.each(Object.entries(OPERATIONS))(
  '%s takes the same time among 1,000 files and 100,000',
  { timeout: 60_000 },
  (_, operation) => {
    let [few, many] = [0, Number.POSITIVE_INFINITY];
    for (let attempt = 0; attempt < 4 && many >= 8 * few + 5; attempt++)
      [few, many] = [costOf(() => operation(small)), costOf(() => operation(large))];
    // Time proportional to the number of files would be a hundred times as much; names, nodes and caches cost a little
    // more.
    expect(many, `${few} ms among few`).toBeLessThan(8 * few + 5);
  },
);
