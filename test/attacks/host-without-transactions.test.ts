import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mount, observe, overlay, readonly, restrict } from '@scratchfs/core/layers';
import { hostFileSystem } from '@scratchfs/host';
import { Sandbox } from '@scratchfs/sandbox';
import { applyPatch } from '@scratchfs/tools';
import { createFileSystem, type FileSystem } from 'scratchfs';
import { packTar } from 'scratchfs/tar';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { interceptSteps } from './host-steps.js';

let top: string;
let root: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'scratchfs-archives-'));
  root = join(top, 'root');
  mkdirSync(join(root, 'src/empty'), { recursive: true });
  writeFileSync(join(root, 'src/a.txt'), 'one\n');
  writeFileSync(join(root, 'src/large'), new Uint8Array(300_000).fill(7), { mode: 0o755 });
  symlinkSync('../src/a.txt', join(root, 'src/empty/link'));
  linkSync(join(root, 'src/large'), join(root, 'src/second'));
  chmodSync(join(root, 'src'), 0o750);
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

/** Returns the kind, mode, size and time of each entry of a directory. */
function told(folder: string): unknown {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const { mode, size, mtimeMs, nlink } = lstatSync(join(folder, name));
      const isDirectory = (mode & 0o170000) === 0o040000;
      return [name, mode, isDirectory ? 0 : size, Math.floor(mtimeMs), isDirectory ? 0 : nlink];
    });
}

async function unpacked(fileSystem: FileSystem, path?: string): Promise<string> {
  const archive = join(top, 'archive.tar');
  writeFileSync(archive, new Uint8Array(await new Response(packTar(fileSystem, path)).arrayBuffer()));
  const folder = mkdtempSync(join(top, 'unpacked-'));
  execFileSync('tar', ['-xpf', archive, '-C', folder]);
  return folder;
}

describe('packTar() of a directory of the host', () => {
  const everything = { check: () => undefined, isVisible: () => true };
  it.each<[string, (fileSystem: FileSystem) => FileSystem, string?]>([
    ['itself', (fileSystem) => fileSystem],
    ['through readonly', readonly],
    ['through restrict', (fileSystem) => restrict(fileSystem, everything)],
    ['through observe', (fileSystem) => observe(fileSystem, () => undefined)],
    ['through overlay', (fileSystem) => overlay(fileSystem)],
    ['through mount', (fileSystem) => mount(createFileSystem(), { '/there': fileSystem }), '/there'],
  ])('packs what tar packs, %s', async (_, layer, path) => {
    await using disk = hostFileSystem(root);
    await using layered = layer(disk);
    expect(told(await unpacked(layered, path))).toEqual(told(root));
  });

  it('packs files that change and leaves out files that disappear, in an archive that stays whole', async () => {
    for (let i = 0; i < 10; i++) writeFileSync(join(root, `file-${i}`), 'x'.repeat(1_000));
    await using disk = hostFileSystem(root);
    const changing = observe(disk, ({ operation, paths }) => {
      // Files are listed in batches before they are read.
      if (operation !== 'readFile' || paths[0] !== '/file-0') return;
      appendFileSync(join(root, 'file-1'), 'more');
      rmSync(join(root, 'file-2'));
      writeFileSync(join(root, 'file-3'), '');
    });
    const folder = await unpacked(changing);
    expect(readdirSync(folder).sort()).toEqual(readdirSync(root).sort());
    expect(lstatSync(join(folder, 'file-1')).size).toBe(1_004);
    expect(lstatSync(join(folder, 'file-3')).size).toBe(0);
  });
});

describe('applyPatch() on a directory of the host', () => {
  const approve = () => true;
  const everything = { check: () => undefined, isVisible: () => true };
  const patch = (...lines: string[]): string => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');
  const update = (path: string, before: string): string[] => [`*** Update File: ${path}`, '@@', `-${before}`, '+new'];
  const several = patch(
    ...update('/src/a.txt', 'one'),
    '*** Add File: /new/deep/b.txt',
    '+b',
    '*** Delete File: /src/second',
    '*** Update File: /src/run.sh',
    '*** Move to: /bin/run.sh',
    '@@',
    '-old',
    '+new',
  );
  beforeEach(() => writeFileSync(join(root, 'src/run.sh'), 'old\n', { mode: 0o755 }));

  it.each<[string, (fileSystem: FileSystem) => FileSystem]>([
    ['itself', (fileSystem) => fileSystem],
    ['through restrict', (fileSystem) => restrict(fileSystem, everything)],
    ['through observe', (fileSystem) => observe(fileSystem, () => undefined)],
  ])('makes several changes, %s', async (_, layer) => {
    await using disk = hostFileSystem(root);
    const sandbox = new Sandbox(layer(disk), { root: { root: '/' } });
    expect(await applyPatch(sandbox, several, { approve })).toMatchObject({ isError: false });
    expect(readFileSync(join(root, 'src/a.txt'), 'utf8')).toBe('new\n');
    expect(readFileSync(join(root, 'new/deep/b.txt'), 'utf8')).toBe('b');
    expect(readFileSync(join(root, 'bin/run.sh'), 'utf8')).toBe('new\n');
    expect(lstatSync(join(root, 'bin/run.sh')).mode & 0o777).toBe(0o755);
    expect(readdirSync(join(root, 'src')).sort()).toEqual(['a.txt', 'empty', 'large']);
    // The filesystem goes on with what it has written.
    expect(await disk.readText('/src/a.txt')).toBe('new\n');
    await disk.appendFile('/new/deep/b.txt', '!');
    expect(await disk.readText('/new/deep/b.txt')).toBe('b!');
    expect(
      await applyPatch(sandbox, patch(...update('/src/a.txt', 'new'), ...update('/bin/run.sh', 'new'))),
    ).toMatchObject({
      isError: true,
    });
  });

  it.each([
    ['a missing file, as the last one', ['*** Delete File: /src/a.txt', '*** Delete File: /missing']],
    ['a file of a repository', [...update('/src/a.txt', 'one'), '*** Add File: /.git/hooks/pre-commit', '+x']],
    ['a file in place of a directory', [...update('/src/a.txt', 'one'), '*** Add File: /src/large/x', '+x']],
  ])('changes nothing if one change fails: %s', async (_, lines) => {
    await using disk = hostFileSystem(root);
    const before = told(root);
    const sandbox = new Sandbox(disk, { root: { root: '/' } });
    expect(await applyPatch(sandbox, patch(...lines), { approve })).toMatchObject({ isError: true });
    expect(told(root)).toEqual(before);
  });

  it('undoes everything if a step fails, and runs again if another process changes a file in between', async () => {
    await using disk = hostFileSystem(root);
    const sandbox = new Sandbox(disk, { root: { root: '/' } });
    const contents = () =>
      readdirSync(join(root, 'src')).map((name) => [
        name,
        lstatSync(join(root, 'src', name)).isFile() && readFileSync(join(root, 'src', name), 'latin1'),
      ]);
    const before = contents();
    let renames = 0;
    let takeBack = await interceptSteps(({ name, run }) => {
      if (name === 'rename' && ++renames === 4) throw Object.assign(new Error('EIO'), { code: 'EIO' });
      return run();
    });
    try {
      expect(await applyPatch(sandbox, several, { approve })).toMatchObject({ isError: true });
    } finally {
      takeBack();
    }
    expect(renames).toBeGreaterThan(4);
    expect(contents()).toEqual(before);
    expect(readdirSync(root).filter((name) => !name.startsWith('.scratchfs-tmp-'))).toEqual(['src']);
    let hasEdited = false;
    takeBack = await interceptSteps(({ name, run }) => {
      if (name === 'rename' && !hasEdited) {
        hasEdited = true;
        writeFileSync(join(root, 'src/a.txt'), 'zero\none\n');
      }
      return run();
    });
    try {
      expect(await applyPatch(sandbox, several, { approve })).toMatchObject({ isError: false });
    } finally {
      takeBack();
    }
    expect(readFileSync(join(root, 'src/a.txt'), 'utf8')).toBe('zero\nnew\n');
  });

  it('of more than the limit is ENOSPC, and leaves the directory as it was', async () => {
    await using disk = hostFileSystem(root);
    await disk.setLimits({ maxTotalSize: 1_000 });
    const lines = `+${'x'.repeat(1_200)}`;
    const patch = `*** Begin Patch\n*** Add File: /b\n${lines}\n*** Add File: /c\n+c\n*** End Patch`;
    const { text, isError } = await applyPatch(new Sandbox(disk, { root: { root: '/', writeApproval: false } }), patch);
    expect([isError, text]).toEqual([true, expect.stringContaining('maxTotalSize')]);
    expect(readdirSync(root)).toEqual(['src']);
  });
});
