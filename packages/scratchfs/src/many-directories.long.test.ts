import { expect, test } from 'vitest';
import { createFileSystem } from './index.js';

/** Maximum number of directories whose locations are cached. If there are more, the cache is cleared. */
const REMEMBERED = 16_384;

const fs = createFileSystem({
  files: (function* () {
    for (let i = 0; i < REMEMBERED + 8; i++) yield [`/many/${i}/f`, ''] as const;
    yield ['/a/b/c/old', 'old'] as const;
  })(),
});

test('no write after a checkpoint is lost, whenever paths of directories are evicted from the cache', () => {
  // The loop moves the eviction over each step: the lookups of the parents, and the write.
  for (let looked = REMEMBERED - 8; looked <= REMEMBERED + 4; looked++) {
    const fork = fs.forkSync();
    for (let i = 0; i < looked; i++) fork.statSync(`/many/${i}/f`);
    fork.checkpointSync();
    fork.writeFileSync('/a/b/c/x', 'x');
    fork.writeFileSync('/a/y', 'y');
    fork.renameSync('/a/b/c/old', '/a/new');
    fork.writeFileSync('/a/b/z', 'z');
    const found = ['/a/b/c/x', '/a/y', '/a/new', '/a/b/z'].map((path) =>
      fork.existsSync(path) ? fork.readTextSync(path) : undefined,
    );
    expect({ looked, found, names: fork.readdirSync('/a') }).toEqual({
      looked,
      found: ['x', 'y', 'old', 'z'],
      names: ['b', 'new', 'y'],
    });
    expect(fork.readdirSync('/a/b/c')).toEqual(['x']);
  }
});

test('a copy into more existing directories than are cached is complete', () => {
  const fork = fs.forkSync();
  for (let i = 0; i < REMEMBERED + 8; i++) fork.mkdirSync(`/target/${i}`, { recursive: true });
  fork.checkpointSync();
  fork.cpSync('/many', '/target', { recursive: true });
  fork.writeFileSync('/target/last', '');
  for (let i = 0; i < REMEMBERED + 8; i++) if (!fork.existsSync(`/target/${i}/f`)) expect(i).toBe('copied');
  expect(fork.existsSync('/target/last')).toBe(true);
});
