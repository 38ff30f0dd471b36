import { appendFileSync, lstatSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileSystem } from '@scratchfs/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hostFileSystem } from './host-file-system.js';
import { versionOf as versionOfStat } from './host-reader.js';

describe('ifVersion on a directory of the host', () => {
  let top: string;
  let fs: FileSystem;
  const versionOf = async (path: string): Promise<string> => (await fs.lstat(path)).version;

  beforeEach(() => {
    top = mkdtempSync(join(tmpdir(), 'scratchfs-versions-'));
    fs = hostFileSystem(top);
  });
  afterEach(async () => {
    await fs.close();
    rmSync(top, { recursive: true, force: true });
  });

  it('lets a change through after changes of its own', async () => {
    await fs.writeFile('/f', 'one');
    await fs.writeFile('/f', 'four', { ifVersion: await versionOf('/f') });
    await fs.editFile('/f', 'four', 'fives', { ifVersion: await versionOf('/f') });
    await fs.appendFile('/f', '!', { ifVersion: await versionOf('/f') });
    await fs.rename('/f', '/g', { ifVersion: await versionOf('/f') });
    expect(readFileSync(join(top, 'g'), 'utf8')).toBe('fives!');
    await fs.rm('/g', { ifVersion: await versionOf('/g') });
    await fs.mkdir('/d');
    await fs.rename('/d', '/e', { ifVersion: await versionOf('/d') });
    await fs.rm('/e', { recursive: true, ifVersion: await versionOf('/e') });
    expect(await fs.readdir('/')).toEqual([]);
  });

  it('fails after a change by another program, and leaves that change', async () => {
    await fs.writeFile('/f', 'one');
    const ifVersion = await versionOf('/f');
    appendFileSync(join(top, 'f'), ' more');
    const calls = [
      () => fs.writeFile('/f', 'two', { ifVersion }),
      () => fs.appendFile('/f', 'two', { ifVersion }),
      () => fs.editFile('/f', 'one', 'two', { ifVersion }),
      () => fs.rename('/f', '/g', { ifVersion }),
      () => fs.rm('/f', { ifVersion }),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'ECHANGED', expected: ifVersion });
    expect(readFileSync(join(top, 'f'), 'utf8')).toBe('one more');
  });

  it('notices a file of the same size and times that has taken the name', async () => {
    writeFileSync(join(top, 'f'), 'one');
    writeFileSync(join(top, 'other'), 'two');
    await fs.utimes('/f', 5, 5);
    await fs.utimes('/other', 5, 5);
    const ifVersion = await versionOf('/f');
    renameSync(join(top, 'other'), join(top, 'f'));
    await expect(fs.writeFile('/f', 'six', { ifVersion })).rejects.toMatchObject({ code: 'ECHANGED' });
    expect(readFileSync(join(top, 'f'), 'utf8')).toBe('two');
  });

  it('depends on the inode, which is all that differs after two writes within a tick of the clock', () => {
    writeFileSync(join(top, 'f'), 'one');
    const stat = lstatSync(join(top, 'f'), { bigint: true });
    const other = Object.assign(Object.create(stat) as typeof stat, { ino: stat.ino + 1n });
    expect(versionOfStat(other)).not.toBe(versionOfStat(stat));
  });

  it('lets one of several writers through', async () => {
    await fs.writeFile('/f', 'start');
    const ifVersion = await versionOf('/f');
    const writers = Array.from({ length: 4 }, (_, i) => fs.writeFile('/f', 'x'.repeat(i + 6), { ifVersion }));
    const outcomes = await Promise.allSettled(writers);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});
