import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfinedRoot, climbs, TEMPORARY } from './confined-root.js';
import { HAS_DESCRIPTOR_PATHS, PathHandle } from './path-handle.js';

const top = mkdtempSync(join(tmpdir(), 'scratchfs-walk-'));
const root = join(top, 'root');
afterAll(() => rmSync(top, { recursive: true, force: true }));

beforeAll(() => {
  mkdirSync(join(root, 'd/e'), { recursive: true });
  mkdirSync(join(top, 'outside'));
  mkdirSync(join(root, `${TEMPORARY}x`));
  writeFileSync(join(root, 'd/f'), 'inside');
  writeFileSync(join(top, 'outside/f'), 'OUTSIDE');
  symlinkSync('e', join(root, 'd/in'));
  symlinkSync('../../outside', join(root, 'd/out'));
  symlinkSync(root, join(root, 'd/top'));
  symlinkSync(join(root, 'd'), join(root, 'd/absolute'));
  symlinkSync(`${root}/../outside`, join(root, 'd/up'));
  symlinkSync(`${root}_evil`, join(root, 'd/alike'));
  symlinkSync('/etc', join(root, 'd/etc'));
  execFileSync('mkfifo', [join(root, 'd/pipe')]);
  symlinkSync(root, join(top, 'link'));
});

/** Returns the kinds found along a path, and whether the path is complete. */
function walked(path: string, at = root): string {
  const confined = new ConfinedRoot(at);
  try {
    using trail = confined.walk(path);
    return `${trail.pathHandles.map(({ kind }) => kind).join(' ')}${trail.complete ? '' : ' …'}`;
  } finally {
    confined.close();
  }
}

const openDescriptors = (): number => readdirSync('/proc/self/fd').length;

describe('a confined root', () => {
  it('has a canonical path, and must be a directory', () => {
    const confined = new ConfinedRoot(join(top, 'link'));
    expect(confined.hostPath).toBe(root);
    confined.close();
    expect(() => new ConfinedRoot(join(root, 'd/f'))).toThrow(expect.objectContaining({ code: 'ENOTDIR', path: '/' }));
    expect(() => new ConfinedRoot(join(root, 'nowhere'))).toThrow(expect.objectContaining({ code: 'ENOENT' }));
  });

  it.each([
    ['/', 'directory'],
    ['/d', 'directory directory'],
    ['/d/e', 'directory directory directory'],
    ['/d/f', 'directory directory file'],
    ['/d/f/x', 'directory directory file …'],
    ['/d/in', 'directory directory symlink'],
    ['/d/in/x', 'directory directory symlink …'],
    ['/d/out', 'directory directory symlink'],
    ['/d/out/f', 'directory directory symlink …'],
    ['/d/pipe', 'directory directory special'],
    ['/d/pipe/x', 'directory directory special …'],
    ['/nowhere', 'directory …'],
    ['/nowhere/x', 'directory …'],
    [`/${TEMPORARY}x`, 'directory …'],
    [`/${TEMPORARY}x/y`, 'directory …'],
  ])('walks along %s: %s', (path, expected) => expect(walked(path)).toBe(expected));

  it('finds names as they are spelled on a disk that tells them apart by case, if it is exact', () => {
    const directory = join(top, 'exact');
    const long = 'ŉ'.repeat(127);
    mkdirSync(join(directory, 'D'), { recursive: true });
    for (const name of ['a', 'A', 'B', 'D/x', long]) writeFileSync(join(directory, name), '');
    const confined = new ConfinedRoot(directory, false, true);
    try {
      const found = ['/a', '/A', '/b', '/B', '/d/x', '/D/x', `/${long}`].filter((path) => {
        using trail = confined.walk(path);
        expect(trail.otherSpelling()).toBeUndefined();
        return trail.complete;
      });
      expect(found).toEqual(['/a', '/A', '/B', '/D/x', `/${long}`]);
    } finally {
      confined.close();
    }
  });

  it.each([
    ['straße', 'is there'],
    ['ა', 'is there'],
    ['b', 'is created meanwhile'],
  ])('does not take a disk for one that tells case apart by the name %s, which %s', (name, when) => {
    const directory = join(top, 'ignoring');
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory);
    for (const found of when === 'is there' ? [name, 'a'] : ['a']) writeFileSync(join(directory, found), '');
    const confined = new ConfinedRoot(directory, false, true);
    const inAscii = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
    try {
      using trail = confined.walk('/');
      const { path, stat } = trail.last;
      // Stands for a disk that ignores the case of ASCII letters only.
      const look = (text: string) => {
        const found = trail.last.look(inAscii(text));
        writeFileSync(join(directory, name), '');
        return found;
      };
      const ignoring = { path, stat, look } as PathHandle;
      expect([name, 'A', 'a'].map((text) => confined.hasSpelling(ignoring, text))).toEqual([true, false, true]);
    } finally {
      confined.close();
    }
  });

  it('passes on the error of the host for a name that is too long, and closes what it held', async () => {
    const before = openDescriptors();
    expect(() => walked(`/d/${'x'.repeat(300)}`)).toThrow(expect.objectContaining({ code: 'ENAMETOOLONG' }));
    walked('/d/e');
    expect(openDescriptors()).toBe(before);
  });

  it('walks on from the prefix that two paths share, and holds only the handles of the current path', () => {
    const confined = new ConfinedRoot(root);
    const before = openDescriptors();
    const steps: string[] = [];
    {
      using trail = confined.walk('/d/e');
      for (const path of ['/d/f', '/d', '/d/f/x', '/d/nowhere/x', '/d/nowhere/y', '/d/e', '/nowhere', '/', '/d/e']) {
        trail.goTo(path);
        const held = HAS_DESCRIPTOR_PATHS ? openDescriptors() - before : trail.pathHandles.length - 1;
        steps.push(`${path} ${trail.last.kind}${trail.complete ? '' : ' …'} ${held}`);
      }
      expect(() => trail.goTo(`/d/${'x'.repeat(300)}`)).toThrow(expect.objectContaining({ code: 'ENAMETOOLONG' }));
    }
    expect(steps).toEqual([
      '/d/f file 2',
      '/d directory 1',
      '/d/f/x file … 2',
      '/d/nowhere/x directory … 1',
      '/d/nowhere/y directory … 1',
      '/d/e directory 2',
      '/nowhere directory … 0',
      '/ directory 0',
      '/d/e directory 2',
    ]);
    expect(openDescriptors()).toBe(before);
    confined.close();
  });

  it.skipIf(!HAS_DESCRIPTOR_PATHS)(
    'is the same directory after it has been moved and another one has taken its name',
    async () => {
      const at = join(top, 'moved');
      mkdirSync(join(at, 'kept'), { recursive: true });
      const confined = new ConfinedRoot(at);
      renameSync(at, `${at}-away`);
      mkdirSync(join(at, 'other'), { recursive: true });
      expect(readdirSync(confined.path)).toEqual(['kept']);
      expect(readdirSync(confined.child('kept'))).toEqual([]);
      using trail = confined.walk('/other');
      expect(trail.complete).toBe(false);
      confined.close();
    },
  );

  it.each([
    ['in', 'e', false],
    ['out', '../../outside', true],
    ['top', '/', false],
    ['absolute', '/d', false],
    ['up', `${root}/../outside`, true],
    ['alike', `${root}_evil`, true],
    ['etc', '/etc', true],
  ])(
    'targetOf() returns the target of the link %s, and reports whether it leads out',
    async (name, target, outside) => {
      const confined = new ConfinedRoot(root);
      using trail = confined.walk('/d');
      const parent = trail.pathHandles[1] as PathHandle;
      expect(confined.targetOf(parent, name, 1)).toEqual({ target, outside });
      confined.close();
    },
  );
});

it.each([
  ['', 0, false],
  ['.', 0, false],
  ['a/b', 0, false],
  ['..', 0, true],
  ['..', 1, false],
  ['../..', 1, true],
  ['a/../..', 0, true],
  ['a/..', 0, false],
  ['a/./../b', 0, false],
  ['a//../..', 0, true],
  ['..\\x', 0, true],
  ['a\\..\\..', 0, true],
  ['...', 0, false],
  ['a/../../b', 0, true],
])('whether %j climbs from level %i: %s', (path, depth, expected) => expect(climbs(path, depth)).toBe(expected));

describe('a path handle', () => {
  it('refers to the entry itself: a link is not followed, and opening a pipe does not block', async () => {
    const kinds: string[] = [];
    for (const name of ['d', 'd/f', 'd/in', 'd/pipe']) {
      using pathHandle = PathHandle.at(join(root, name));
      kinds.push(pathHandle.kind);
    }
    expect(kinds).toEqual(['directory', 'file', 'symlink', 'special']);
  });

  it.skipIf(!HAS_DESCRIPTOR_PATHS)('keeps its file whatever its name is given to', async () => {
    const place = join(top, 'handles');
    mkdirSync(place);
    writeFileSync(join(place, 'x'), 'first');
    using directory = PathHandle.at(place);
    using file = PathHandle.at(join(place, 'x'));
    renameSync(place, `${place}-away`);
    symlinkSync(join(top, 'outside'), place);
    expect(readdirSync(directory.path)).toEqual(['x']);
    const handle = await file.open(0);
    expect(await handle.readFile('utf8')).toBe('first');
    await handle.close();
    expect(() => PathHandle.at(directory.child('f'))).toThrow(expect.objectContaining({ code: 'ENOENT' }));
  });

  it('holds no descriptor after close()', async () => {
    const before = openDescriptors();
    const pathHandle = PathHandle.at(root);
    expect(openDescriptors()).toBe(before + (HAS_DESCRIPTOR_PATHS ? 1 : 0));
    pathHandle.close();
    expect(() => PathHandle.at(join(root, 'nowhere'))).toThrow(expect.objectContaining({ code: 'ENOENT' }));
    expect(openDescriptors()).toBe(before);
  });
});
