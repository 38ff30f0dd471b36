import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileSystem } from '@scratchfs/core';
import { afterAll, describe, expect, it } from 'vitest';
import { Directories } from '../testing/directories.js';
import { openWorkspace } from '../workspace.js';

const directories = new Directories();
afterAll(() => directories.remove());

const FILES = { 'a.txt': 'a\n', 'b.txt': 'b\n', 'dir/c.txt': 'c\n', 'old/d.txt': 'd\n', link: '-> a.txt' };

/** A directory whose files are older than the two seconds within which a stat does not tell changes. */
function oldDirectory(): string {
  const disk = directories.directory(FILES);
  for (const name of Object.keys(FILES)) if (name !== 'link') utimesSync(join(disk, name), 1_000, 1_000);
  return disk;
}

type Change = (fileSystem: FileSystem) => Promise<unknown>;
type DiskChange = (disk: string) => void;
const nothing: DiskChange = () => undefined;
const write =
  (name: string, text = 'person\n'): DiskChange =>
  (disk) =>
    writeFileSync(join(disk, name), text);

const newFile: Change = (fs) => fs.writeFile('/dir/new.txt', 'x');
const newFiles: Change = async (fs) => {
  await fs.mkdir('/dir/n');
  await fs.writeFile('/dir/n/new.txt', 'x');
};
const byProgram: DiskChange = (disk) => {
  rmSync(join(disk, 'dir'), { recursive: true });
  writeFileSync(join(disk, 'dir'), '#!/bin/sh\n', { mode: 0o755 });
};
const byLink: DiskChange = (disk) => {
  rmSync(join(disk, 'dir'), { recursive: true });
  symlinkSync('old', join(disk, 'dir'));
};

const CASES: readonly (readonly [title: string, attempt: Change, person: DiskChange, codes: readonly string[]])[] = [
  ['a change of which the disk has nothing', (fs) => fs.writeFile('/a.txt', 'x\n'), write('b.txt'), []],
  [
    'a new file in a new directory',
    async (fs) => {
      await fs.mkdir('/n/e', { recursive: true });
      await fs.writeFile('/n/e/w.txt', 'x');
    },
    nothing,
    [],
  ],
  ['a removed file', (fs) => fs.rm('/a.txt'), nothing, []],
  ['a changed file that both have changed', (fs) => fs.writeFile('/a.txt', 'x\n'), write('a.txt'), ['content']],
  ['a change that both have made', (fs) => fs.writeFile('/a.txt', 'x\n'), write('a.txt', 'x\n'), []],
  [
    'a changed file that the person has removed',
    (fs) => fs.writeFile('/a.txt', 'x'),
    (disk) => rmSync(join(disk, 'a.txt')),
    ['removed'],
  ],
  ['a removed file that the person has changed', (fs) => fs.rm('/a.txt'), write('a.txt'), ['removed']],
  ['a file that both have created', (fs) => fs.writeFile('/new.txt', 'x'), write('new.txt'), ['exists']],
  [
    'a file in whose place the person has created a directory',
    (fs) => fs.writeFile('/new.txt', 'x'),
    (disk) => mkdirSync(join(disk, 'new.txt')),
    ['exists'],
  ],
  [
    'a changed mode of a file whose mode the person has changed',
    (fs) => fs.chmod('/a.txt', 0o600),
    (disk) => chmodSync(join(disk, 'a.txt'), 0o640),
    ['mode'],
  ],
  [
    'a link that both have changed',
    async (fs) => {
      await fs.rm('/link');
      await fs.symlink('b.txt', '/link');
    },
    (disk) => {
      rmSync(join(disk, 'link'));
      symlinkSync('dir', join(disk, 'link'));
    },
    ['content'],
  ],
  [
    'a link that leads out, in a new directory',
    async (fs) => {
      await fs.mkdir('/n');
      await fs.symlink('/etc/passwd', '/n/out');
    },
    nothing,
    ['refused'],
  ],
  [
    'a removed directory in which the person has changed a file',
    (fs) => fs.rm('/old', { recursive: true }),
    write('old/d.txt'),
    ['removed'],
  ],
  [
    'a moved file that the person has changed so that both merge',
    (fs) => fs.rename('/a.txt', '/moved.txt'),
    write('a.txt'),
    [],
  ],
  ['a file in a directory that the person has replaced by a program', newFile, byProgram, ['kind']],
  ['a file in a directory that the person has replaced by a link', newFile, byLink, ['kind']],
  ['files in a new directory above which there is a program now', newFiles, byProgram, ['kind', 'kind']],
  ['files in a new directory above which there is a link now', newFiles, byLink, ['kind', 'kind']],
  [
    'a new file where the person has made a pipe',
    newFile,
    (disk) => execFileSync('mkfifo', [join(disk, 'dir/new.txt')]),
    ['kind'],
  ],
];

describe('conflicts()', () => {
  it.each(CASES)('returns what a dry run of accept does for %s', async (_title, change, person, codes) => {
    const disk = oldDirectory();
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const attempt = await workspace.attempt();
    await change(attempt.fileSystem);
    person(disk);
    const dry = await attempt.accept({ dryRun: true, onConflict: 'skip' });
    expect(await attempt.conflicts()).toEqual(dry.conflicts);
    expect(dry.conflicts.map(({ code }) => code)).toEqual(codes);
  });

  it('creates no attempt', async () => {
    await using workspace = await openWorkspace(oldDirectory(), { store: 'memory:' });
    expect(await (await workspace.attempt()).conflicts()).toEqual([]);
    expect(await workspace.attempts()).toEqual([]);
  });

  it('is refused for a discarded attempt', async () => {
    await using workspace = await openWorkspace(oldDirectory(), { store: 'memory:' });
    const attempt = await workspace.attempt();
    await attempt.fileSystem.writeFile('/a.txt', 'x');
    await attempt.discard();
    await expect(attempt.conflicts()).rejects.toMatchObject({ code: 'closed' });
  });
});
