import { describe, expect, it } from 'vitest';
import type { Guard } from '../engine/guard.js';
import type { FileSystem } from '../file-system.js';
import { observe } from '../layers/observe.js';
import { overlay } from '../layers/overlay.js';
import { restrict } from '../layers/restrict.js';
import { asyncSample, promises, sample } from '../testing/sample-file-system.js';
import type { FileSystemDiff } from './diff.js';
import { diffFileSystems, diffFileSystemsSync } from './diff-file-systems.js';

const FILES = { '/d/f': 'text', '/d/g': 'more', '/e/f': 'other', '/z': 'last' };

const remote = (): Promise<FileSystem> => asyncSample(FILES);

const forms: Readonly<Record<string, () => Promise<FileSystem>>> = {
  memory: async () => sample(FILES),
  'asynchronous memory': remote,
  observe: async () => observe(sample(FILES), () => {}),
  overlay: async () => overlay(sample(FILES)),
  'overlay of promises': async () => overlay(promises(sample(FILES))),
};

const pathsOf = ({ added, removed, changed }: FileSystemDiff): unknown => ({
  added: added.map(({ path }) => path),
  removed: removed.map(({ path }) => path),
  changed: changed.map(({ path, content }) => [path, content]),
});

const NONE = { added: [], removed: [], changed: [] };

async function change(fs: FileSystem): Promise<void> {
  await fs.writeFile('/d/f', 'TEXT');
  await fs.chmod('/d/g', 0o600);
  await fs.rm('/e', { recursive: true });
  await fs.symlink('d', '/e');
  await fs.mkdir('/a');
  await fs.writeFile('/a.b', 'new');
  await fs.writeFile('/a/new', 'new');
}

const CHANGES = {
  added: ['/a', '/a/new', '/a.b'],
  removed: ['/e/f'],
  changed: [
    ['/d/f', true],
    ['/d/g', false],
    ['/e', true],
  ],
};

for (const [form, open] of Object.entries(forms)) {
  it(`diffFileSystems() of ${form} and its fork has the changes, in both directions`, async () => {
    const fs = await open();
    const fork = await fs.fork();
    expect(await diffFileSystems(fs, fork)).toEqual(NONE);
    await change(fork);
    expect(pathsOf(await diffFileSystems(fs, fork))).toEqual(CHANGES);
    const back = await diffFileSystems(fork, fs, { contents: true });
    expect(pathsOf(back)).toEqual({ ...CHANGES, added: CHANGES.removed, removed: CHANGES.added });
    const [file] = back.changed;
    expect(new TextDecoder().decode(file?.after.data)).toBe('text');
    expect(back.changed.at(-1)?.before.target).toBe('d');
    const checkpoint = await fork.checkpoint();
    await fork.unlink('/z');
    expect(pathsOf(await diffFileSystems(await fork.at(checkpoint), fork))).toEqual({ ...NONE, removed: ['/z'] });
  });
}

describe('diffFileSystems()', () => {
  it('of a fork in memory visits only what has changed', () => {
    const fs = sample(Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`/d${i % 50}/f${i}`, 'x'])));
    const fork = fs.forkSync();
    fork.writeFileSync('/d7/f7', 'y');
    const seen: string[] = [];
    const guard: Guard = {
      check: () => {},
      isVisible: (path) => {
        seen.push(path);
        return true;
      },
    };
    expect(pathsOf(diffFileSystemsSync(restrict(fs, guard), fork))).toMatchObject({ changed: [['/d7/f7', true]] });
    expect(seen.length).toBeLessThan(20);
  });

  it('compares filesystems that share nothing by their contents', async () => {
    const [one, two] = [sample(FILES), sample({ ...FILES, '/d/f': 'TEXT' })];
    const expected = { ...NONE, changed: [['/d/f', true]] };
    expect(pathsOf(diffFileSystemsSync(one, two))).toEqual(expected);
    expect(pathsOf(diffFileSystemsSync(overlay(one), overlay(two)))).toEqual(expected);
    expect(pathsOf(await diffFileSystems(await remote(), two))).toEqual(expected);
    expect(pathsOf(await diffFileSystems(await remote(), one))).toEqual(NONE);
  });

  it.each([
    ['synchronous', (fs: FileSystem) => fs],
    ['asynchronous', promises],
  ])('shows of each side only what its guard shows, for %s filesystems', async (_, form) => {
    const guard = (hidden: string): Guard => ({
      check({ path }) {
        if (path === hidden) throw new Error('hidden');
      },
      isVisible: (path) => path !== hidden,
    });
    const base = sample(FILES);
    const fork = base.forkSync();
    fork.writeFileSync('/d/f', 'TEXT');
    fork.writeFileSync('/d/g', 'MORE');
    const views = [form(restrict(base, guard('/d/f'))), form(restrict(fork, guard('/d/g')))] as const;
    const found = await diffFileSystems(...views, { contents: true });
    expect(pathsOf(found)).toEqual({ added: ['/d/f'], removed: ['/d/g'], changed: [] });
    const decode = (data: Uint8Array | undefined): string => new TextDecoder().decode(data);
    expect([decode(found.added[0]?.data), decode(found.removed[0]?.data)]).toEqual(['TEXT', 'more']);
  });

  it('refuses what is no filesystem, and unknown options', async () => {
    const fs = sample(FILES);
    await expect(diffFileSystems(fs, 'checkpoint' as never)).rejects.toThrow(/after must be a filesystem/);
    expect(() => diffFileSystemsSync({} as never, fs)).toThrow(/before must be a filesystem/);
    await expect(diffFileSystems(fs, fs, { content: true } as never)).rejects.toThrow(TypeError);
    await expect(diffFileSystems(fs, fs, { signal: AbortSignal.abort(new Error('no')) })).rejects.toThrow('no');
  });
});
