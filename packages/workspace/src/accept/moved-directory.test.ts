import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileSystem } from '@scratchfs/core';
import { afterAll, describe, expect, it } from 'vitest';
import { Directories } from '../testing/directories.js';
import { openWorkspace } from '../workspace.js';

const directories = new Directories();
afterAll(() => directories.remove());

const OLD = '1\n2\n3\n4\n5\n';
const PERSON = 'PERSON\n2\n3\n4\n5\n';

/** Accepts what an agent did, after a person has written `/d/f` on the disk. */
async function acceptAfter(agent: (fs: FileSystem) => Promise<void>) {
  const disk = directories.directory({ 'd/f': OLD, 'd/g': 'g' });
  await using workspace = await openWorkspace(disk, { store: 'memory:' });
  const attempt = await workspace.attempt();
  await agent(attempt.fileSystem);
  writeFileSync(join(disk, 'd/f'), PERSON);
  const { success, conflicts } = await attempt.accept();
  return { success, conflicts, read: (path: string) => readFileSync(join(disk, path), 'utf8') };
}

describe('an edit by the person under a directory that the attempt moved', () => {
  it.each([
    ['edited', 'content', async (fs: FileSystem) => fs.writeFile('/e/f', 'AGENT\n')],
    ['removed', 'removed', async (fs: FileSystem) => fs.rm('/e/f')],
  ])('conflicts where the attempt %s the file too', async (_, code, change) => {
    const { success, conflicts, read } = await acceptAfter(async (fs) => {
      await fs.rename('/d', '/e');
      await change(fs);
    });
    expect([success, conflicts.map((conflict) => conflict.code)]).toEqual([false, [code]]);
    expect(read('d/f')).toBe(PERSON);
  });

  it('is merged with another line of the attempt', async () => {
    const { success, read } = await acceptAfter(async (fs) => {
      await fs.rename('/d', '/e');
      await fs.writeFile('/e/f', '1\n2\n3\n4\nAGENT\n');
    });
    expect([success, read('e/f')]).toEqual([true, 'PERSON\n2\n3\n4\nAGENT\n']);
  });

  it.each([
    ['a new mode', '/e/f', async (fs: FileSystem) => fs.chmod('/e/f', 0o755)],
    ['a second move', '/h', async (fs: FileSystem) => fs.rename('/e/f', '/h')],
  ])('is kept with %s', async (_, path, change) => {
    const { success, read } = await acceptAfter(async (fs) => {
      await fs.rename('/d', '/e');
      await change(fs);
    });
    expect([success, read(path)]).toEqual([true, PERSON]);
  });
});
