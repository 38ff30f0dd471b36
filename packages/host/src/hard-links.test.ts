import {
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type HostFileSystemOptions, hostFileSystem } from './host-file-system.js';
import { bringBackAfter } from './testing/bring-back-after.js';

const top = mkdtempSync(join(tmpdir(), 'scratchfs-hard-links-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));
let n = 0;
let root = '';
let outside = '';

beforeEach(() => {
  root = join(top, `root-${++n}`);
  outside = join(top, `outside-${n}`);
  mkdirSync(join(root, 'd'), { recursive: true });
  writeFileSync(outside, 'before\n', { mode: 0o644 });
  linkSync(outside, join(root, 'd/f'));
});

const stateOf = (path: string) => {
  const { mode, mtimeMs, uid, gid, size } = lstatSync(path);
  return { mode, mtimeMs, uid, gid, size, text: lstatSync(path).isFile() ? readFileSync(path, 'utf8') : '' };
};

type Change = (fs: ReturnType<typeof hostFileSystem>) => Promise<unknown>;

const CHANGES: readonly (readonly [string, Change])[] = [
  ['writeFile()', (fs) => fs.writeFile('/d/f', 'changed')],
  ['appendFile()', (fs) => fs.appendFile('/d/f', 'more')],
  ['truncate()', (fs) => fs.truncate('/d/f', 2)],
  ['chmod()', (fs) => fs.chmod('/d/f', 0o600)],
  ['utimes()', (fs) => fs.utimes('/d/f', 1_000, 2_000)],
  ['lutimes()', (fs) => fs.lutimes('/d/f', 1_000, 2_000)],
  [
    'a write through a stream',
    (fs) => new Response('streamed').body?.pipeTo(fs.createWriteStream('/d/f')) as Promise<void>,
  ],
  [
    'a write through an open file',
    async (fs) => {
      await using file = await fs.open('/d/f', 'r+');
      await file.write('WRITTEN', 0);
      await file.truncate(3);
      await file.chmod(0o600);
      expect(new TextDecoder().decode(await file.readFile())).toBe('WRI');
    },
  ],
  ['a copy onto it', async (fs) => fs.writeFile('/x', 'x').then(() => fs.cp('/x', '/d/f'))],
];

describe('a file with a hard link outside the directory', () => {
  it.each(CHANGES)('keeps its other name as it was after %s', async (_, change) => {
    const before = stateOf(outside);
    await using fs = hostFileSystem(root);
    await change(fs);
    expect(stateOf(outside)).toEqual(before);
    expect(stateOf(join(root, 'd/f'))).not.toEqual(before);
    expect(statSync(join(root, 'd/f')).nlink).toBe(1);
  });

  it('keeps its other name as it was when a part of a large file is written', async () => {
    const size = 17 * 2 ** 20;
    const file = openSync(outside, 'r+');
    writeSync(file, 'end', size);
    closeSync(file);
    await using fs = hostFileSystem(root);
    await fs.appendFile('/d/f', ' and more');
    expect(statSync(outside).size).toBe(size + 3);
    expect(statSync(join(root, 'd/f')).size).toBe(size + 12);
    expect(readFileSync(join(root, 'd/f')).subarray(size).toString()).toBe('end and more');
  });

  it('keeps its other name as it was when a command brings changes back', async () => {
    const before = stateOf(outside);
    await using fs = hostFileSystem(root);
    const { changes } = await bringBackAfter('echo command >d/f; chmod +x d/f', fs);
    expect(changes.changed).toEqual(['/d/f']);
    expect(stateOf(outside)).toEqual(before);
    expect(readFileSync(join(root, 'd/f'), 'utf8')).toBe('command\n');
    expect(statSync(join(root, 'd/f')).mode & 0o777).toBe(0o755);
  });

  it('keeps its mode and times if only the content or the mode changes', async () => {
    await using fs = hostFileSystem(root);
    await fs.chmod('/d/f', 0o751);
    expect(statSync(join(root, 'd/f')).mtimeMs).toBeCloseTo(statSync(outside).mtimeMs, -1);
    rmSync(join(root, 'd/f'));
    linkSync(outside, join(root, 'd/f'));
    await fs.writeFile('/d/f', 'new');
    expect(statSync(join(root, 'd/f')).mode & 0o777).toBe(0o644);
  });

  it('keeps the other name of a symbolic link as it was', async () => {
    symlinkSync('d/f', join(top, `link-${n}`));
    linkSync(join(top, `link-${n}`), join(root, 'link'));
    const before = stateOf(join(top, `link-${n}`));
    await using fs = hostFileSystem(root);
    await fs.lutimes('/link', 1_000, 2_000);
    expect(stateOf(join(top, `link-${n}`))).toEqual(before);
    expect(lstatSync(join(root, 'link')).mtimeMs).toBe(2_000_000);
    expect(await fs.readlink('/link')).toBe('d/f');
  });

  it('changes under all names with hardLinks: in-place', async () => {
    await using fs = hostFileSystem(root, { hardLinks: 'in-place' });
    await fs.appendFile('/d/f', 'after\n');
    await fs.chmod('/d/f', 0o600);
    expect(readFileSync(outside, 'utf8')).toBe('before\nafter\n');
    expect(statSync(outside).mode & 0o777).toBe(0o600);
    for (const hardLinks of ['break ', true] as unknown as HostFileSystemOptions['hardLinks'][])
      expect(() => hostFileSystem(root, { hardLinks })).toThrow(TypeError);
  });

  it('stays one file under the names that this filesystem has created, also after renames', async () => {
    await using fs = hostFileSystem(root);
    await fs.writeFile('/a', 'a');
    await fs.link('/a', '/d/b');
    await fs.rename('/d', '/e');
    await fs.rename('/a', '/c');
    await fs.appendFile('/c', 'b');
    await fs.chmod('/e/b', 0o600);
    expect(await fs.readText('/e/b')).toBe('ab');
    expect(await fs.stat('/c')).toMatchObject({ nlink: 2, ino: (await fs.stat('/e/b')).ino });
    expect((await fs.stat('/c')).mode & 0o777).toBe(0o600);
  });

  it('keeps its other names as they were, also after a known name has been moved out', async () => {
    await using fs = hostFileSystem(root);
    await fs.link('/d/f', '/g');
    await fs.writeFile('/g', 'changed');
    expect([await fs.readText('/d/f'), readFileSync(outside, 'utf8')]).toEqual(['before\n', 'before\n']);
    expect((await fs.stat('/g')).ino).not.toBe((await fs.stat('/d/f')).ino);

    await fs.writeFile('/a', 'a');
    await fs.link('/a', '/b');
    renameSync(join(root, 'b'), join(top, `moved-${n}`));
    await fs.writeFile('/a', 'changed');
    expect(readFileSync(join(top, `moved-${n}`), 'utf8')).toBe('a');
  });
});
