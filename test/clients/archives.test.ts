import { execFileSync } from 'node:child_process';
import nodeFs from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type * as Tar from 'tar';
import { describe, expect, it } from 'vitest';
import type { NodeFs } from './grounds.js';
import { type Ground, HostFolder, onBoth, type Tree, treeOf, writeFiles } from './grounds.js';
import { loadWith } from './load-with.js';

const require = createRequire(import.meta.url);

interface TarFs {
  pack(folder: string, options: object): NodeJS.ReadableStream;
  extract(folder: string, options: object): NodeJS.WritableStream;
}

const longName = `${'n'.repeat(120)}.txt`;

/**
 * Creates everything that an archive can hold: modes, both kinds of links, long and unusual names, empty and large
 * files.
 */
function makeFolder(ground: Ground): void {
  const { fs, root } = ground;
  writeFiles(ground, {
    'in/plain.txt': 'plain\n',
    'in/empty.txt': '',
    'in/large.bin': Uint8Array.from({ length: 300_000 }, (_, i) => (i * 31) % 251),
    [`in/deep/er/${longName}`]: 'long name\n',
    'in/ünï cödé.txt': 'é\n',
  });
  fs.mkdirSync(join(root, 'in/nothing in it'));
  fs.chmodSync(join(root, 'in/plain.txt'), 0o640);
  fs.chmodSync(join(root, 'in/deep'), 0o700);
  fs.symlinkSync('deep/er', join(root, 'in/link'));
  fs.symlinkSync('no/where', join(root, 'in/dangling'));
  fs.linkSync(join(root, 'in/plain.txt'), join(root, 'in/same.txt'));
  for (const path of ['in/plain.txt', 'in/empty.txt', 'in/large.bin', 'in/deep/er', 'in']) {
    fs.utimesSync(join(root, path), 1_600_000_000, 1_600_000_000);
  }
}

const modified = (fs: NodeFs, path: string) => fs.statSync(path).mtimeMs / 1000;

/** Returns the names that GNU tar lists of an archive. */
function listed(fs: NodeFs, archive: string): string[] {
  using folder = new HostFolder();
  nodeFs.writeFileSync(join(folder.root, 'a.tar'), fs.readFileSync(archive));
  const output = execFileSync('tar', ['-tf', join(folder.root, 'a.tar'), '--quoting-style=literal'], {
    encoding: 'utf8',
  });
  return output
    .trim()
    .split('\n')
    .map((name) => name.replace(/^\.\//, ''))
    .sort();
}

describe('tar', () => {
  it('packs and unpacks, with promises and sync, gzipped too; GNU tar reads what it wrote', async () => {
    const { answer, tree } = await onBoth(
      async (ground) => {
        const { fs, root } = ground;
        const tar = await loadWith<typeof Tar>(fs, 'tar');
        makeFolder(ground);
        const at = (name: string) => join(root, name);
        for (const name of ['out', 'outSync', 'again']) fs.mkdirSync(at(name));
        await tar.create({ cwd: at('in'), file: at('a.tar'), portable: true }, ['.']);
        tar.create({ cwd: at('in'), file: at('sync.tgz'), portable: true, gzip: true, sync: true }, ['.']);
        await tar.extract({ cwd: at('out'), file: at('a.tar') });
        tar.extract({ cwd: at('outSync'), file: at('sync.tgz'), sync: true, preserveOwner: false });
        // Again over the existing files: files and links are replaced.
        await tar.extract({ cwd: at('out'), file: at('sync.tgz') });
        writeFiles(ground, { 'in/added.txt': 'added\n' });
        await tar.replace({ cwd: at('in'), file: at('a.tar'), portable: true }, ['added.txt']);
        const names: string[] = [];
        await tar.list({ file: at('a.tar'), onReadEntry: ({ path }) => void names.push(path) });
        await tar.extract({ cwd: at('again'), file: at('a.tar'), strip: 1, filter: (path) => path.includes('deep') });
        return {
          names: names.sort(),
          listed: listed(fs, at('a.tar')),
          times: ['in', 'out', 'outSync'].map((name) => modified(fs, at(`${name}/large.bin`))),
          unpacked: beneath(treeOf(fs, root), '/out/'),
          synchronous: beneath(treeOf(fs, root), '/outSync/'),
          packed: beneath(treeOf(fs, root), '/in/'),
        };
      },
      { leaveOut: /^\/(a\.tar|sync\.tgz)$/ },
    );
    const { 'added.txt': _, ...packed } = answer.packed;
    expect(answer.unpacked).toEqual(packed);
    expect(answer.synchronous).toEqual(answer.unpacked);
    expect(answer.times).toEqual([1_600_000_000, 1_600_000_000, 1_600_000_000]);
    expect(answer.listed).toContain('added.txt');
    expect(tree[`/again/deep/er/${longName}`]).toContain('long name');
  });
});

describe('tar-fs', () => {
  it('packs a folder as a stream and unpacks it into another one', async () => {
    const tarFs = require('tar-fs') as TarFs;
    const { answer } = await onBoth(async (ground) => {
      const { fs, root } = ground;
      makeFolder(ground);
      fs.mkdirSync(join(root, 'out'));
      await pipeline(tarFs.pack(join(root, 'in'), { fs }), tarFs.extract(join(root, 'out'), { fs }));
      await pipeline(tarFs.pack(join(root, 'out'), { fs }), fs.createWriteStream(join(root, 'a.tar')));
      const names = listed(fs, join(root, 'a.tar'));
      fs.rmSync(join(root, 'a.tar'));
      return { names, time: modified(fs, join(root, 'out/large.bin')), tree: beneath(treeOf(fs, root), '/out/') };
    });
    expect(answer.time).toBe(1_600_000_000);
    expect(answer.names).toContain(`deep/er/${longName}`);
    expect(answer.tree.link).toBe('link to deep/er');
    expect(answer.tree['plain.txt']).toContain('file 640');
  });
});

function beneath(tree: Tree, folder: string): Tree {
  const inside = Object.entries(tree).filter(([path]) => path.startsWith(folder));
  return Object.fromEntries(inside.map(([path, what]) => [path.slice(folder.length), what]));
}
