import { hostname } from 'node:os';
import { openFileSystem } from '@scratchfs/core';
import { DiskStorage } from '../disk-storage.js';

/**
 * A client in a process of its own: prints the name of its host, then increments the number in `/counter` and prints
 * it, a given number of times. Arguments: directory, number of increments, prefix of the names of its own ten files,
 * one of which each increment also writes.
 */
const [directory = '', times = '1', own = 'own'] = process.argv.slice(2);
const fs = await openFileSystem(new DiskStorage(directory, { durability: 'process' }));
process.stdout.write(`ready on ${hostname()}\n`);
for (let i = 0; i < Number(times); i++) {
  const value = await fs.transaction(async (tx) => {
    const next = Number(await tx.readText('/counter')) + 1;
    await tx.writeFile('/counter', String(next));
    await tx.writeFile(`/${own}-${next % 10}`, String(next).repeat(100));
    return next;
  });
  process.stdout.write(`${value}\n`);
}
await fs.close();
