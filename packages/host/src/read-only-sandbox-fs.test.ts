import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isPathSafe } from './is-path-safe.js';
import { ReadOnlySandboxFS } from './read-only-sandbox-fs.js';

const top = mkdtempSync(join(tmpdir(), 'scratchfs-ro-'));
const root = join(top, 'root');
afterAll(() => rmSync(top, { recursive: true, force: true }));

beforeAll(() => {
  mkdirSync(join(root, 'pkg/sub'), { recursive: true });
  mkdirSync(join(top, 'root_evil'));
  writeFileSync(join(top, 'secret.py'), 'secret');
  writeFileSync(join(top, 'root_evil/x.py'), 'evil');
  writeFileSync(join(root, 'main.py'), 'print(1)\n');
  writeFileSync(join(root, 'pkg/a.py'), 'a');
  writeFileSync(join(root, 'pkg/sub/b.py'), Buffer.from([0x61, 0xff, 0x62]));
  writeFileSync(join(root, 'notes.md'), '# notes');
  writeFileSync(join(root, '.hidden.py'), 'hidden');
  writeFileSync(join(root, 'big.py'), 'x'.repeat(2_000_001));
  symlinkSync('../secret.py', join(root, 'escape.py'));
  symlinkSync('/etc/passwd', join(root, 'passwd.py'));
  symlinkSync('main.py', join(root, 'alias.py'));
  symlinkSync('loop.py', join(root, 'loop.py'));
  execFileSync('mkfifo', [join(root, 'pipe.py')]);
  symlinkSync(root, join(top, 'link-to-root'));
  symlinkSync('link-to-root', join(top, 'other-link'));
  symlinkSync(top, join(top, 'link-above'));
  symlinkSync('root/pkg', join(top, 'link-to-pkg'));
  symlinkSync('root/main.py', join(top, 'link-to-file'));
  symlinkSync('root/escape.py', join(top, 'link-to-secret'));
  symlinkSync('root/nowhere', join(top, 'dangling'));
});

describe('ReadOnlySandboxFS', () => {
  it('has a canonical root and is frozen', () => {
    const sandbox = new ReadOnlySandboxFS({ rootDir: join(top, 'link-to-root') });
    expect(sandbox.rootDir).toBe(root);
    expect(Object.isFrozen(sandbox)).toBe(true);
    expect(() => Object.assign(sandbox, { rootDir: '/' })).toThrow(TypeError);
    expect(new ReadOnlySandboxFS({ rootDir: '~' }).rootDir.startsWith(homedir())).toBe(true);
    expect(() => new ReadOnlySandboxFS({ rootDir: join(root, 'main.py') })).toThrow(/ENOTDIR/);
    expect(() => new ReadOnlySandboxFS({ rootDir: join(root, 'nowhere') })).toThrow(/ENOENT/);
  });

  it('lists files with absolute paths, sorted, and only regular ones', async () => {
    await using sandbox = new ReadOnlySandboxFS({ rootDir: root });
    const names = ['.hidden.py', 'alias.py', 'big.py', 'main.py', 'pkg/a.py', 'pkg/sub/b.py'];
    expect(await sandbox.listPythonFiles()).toEqual(names.map((name) => join(root, name)));
    expect(await sandbox.listFiles('*.md')).toEqual([join(root, 'notes.md')]);
    for await (const first of sandbox.iterateFiles()) {
      expect(first).toBe(join(root, '.hidden.py'));
      break;
    }
  });

  it('reads text by relative and by absolute paths, with malformed bytes replaced', async () => {
    await using sandbox = new ReadOnlySandboxFS({ rootDir: root });
    expect(await sandbox.readText('main.py')).toBe('print(1)\n');
    expect(await sandbox.readText(join(root, 'pkg/a.py'))).toBe('a');
    expect(await sandbox.readText('pkg/../alias.py')).toBe('print(1)\n');
    expect(await sandbox.readText('pkg/sub/b.py')).toBe('a\ufffdb');
  });

  it.each([
    '../secret.py',
    'pkg/../../secret.py',
    '/etc/passwd',
    'escape.py',
    'passwd.py',
    '../root_evil/x.py',
    '..',
    'pkg/../../root/main.py',
  ])('refuses %s as a violation', async (path) => {
    await using sandbox = new ReadOnlySandboxFS({ rootDir: root });
    await expect(sandbox.readText(path)).rejects.toMatchObject({ code: 'EACCES', path });
    const error = (await sandbox.readText(path).catch((caught: unknown) => caught)) as Error;
    expect(error.message.replace(path, '')).not.toContain(top);
  });

  it.each([join(tmpdir(), 'x'), `${top}/root_evil/x.py`, top])(
    'refuses %s, which only shares a prefix',
    async (path) => {
      await using sandbox = new ReadOnlySandboxFS({ rootDir: root });
      await expect(sandbox.readText(path)).rejects.toMatchObject({ code: 'EACCES' });
      expect(() => sandbox.relpath(path)).toThrow();
    },
  );

  it('accepts absolute paths that lead to the root through links, the spelling of the caller included', async () => {
    const given = join(top, 'link-to-root');
    await using sandbox = new ReadOnlySandboxFS({ rootDir: given });
    for (const start of [given, join(top, 'other-link'), join(top, 'link-above/root')]) {
      expect(await sandbox.readText(join(start, 'main.py'))).toBe('print(1)\n');
      expect(await sandbox.readText(join(start, 'pkg/a.py'))).toBe('a');
      expect(await sandbox.readText(`${start}/pkg/../alias.py`)).toBe('print(1)\n');
      await expect(sandbox.readText(join(start, 'nowhere.py'))).rejects.toMatchObject({ code: 'ENOENT' });
      await expect(sandbox.readText(join(start, 'loop.py'))).rejects.toMatchObject({ code: 'ELOOP' });
      for (const out of ['escape.py', 'passwd.py', '../secret.py', '../root/main.py'])
        await expect(sandbox.readText(`${start}/${out}`), out).rejects.toMatchObject({ code: 'EACCES' });
    }
    expect(await sandbox.readText(join(top, 'link-to-pkg/sub/../a.py'))).toBe('a');
    expect(await sandbox.readText(join(top, 'link-to-file'))).toBe('print(1)\n');
    for (const path of [join(top, 'link-above/secret.py'), join(top, 'link-to-secret'), join(top, 'dangling/main.py')])
      await expect(sandbox.readText(path), path).rejects.toMatchObject({ code: 'EACCES', path });
    expect(sandbox.relpath(join(given, 'pkg/nowhere.py'))).toBe('pkg/nowhere.py');
    expect(sandbox.relpath(given)).toBe('.');
    expect(() => sandbox.relpath(`${given}/../secret.py`)).toThrow();
    // relpath() reads nothing, so it knows no other links.
    expect(() => sandbox.relpath(join(top, 'other-link/main.py'))).toThrow();
  });

  it('refuses options that do not exist, and names those that do', async () => {
    const typo = { rootDir: root, maxBites: 1 };
    expect(() => new ReadOnlySandboxFS(typo)).toThrow(/has no option 'maxBites'. It takes rootDir/);
    await using sandbox = new ReadOnlySandboxFS({ rootDir: root });
    const large = sandbox.readText('main.py', { maxbytes: 1 } as object);
    await expect(large).rejects.toThrow(/readText has no option 'maxbytes'. It takes maxBytes/);
  });

  it.each(['nowhere.py', 'pkg', 'pipe.py', 'main.py/x', 'a\0b', '', '\ud800'])(
    'reports %j as missing',
    async (path) => {
      await using sandbox = new ReadOnlySandboxFS({ rootDir: root });
      await expect(sandbox.readText(path)).rejects.toMatchObject({ code: 'ENOENT' });
    },
  );

  it('refuses a file that is too large before it reads it', async () => {
    await using sandbox = new ReadOnlySandboxFS({ rootDir: root });
    await expect(sandbox.readText('big.py')).rejects.toMatchObject({
      code: 'EFBIG',
      requested: 2_000_001,
      allowed: 2_000_000,
    });
    expect(await sandbox.readText('big.py', { maxBytes: 2_000_001 })).toHaveLength(2_000_001);
    await expect(sandbox.readText('big.py', { maxBytes: -1 })).rejects.toThrow(RangeError);
    await expect(sandbox.readText('loop.py')).rejects.toMatchObject({ code: 'ELOOP' });
  });

  it('relpath() returns a path relative to the root without reading the disk', () => {
    const sandbox = new ReadOnlySandboxFS({ rootDir: root });
    expect(sandbox.relpath(join(root, 'pkg/nowhere.py'))).toBe('pkg/nowhere.py');
    expect(sandbox.relpath(`${root}/pkg/../main.py`)).toBe('main.py');
    expect(() => sandbox.relpath('/etc/passwd')).toThrow();
    expect(() => sandbox.relpath(`${root}/../secret.py`)).toThrow();
    expect(() => sandbox.relpath('main.py')).toThrow(TypeError);
  });
});

describe('isPathSafe()', () => {
  it.each(['main.py', 'pkg/a.py', 'pkg/new/file.py', '.', 'alias.py', 'pkg/../main.py', '__proto__'])(
    'accepts %s',
    (path) => {
      expect(isPathSafe(path, root)).toBe(true);
      expect(isPathSafe(join(root, path), root)).toBe(true);
    },
  );

  it.each([
    '/etc/passwd',
    '../secret.py',
    'escape.py',
    'passwd.py',
    'pkg/../../secret.py',
    '..',
    '../root_evil/x.py',
    'loop.py',
    'a\0b',
    '',
    'a\\..\\..\\b',
    '\ud800',
    'nowhere/../../secret.py',
    'nowhere/../main.py',
    'loop.py/../main.py',
    '../secrets.txt',
  ])('refuses %j', (path) => expect(isPathSafe(path, root)).toBe(false));

  it('refuses values that are not strings, and a root that does not exist', () => {
    expect(isPathSafe(undefined as unknown as string, root)).toBe(false);
    expect(isPathSafe('main.py', undefined as unknown as string)).toBe(false);
    expect(isPathSafe('x', join(root, 'nowhere'))).toBe(false);
    // An empty root would mean the working directory of the process.
    expect(isPathSafe('x', '')).toBe(false);
  });
});
