import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { SandboxError } from '@scratchfs/sandbox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isPathSafe } from './is-path-safe.js';
import { ReadOnlySandboxFS } from './read-only-sandbox-fs.js';

const top = mkdtempSync(join(tmpdir(), 'scratchfs-read-only-'));
const root = join(top, 'root');
afterAll(() => rmSync(top, { recursive: true, force: true }));

beforeAll(() => {
  mkdirSync(join(root, 'utils/deep'), { recursive: true });
  writeFileSync(join(root, 'utils/helpers.py'), 'def f(): pass\n');
  writeFileSync(join(root, 'latin.py'), Buffer.from('caf\xe9', 'latin1'));
  writeFileSync(join(root, 'exact.py'), 'x'.repeat(2_000_000));
  writeFileSync(join(top, 'secrets.txt'), 'secret');
  symlinkSync('b.py', join(root, 'a.py'));
  symlinkSync('a.py', join(root, 'b.py'));
  symlinkSync('.', join(root, 'utils/again'));
  symlinkSync('../../secrets.txt', join(root, 'utils/out.py'));
  execFileSync('mkfifo', [join(root, 'fifo.py')]);
});

describe('a read-only sandbox', () => {
  it('fails on loops of symbolic links, and listings still end', async () => {
    await using sandbox = new ReadOnlySandboxFS({ rootDir: root });
    for (const path of ['a.py', 'b.py']) await expect(sandbox.readText(path)).rejects.toMatchObject({ code: 'ELOOP' });
    expect(await sandbox.readText('utils/again/again/helpers.py')).toBe('def f(): pass\n');
    const names = ['exact.py', 'latin.py', 'utils/helpers.py'];
    expect(await sandbox.listPythonFiles()).toEqual(names.map((name) => join(root, name)));
  });

  it('fails on extremely long paths, absolute and relative', async () => {
    await using sandbox = new ReadOnlySandboxFS({ rootDir: root });
    for (const path of ['x'.repeat(300), 'utils/'.repeat(1_000), `${root}/${'y/'.repeat(3_000)}`]) {
      await expect(sandbox.readText(path)).rejects.toMatchObject({
        code: expect.stringMatching(/ENAMETOOLONG|ENOENT/),
      });
      expect(isPathSafe(path, root)).toBe(false);
    }
    expect(sandbox.relpath(`${root}/${'z'.repeat(10_000)}`)).toBe('z'.repeat(10_000));
  });

  it('lists files one by one, and a listing can be ended early', async () => {
    await using sandbox = new ReadOnlySandboxFS({ rootDir: root });
    const files = sandbox.iterateFiles();
    expect(await files.next()).toEqual({ value: join(root, 'exact.py'), done: false });
    expect(await files.return?.()).toMatchObject({ done: true });
  });

  it('replaces bytes that are not UTF-8', async () => {
    await using sandbox = new ReadOnlySandboxFS({ rootDir: root });
    expect(await sandbox.readText('latin.py')).toBe('caf\ufffd');
  });

  it('reads exactly 2,000,000 bytes by default, and maxBytes is an inclusive limit', async () => {
    await using sandbox = new ReadOnlySandboxFS({ rootDir: root });
    expect(await sandbox.readText('exact.py')).toHaveLength(2_000_000);
    await expect(sandbox.readText('utils/helpers.py', { maxBytes: 13 })).rejects.toMatchObject({
      code: 'EFBIG',
      limit: 'maxBytes',
    });
    expect(await sandbox.readText('utils/helpers.py', { maxBytes: 14 })).toBe('def f(): pass\n');
    for (const maxBytes of [-1, 1.5, Number.NaN])
      await expect(sandbox.readText('latin.py', { maxBytes })).rejects.toThrow(RangeError);
  });

  it('reports a missing path, a directory and a FIFO as missing, and a path outside as SandboxViolation', async () => {
    await using sandbox = new ReadOnlySandboxFS({ rootDir: root });
    for (const path of ['none.py', 'utils', 'fifo.py', '.', root])
      await expect(sandbox.readText(path), path).rejects.toMatchObject({ code: 'ENOENT' });
    for (const path of ['../..', 'utils/out.py', join(top, 'secrets.txt'), `${root}/../secrets.txt`])
      await expect(sandbox.readText(path), path).rejects.toBeInstanceOf(SandboxError);
  });

  it('has a canonical root: ~ is expanded, and relpath of the root is .', async () => {
    await using home = new ReadOnlySandboxFS({ rootDir: '~/' });
    expect(home.rootDir.startsWith('~')).toBe(false);
    expect(home.relpath(homedir())).toBe('.');
    expect(Object.isFrozen(home)).toBe(true);
  });
});

describe('isPathSafe()', () => {
  it.each(['utils/helpers.py', './utils', 'utils/../latin.py', 'new/file', 'utils/again/helpers.py'])(
    'valid: %s',
    (path) => expect(isPathSafe(path, root)).toBe(true),
  );

  it.each(['/etc/passwd', '../secrets.txt', 'utils/../../secrets.txt', `${root}/../secrets.txt`, `${root}x`])(
    'malicious: %s',
    (path) => expect(isPathSafe(path, root)).toBe(false),
  );

  it.each(['utils/out.py', 'utils/again/out.py', 'utils/out.py/x', 'a.py'])('symlinks outside: %s', (path) =>
    expect(isPathSafe(path, root)).toBe(false),
  );

  it.each<[string, boolean]>([
    ['..%2fsecrets.txt', true],
    ['%2e%2e/secrets.txt', true],
    ['\uff0e\uff0e/secrets.txt', true],
    ['cafe\u0301.py', true],
    ['\u202egnp.exe', true],
    ['😀', true],
    ['..\\secrets.txt', false],
    ['\ud800', false],
    ['a\0/../../secrets.txt', false],
  ])('unusual encodings: %j is %s, and none is decoded', (path, safe) => expect(isPathSafe(path, root)).toBe(safe));
});
