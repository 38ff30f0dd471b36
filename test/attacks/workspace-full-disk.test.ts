import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openWorkspace } from '@scratchfs/workspace';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { mountSmallDisk, unmountSmallDisk, whyNoDisk } from './small-disk.js';

const reason = whyNoDisk();
let top: string;
let disk: string;

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'full-disk-'));
  disk = join(top, 'disk');
  mkdirSync(disk);
  mkdirSync(join(top, 'project'));
  writeFileSync(join(top, 'project/a.txt'), 'one');
  if (reason === undefined) mountSmallDisk(disk);
});
afterEach(() => {
  if (reason === undefined) unmountSmallDisk(disk);
  rmSync(top, { recursive: true, force: true });
});

it.skipIf(reason !== undefined)(
  `a full disk under the store loses no operation and makes no half one${reason ? ` (${reason})` : ''}`,
  async () => {
    const open = () => openWorkspace(join(top, 'project'), { store: pathToFileURL(join(disk, 'store')).href });
    const workspace = await open();
    const attempt = await workspace.attempt();
    let done = 0;
    let failure: { kind?: string; code?: string } | undefined;
    while (failure === undefined && done < 200) {
      try {
        await attempt.fileSystem.writeFile(`/${done}.bin`, new Uint8Array(40_000).fill(done));
        done++;
      } catch (error) {
        failure = error as { kind?: string };
      }
    }
    expect(failure?.kind ?? failure?.code).toMatch(/full|ENOSPC/);
    expect(done).toBeGreaterThan(2);
    // This process and another one see the finished operations, and the directory is as it was.
    await using other = await open();
    for (const one of [attempt, await other.attempt(attempt.name)]) {
      expect(await one.head()).toBe(done);
      expect((await one.fileSystem.readdir('/')).length).toBe(done + 1);
      expect(
        Buffer.from(await one.fileSystem.readFile(`/${done - 1}.bin`)).equals(Buffer.alloc(40_000, done - 1)),
      ).toBe(true);
    }
    expect(readdirSync(join(top, 'project'))).toEqual(['a.txt']);
    expect(readFileSync(join(top, 'project/a.txt'), 'utf8')).toBe('one');
    await workspace.close();
  },
);
