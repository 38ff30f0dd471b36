import { asyncStorage, backendOf } from '@scratchfs/core';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from './memory-file-system.js';
import { workingCopySuite } from './suite/working-copy-suite.js';
import { randomRounds } from './working-copy/rounds.js';
import { uncounted } from './working-copy/uncounted.js';

workingCopySuite({
  name: 'Working copy of the async form of memory',
  test: { describe, it: (name, body) => it(name, body, 60_000) },
  create: () => {
    const backend = backendOf(memoryStorage({ clock: () => 0 }));
    return { ours: asyncStorage(backend), theirs: asyncStorage(backend) };
  },
});

it('merges random changes over a storage that does not count the entries under a directory', async () => {
  for (let seed = 1; seed <= 4; seed++) {
    const backend = uncounted(backendOf(memoryStorage({ clock: () => 0 })));
    const storage = asyncStorage(backend);
    const { clean } = await randomRounds({ ours: storage, theirs: storage }, seed, 5);
    expect(clean).toBeGreaterThan(0);
  }
});
