import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { applyChanges } from './apply/apply-changes.js';
import type { PathChange } from './apply/path-change.js';
import { hostFileSystem } from './host-file-system.js';

const top = mkdtempSync(join(tmpdir(), 'scratchfs-users-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));

const NOBODY = 65_534;

/** Runs some work with the rights of the user `nobody`. */
async function asNobody(work: () => Promise<void>): Promise<void> {
  process.setegid?.(NOBODY);
  process.seteuid?.(NOBODY);
  try {
    await work();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
  }
}

describe.skipIf(process.getuid?.() !== 0)('a user who is not root (only root can be another user)', () => {
  it('reads, writes, copies, moves and removes, and owns the copies', async () => {
    const root = join(top, 'his');
    mkdirSync(join(root, 'd'), { recursive: true });
    writeFileSync(join(root, 'd/f'), 'of root', { mode: 0o644 });
    writeFileSync(join(root, 'd/x'), 'of root');
    chmodSync(join(root, 'd/x'), 0o755);
    for (const path of [top, root, join(root, 'd')]) chownSync(path, NOBODY, NOBODY);
    await asNobody(async () => {
      await using fs = hostFileSystem(root);
      expect(await fs.readText('/d/f')).toBe('of root');
      await fs.writeFile('/d/own', 'own');
      await fs.cp('/d', '/e', { recursive: true });
      await fs.copyFile('/d/x', '/x');
      await fs.rename('/e', '/moved');
      await fs.rm('/d', { recursive: true });
      expect(await fs.readdir('/moved')).toEqual(['f', 'own', 'x']);
    });
    for (const name of ['moved', 'moved/f', 'moved/x', 'x']) expect(statSync(join(root, name)).uid).toBe(NOBODY);
    for (const name of ['moved/x', 'x']) expect(statSync(join(root, name)).mode & 0o777).toBe(0o755);
  });

  it('applies changes to read-only directories of its own, and undoes all if one path is refused', async () => {
    const root = join(top, 'applied');
    mkdirSync(join(root, 'd/closed'), { recursive: true });
    mkdirSync(join(root, 'e'));
    writeFileSync(join(root, 'd/f'), 'f');
    writeFileSync(join(root, 'e/g'), 'g');
    for (const path of [root, join(root, 'd'), join(root, 'd/closed')]) chownSync(path, NOBODY, NOBODY);
    chmodSync(join(root, 'd/closed'), 0o555);
    const closed: PathChange = { path: '/d/closed', before: { kind: 'directory' } };
    const file: PathChange = {
      path: '/d/f',
      before: { kind: 'file', data: 'f' },
      after: { kind: 'file', data: 'F' },
    };
    await asNobody(async () => {
      // The directory of root may not be written to.
      const changes = [closed, file, { ...file, path: '/e/g', before: { kind: 'file', data: 'g' } } as const];
      await expect(applyChanges(changes, root)).rejects.toMatchObject({ code: 'EACCES', path: '/e/g' });
      expect(readFileSync(join(root, 'd/f'), 'utf8')).toBe('f');
      expect(statSync(join(root, 'd/closed')).mode & 0o777).toBe(0o555);
      expect(await applyChanges([closed, file], root)).toMatchObject({ success: true });
      expect(readdirSync(join(root, 'd'))).toEqual(['f']);
      expect(readFileSync(join(root, 'd/f'), 'utf8')).toBe('F');
    });
  });

  const directory = (mode: number) => ({ kind: 'directory', mode }) as const;
  const file = { kind: 'file', data: 'f' } as const;
  const refused: PathChange = { path: '/of-root/f', before: file, after: { kind: 'file', data: 'F' } };

  it.each<[string, number | undefined, readonly PathChange[], number | undefined, readonly string[]]>([
    [
      'creates one with contents',
      undefined,
      [
        { path: '/d', after: directory(0o555) },
        { path: '/d/e', after: directory(0o500) },
        { path: '/d/e/f', after: file },
      ],
      0o555,
      ['e', 'e/f'],
    ],
    [
      'adds to a directory that becomes one',
      0o755,
      [
        { path: '/d', before: directory(0o755), after: directory(0o555) },
        { path: '/d/g', after: file },
      ],
      0o555,
      ['f', 'g'],
    ],
    [
      'removes from one that becomes writable',
      0o555,
      [
        { path: '/d', before: directory(0o555), after: directory(0o750) },
        { path: '/d/f', before: file },
      ],
      0o750,
      [],
    ],
    [
      'removes one with its contents',
      0o555,
      [
        { path: '/d', before: directory(0o555) },
        { path: '/d/f', before: file },
      ],
      undefined,
      [],
    ],
    [
      'replaces one with its contents',
      0o555,
      [
        { path: '/d', before: directory(0o555), after: file },
        { path: '/d/f', before: file },
      ],
      0o644,
      [],
    ],
  ])('%s, a directory that may not be written to, or undoes all', async (name, before, changes, after, names) => {
    const root = join(top, name);
    const place = join(root, 'd');
    mkdirSync(join(root, 'of-root'), { recursive: true });
    writeFileSync(join(root, 'of-root/f'), 'f');
    chownSync(root, NOBODY, NOBODY);
    const state = () => {
      const stats = statSync(place, { throwIfNoEntry: false });
      return {
        mode: stats && stats.mode & 0o777,
        names: stats?.isDirectory() ? readdirSync(place, { recursive: true }).sort() : [],
      };
    };
    await asNobody(async () => {
      if (before !== undefined) {
        mkdirSync(place);
        writeFileSync(join(place, 'f'), 'f');
        chmodSync(place, before);
      }
      const old = state();
      // Another user owns the last path's directory.
      await expect(applyChanges([...changes, refused], root)).rejects.toMatchObject({ code: 'EACCES' });
      expect(state()).toEqual(old);
      expect(await applyChanges(changes, root)).toMatchObject({ success: true });
      expect(state()).toEqual({ mode: after, names });
    });
  });

  it.each([undefined, file])('is refused, and nothing changes, if another user owns the directory', async (after) => {
    const root = join(top, `owned-${after?.kind}`);
    mkdirSync(join(root, 'd'), { recursive: true });
    chownSync(root, NOBODY, NOBODY);
    chmodSync(join(root, 'd'), 0o555);
    await asNobody(async () => {
      const changes: readonly PathChange[] = [{ path: '/d', before: directory(0o555), after }];
      for (let i = 0; i < 2; i++) await expect(applyChanges(changes, root)).rejects.toMatchObject({ code: 'EPERM' });
      expect(readdirSync(root)).toEqual(['d']);
      expect(statSync(join(root, 'd')).mode & 0o777).toBe(0o555);
      expect(await applyChanges([{ path: '/f', after: file }], root)).toMatchObject({ success: true });
    });
  });

  it('is refused, and nothing changes, if another user owns the file', async () => {
    const root = join(top, 'of-root');
    mkdirSync(root);
    writeFileSync(join(root, 'f'), 'of root');
    await asNobody(async () => {
      await using fs = hostFileSystem(root);
      await expect(fs.writeFile('/f', 'changed')).rejects.toMatchObject({ code: 'EACCES' });
      await expect(fs.chmod('/f', 0o777)).rejects.toMatchObject({ code: 'EPERM', path: '/f' });
      await expect(fs.chown('/f', NOBODY, NOBODY)).rejects.toMatchObject({ code: 'EPERM', path: '/f' });
      await expect(fs.rm('/f')).rejects.toMatchObject({ code: 'EACCES' });
      expect(await fs.readText('/f')).toBe('of root');
    });
  });
});
