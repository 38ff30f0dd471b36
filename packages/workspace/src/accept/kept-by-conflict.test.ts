import {
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { FileSystem } from '@scratchfs/core';
import { afterAll, describe, expect, it } from 'vitest';
import type { AcceptResult } from '../attempt-types.js';
import { Directories, type Entry } from '../testing/directories.js';
import { openWorkspace } from '../workspace.js';

const directories = new Directories();
afterAll(() => directories.remove());

interface Case {
  readonly disk: Readonly<Record<string, Entry>>;
  readonly agent: (fs: FileSystem) => Promise<unknown>;
  readonly person?: (disk: string) => void;
}

/** Accepts what an agent did after what a person did, first nothing because of conflicts, then what has none. */
async function accept({ disk: entries, agent, person }: Case) {
  const disk = directories.directory(entries);
  await using workspace = await openWorkspace(disk, { store: 'memory:' });
  const attempt = await workspace.attempt();
  await agent(attempt.fileSystem);
  person?.(disk);
  const before = listOf(disk);
  const failed = await attempt.accept();
  expect([failed.success, listOf(disk)]).toEqual([false, before]);
  const skipped = await attempt.accept({ onConflict: 'skip' });
  expect(skipped).toMatchObject({ success: true, conflicts: failed.conflicts });
  return { conflicts: codesOf(failed), accepted: skipped.accepted, message: failed.message, disk, files: listOf(disk) };
}

function codesOf({ conflicts }: AcceptResult): string[] {
  return conflicts.map(({ path, code }) => `${path} ${code}`);
}

function listOf(disk: string): string[] {
  return readdirSync(disk, { recursive: true, encoding: 'utf8' }).sort();
}

const read = (disk: string, path: string): string => readFileSync(join(disk, path), 'utf8');

describe('a directory that the attempt has moved', () => {
  const agent = async (fs: FileSystem): Promise<void> => {
    await fs.rename('/d', '/e');
    await fs.writeFile('/e/new', 'AGENT');
    await fs.writeFile('/other', 'AGENT');
  };
  it.each<[string, (disk: string) => void, string[]]>([
    [
      'replaced by another directory with the same file',
      (disk) => {
        renameSync(join(disk, 'd'), join(disk, 'away'));
        mkdirSync(join(disk, 'd'));
        renameSync(join(disk, 'away/x'), join(disk, 'd/x'));
      },
      ['away', 'd', 'd/x', 'other'],
    ],
    [
      'replaced by an empty directory',
      (disk) => {
        rmSync(join(disk, 'd'), { recursive: true });
        mkdirSync(join(disk, 'd'));
      },
      ['d', 'other'],
    ],
    ['removed', (disk) => rmSync(join(disk, 'd'), { recursive: true }), ['other']],
    [
      'replaced by a file',
      (disk) => {
        rmSync(join(disk, 'd'), { recursive: true });
        writeFileSync(join(disk, 'd'), 'PERSON');
      },
      ['d', 'other'],
    ],
  ])('is a conflict and never an empty directory where its source was %s', async (_, person, files) => {
    const found = await accept({ disk: { 'd/x': 'x' }, agent, person });
    expect(found).toMatchObject({ conflicts: ['/e directory'], accepted: ['/other'], files });
  });
});

describe('a file that the attempt has moved', () => {
  const agent = async (fs: FileSystem): Promise<void> => {
    await fs.rename('/a', '/b');
    await fs.writeFile('/other', 'AGENT');
  };

  it('is a conflict where the person has put a directory in its place', async () => {
    const person = (disk: string): void => {
      rmSync(join(disk, 'a'));
      mkdirSync(join(disk, 'a'));
    };
    const found = await accept({ disk: { a: 'a' }, agent, person });
    expect(found).toMatchObject({ conflicts: ['/b kind'], accepted: ['/other'], files: ['a', 'other'] });
  });

  it('is a conflict where the person has put a link in its place', async () => {
    const person = (disk: string): void => {
      rmSync(join(disk, 'a'));
      symlinkSync('c', join(disk, 'a'));
    };
    const found = await accept({ disk: { a: 'a' }, agent, person });
    expect(found).toMatchObject({ conflicts: ['/b kind'], accepted: ['/other'], files: ['a', 'other'] });
  });

  it('keeps its old path while the new one is in conflict', async () => {
    const edited = async (fs: FileSystem): Promise<void> => {
      await agent(fs);
      await fs.writeFile('/b', 'AGENT');
    };
    const person = (disk: string): void => writeFileSync(join(disk, 'a'), 'PERSON');
    const { disk, ...found } = await accept({ disk: { a: 'a' }, agent: edited, person });
    expect(found).toMatchObject({ conflicts: ['/b content'], accepted: ['/other'] });
    expect(read(disk, 'a')).toBe('PERSON');
  });
});

describe('a link that leads out of the directory', () => {
  it('is a conflict of its own, and all else can be accepted', async () => {
    const agent = async (fs: FileSystem): Promise<void> => {
      for (const name of ['l', 'm']) await fs.symlink('/a', `/${name}`);
      await fs.symlink('../..', '/up');
      await fs.writeFile('/a', 'AGENT');
    };
    const { disk, ...found } = await accept({ disk: { a: 'a' }, agent });
    expect(found).toMatchObject({ conflicts: ['/l refused', '/m refused', '/up refused'], accepted: ['/a'] });
    expect(found.message).toContain("the disk cannot take '/l', '/m', '/up'");
    expect(read(disk, 'a')).toBe('AGENT');
  });

  it('stays at its old path if it cannot be moved', async () => {
    const agent = async (fs: FileSystem): Promise<void> => {
      await fs.rename('/l', '/m');
      await fs.writeFile('/a', 'AGENT');
    };
    const { disk, ...found } = await accept({ disk: { a: 'a', l: '-> /etc' }, agent });
    expect(found).toMatchObject({ conflicts: ['/m refused'], accepted: ['/a'] });
    expect(readlinkSync(join(disk, 'l'))).toBe('/etc');
  });
});
