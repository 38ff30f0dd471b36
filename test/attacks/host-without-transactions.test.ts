import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
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
  const both = ['*** Begin Patch', '*** Delete File: /src/a.txt', '*** Delete File: /missing', '*** End Patch'];
  it('refuses several changes and leaves the directory as it is, and applies one', async () => {
    await using disk = hostFileSystem(root);
    const sandbox = new Sandbox(disk, { root: { root: '/' } });
    const before = told(root);
    const approve = () => true;
    const result = await applyPatch(sandbox, both.join('\n'), { approve });
    expect(result).toMatchObject({
      isError: true,
      text: expect.stringContaining('this filesystem has no transactions'),
    });
    expect(told(root)).toEqual(before);
    expect(await applyPatch(sandbox, both.toSpliced(2, 1).join('\n'), { approve })).toMatchObject({ isError: false });
    expect(readdirSync(join(root, 'src')).sort()).toEqual(['empty', 'large', 'second']);
  });
});
