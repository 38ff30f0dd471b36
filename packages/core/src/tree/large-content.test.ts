import { expect, it } from 'vitest';
import { openFileSystem } from '../create-file-system.js';
import { rootMeta } from '../engine/defaults.js';
import { MemoryExecutor } from '../engine/memory/memory-executor.js';
import { ExecutorSyncStorage } from '../executor-storage.js';
import type { SyncFileSystem } from '../file-system.js';

const SIZE = 200_000;
const bytes = (value: number, length = SIZE): Uint8Array => new Uint8Array(length).fill(value);
const firstOf = (fs: SyncFileSystem, path: string): number => fs.readFileSync(path)[0] as number;

function write(fs: SyncFileSystem, path: string, value: number): void {
  const handle = fs.openSync(path, 'r+');
  handle.writeSync(bytes(value, 1), 0);
  handle.closeSync();
}

it.each([
  ['bytes', bytes(65)],
  ['text', 'A'.repeat(SIZE)],
])('changing a large file of %s in place does not change its other copies', (_, content) => {
  const fs = openFileSystem(new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(0)), () => 0)) as SyncFileSystem;
  fs.writeFileSync('/f', content);
  fs.copyFileSync('/f', '/copy');
  write(fs, '/f', 1);
  const before = fs.checkpointSync();
  const fork = fs.forkSync();
  write(fs, '/f', 2);
  write(fork, '/f', 3);
  fs.cpSync('/f', '/second');
  write(fs, '/f', 4);
  expect([firstOf(fs, '/f'), firstOf(fs, '/copy'), firstOf(fs, '/second'), firstOf(fork, '/f')]).toEqual([4, 65, 2, 3]);
  expect(() =>
    fs.transactionSync((inside) => {
      write(inside, '/f', 5);
      throw new Error('not that');
    }),
  ).toThrow('not that');
  expect(firstOf(fs, '/f')).toBe(4);
  fs.rollbackSync(before);
  expect([firstOf(fs, '/f'), firstOf(fs, '/copy')]).toEqual([1, 65]);
});
