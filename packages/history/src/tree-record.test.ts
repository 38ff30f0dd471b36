import { type FileSystem, openFileSystem } from '@scratchfs/core';
import { overlay } from '@scratchfs/core/layers';
import { asyncMemoryStorage, MemoryStorage } from '@scratchfs/memory';
import { Random } from '@scratchfs/testkit';
import { describe, expect, it } from 'vitest';
import { History } from './history.js';

/** Names, some of which git's trees sort differently because another name begins with them; some are not ASCII. */
const NAMES = ['a', 'a.b', 'a-b', 'a0', 'ab', 'ä', '€.md', 'z', 'deep'];

function nameIn(random: Random): string {
  return random.pick(NAMES);
}

function pathIn(random: Random): string {
  const names = Array.from({ length: random.below(3) }, () => nameIn(random));
  // The name `.git` is left out at the root and refused under it.
  return `/${[random.chance(0.1) ? '.git' : nameIn(random), ...names].join('/')}`;
}

/** Makes a random change, which may fail without effect: a file as a parent, a directory moved into itself. */
async function edit(fs: FileSystem, random: Random): Promise<void> {
  const path = pathIn(random);
  const edits = [
    () => fs.writeFile(path, `content ${random.below(5)}`),
    () => fs.writeFile(path, `content ${random.below(5)}`),
    () => fs.appendFile(path, '!'),
    () => fs.mkdir(path, { recursive: true }),
    () => fs.rm(path, { recursive: true, force: true }),
    () => fs.chmod(path, random.pick([0o644, 0o755])),
    () => fs.chmod(`/${nameIn(random)}`, random.pick([0o644, 0o755])),
    () => fs.rename(path, pathIn(random)),
    () => fs.cp(path, pathIn(random), { recursive: true }),
    () => fs.symlink(nameIn(random), path),
    () => fs.link(path, pathIn(random)),
  ];
  try {
    await random.pick(edits)();
  } catch {}
}

async function filled(fs: FileSystem, random: Random): Promise<FileSystem> {
  for (let edits = 0; edits < 60; edits++) await edit(fs, random);
  return fs;
}

const FORMS: Readonly<Record<string, (random: Random) => Promise<FileSystem>>> = {
  'in memory': async () => openFileSystem(new MemoryStorage()),
  remote: () => openFileSystem(asyncMemoryStorage()),
  'over another in memory': async (random) => overlay(await filled(openFileSystem(new MemoryStorage()), random)),
  'over another remote one': async (random) =>
    overlay(await filled(await openFileSystem(asyncMemoryStorage()), random)),
};

describe('a history with records of directories', () => {
  describe.each(Object.entries(FORMS))('of a filesystem %s', (_, open) => {
    it.each([1, 2, 3, 4])('finds the same trees as a history without records (%i)', async (seed) => {
      const random = new Random(seed);
      const fs = await open(random);
      const history = new History();
      const checkpoints = fs.capabilities.checkpoints ? [await fs.checkpoint()] : [];
      for (let round = 0; round < 60; round++) {
        for (let edits = random.below(6); edits > 0; edits--) await edit(fs, random);
        const isKept = checkpoints.length > 0 && random.chance(0.1);
        if (isKept) checkpoints.push(await fs.checkpoint());
        if (checkpoints.length > 0 && random.chance(0.1)) await fs.rollback(random.pick(checkpoints));
        expect(await history.writeTree(fs)).toBe(await new History().writeTree(fs));
      }
    });
  });
});
