import { openFileSystem, type SyncFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import { Random } from '@scratchfs/testkit';
import { describe, expect, it } from 'vitest';
import { History } from './history.js';

/** Names that begin with each other stand in another order in git's trees; some are longer as bytes than as text. */
const NAMES = ['a', 'a.b', 'a-b', 'a0', 'ab', 'ä', '€.md', 'z', 'deep'];

function nameIn(random: Random): string {
  return random.pick(NAMES);
}

function pathIn(random: Random): string {
  const names = Array.from({ length: random.below(3) }, () => nameIn(random));
  // At the top it is left out, further down it is refused.
  return `/${[random.chance(0.1) ? '.git' : nameIn(random), ...names].join('/')}`;
}

/** What fails changes nothing: a file as a parent, a directory moved into itself. */
function edit(fs: SyncFileSystem, random: Random): void {
  const path = pathIn(random);
  const edits = [
    () => fs.writeFileSync(path, `content ${random.below(5)}`),
    () => fs.writeFileSync(path, `content ${random.below(5)}`),
    () => fs.mkdirSync(path, { recursive: true }),
    () => fs.rmSync(path, { recursive: true, force: true }),
    () => fs.chmodSync(path, random.pick([0o644, 0o755])),
    () => fs.renameSync(path, pathIn(random)),
    () => fs.cpSync(path, pathIn(random), { recursive: true }),
    () => fs.symlinkSync(nameIn(random), path),
    () => fs.linkSync(path, pathIn(random)),
  ];
  try {
    random.pick(edits)();
  } catch {}
}

describe('A history that remembers directories', () => {
  it.each([1, 2, 3, 4])('finds the same trees as one that knows nothing (%i)', async (seed) => {
    const random = new Random(seed);
    const fs = openFileSystem(new MemoryStorage());
    const history = new History();
    const checkpoints = [fs.checkpointSync()];
    for (let round = 0; round < 150; round++) {
      for (let edits = random.below(6); edits > 0; edits--) edit(fs, random);
      if (random.chance(0.1)) checkpoints.push(fs.checkpointSync());
      if (random.chance(0.1)) fs.rollbackSync(random.pick(checkpoints));
      expect(await history.writeTree(fs)).toBe(await new History().writeTree(fs));
    }
  });
});
