import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { setMany } from '@scratchfs/core/internal';
import { overlay, restrict } from '@scratchfs/core/layers';
import { glob, grep } from '@scratchfs/core/search';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { hostFileSystem } from './host-file-system.js';
import { bundled } from './testing/bundled.js';

const top = mkdtempSync(join(tmpdir(), 'scratchfs-host-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));
let n = 0;
let root = '';

beforeEach(() => {
  root = join(top, `root-${++n}`);
  mkdirSync(join(root, 'src/deep'), { recursive: true });
  writeFileSync(join(root, 'a.txt'), 'one\n');
  writeFileSync(join(root, 'src/b.ts'), 'let x = 1;\n');
  writeFileSync(join(root, 'src/deep/c.ts'), 'let y = 2;\n', { mode: 0o755 });
  symlinkSync('../a.txt', join(root, 'src/inside'));
  symlinkSync(join(root, 'src'), join(root, 'absolute'));
  symlinkSync('../../secret', join(root, 'src/outside'));
  symlinkSync('/etc', join(root, 'etc'));
  writeFileSync(join(top, 'secret'), 'secret');
});

describe('hostFileSystem()', () => {
  it('keeps the times of a directory in which setMany() creates an entry, and what others have changed in it', async () => {
    await using fs = hostFileSystem(root);
    utimesSync(join(root, 'src'), 1, 2);
    await fs.readdir('/src');
    chmodSync(join(root, 'src'), 0o700);
    await fs.run(setMany, [[{ path: '/src/new', content: 'x' }]]);
    const { mode, mtimeMs } = statSync(join(root, 'src'));
    expect([mode & 0o777, mtimeMs]).toEqual([0o700, 2_000]);
    await fs.writeFile('/src/newer', 'x');
    expect(statSync(join(root, 'src')).mtimeMs).toBeGreaterThan(2_000);
  });

  it('reads files, also through links that stay inside', async () => {
    await using fs = hostFileSystem(root);
    expect(await fs.readText('/src/inside')).toBe('one\n');
    expect(await fs.readText('/absolute/deep/c.ts')).toBe('let y = 2;\n');
    expect(await fs.readdir('/')).toEqual(['a.txt', 'absolute', 'etc', 'src']);
    expect((await fs.stat('/src/deep/c.ts')).mode & 0o777).toBe(0o755);
    expect(await fs.readlink('/absolute')).toBe('/src');
    expect(await fs.realpath('/absolute/deep/../b.ts')).toBe('/src/b.ts');
    const found: string[] = [];
    for await (const path of glob(fs, '**/*.ts')) found.push(path);
    expect(found).toEqual(['/src/b.ts', '/src/deep/c.ts']);
    const lines: string[] = [];
    for await (const match of grep(fs, 'let')) lines.push(match.path);
    expect(lines).toHaveLength(2);
    expect(await fs.stats()).toEqual({ totalSize: expect.any(Number), fileCount: 7, directoryCount: 2, nodeCount: 9 });
  });

  it('closes its descriptor only after the last pending lookup', async () => {
    const [names, other] = [600, join(top, `other-${n}`)];
    mkdirSync(other);
    for (let i = 0; i < names; i++) {
      writeFileSync(join(root, `n${i}`), 'in');
      symlinkSync('elsewhere', join(other, `n${i}`));
    }
    const fs = hostFileSystem(root);
    const listing = fs.readdir('/', { withFileTypes: true });
    // Long listings are read asynchronously, so this one is in progress.
    await setImmediate();
    await fs.close();
    // The descriptor numbers that had been in use now refer to another directory.
    const held = Array.from({ length: 20 }, () => openSync(other, 'r'));
    try {
      const kinds = new Set((await listing).filter(({ name }) => name.startsWith('n')).map(({ kind }) => kind));
      expect([...kinds]).toEqual(['file']);
    } finally {
      for (const descriptor of held) closeSync(descriptor);
    }
  });

  it('shows links that lead out and does not follow them', async () => {
    await using fs = hostFileSystem(root);
    expect(await fs.readlink('/etc')).toBe('/etc');
    for (const path of ['/etc', '/etc/passwd', '/src/outside', '/etc/../etc/hosts'])
      await expect(fs.readFile(path), path).rejects.toMatchObject({
        code: path.startsWith('/etc/..') ? 'EACCES' : 'EACCES',
      });
    await expect(fs.writeFile('/src/outside', 'x')).rejects.toMatchObject({ code: 'EACCES' });
    expect(readFileSync(join(top, 'secret'), 'utf8')).toBe('secret');
    expect(await fs.readText('../../../a.txt')).toBe('one\n');
    await expect(fs.symlink('/etc/passwd', '/x')).rejects.toMatchObject({ code: 'EACCES' });
    await expect(fs.symlink('../../secret', '/src/x')).rejects.toMatchObject({ code: 'EACCES' });
  });

  it('writes, appends, creates, moves, copies, links and removes', async () => {
    await using fs = hostFileSystem(root);
    await fs.writeFile('/new.txt', 'new', { mode: 0o600 });
    await fs.appendFile('/new.txt', ' and more');
    await fs.mkdir('/x/y/z', { recursive: true });
    await fs.rename('/new.txt', '/x/y/moved.txt');
    await fs.rename('/x/y/moved.txt', '/a.txt');
    await fs.cp('/src', '/copy', { recursive: true });
    await fs.symlink('../a.txt', '/x/link');
    await fs.link('/src/b.ts', '/hard');
    await fs.writeFile('/hard', 'changed');
    await fs.chmod('/copy/deep/c.ts', 0o640);
    await fs.utimes('/copy/deep/c.ts', 1_000, 2_000);
    await fs.rm('/src/deep', { recursive: true });
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('new and more');
    expect(statSync(join(root, 'a.txt')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(root, 'src/b.ts'), 'utf8')).toBe('changed');
    expect(readdirSync(join(root, 'copy')).sort()).toEqual(['b.ts', 'deep', 'inside', 'outside']);
    expect(lstatSync(join(root, 'copy/deep/c.ts')).mtimeMs).toBe(2_000_000);
    expect(readlinkSync(join(root, 'x/link'))).toBe('../a.txt');
    expect(existsSync(join(root, 'src/deep'))).toBe(false);
    expect(await fs.readText('/x/link')).toBe('new and more');
    await fs.close();
    expect(readdirSync(root).sort()).toEqual(['a.txt', 'absolute', 'copy', 'etc', 'hard', 'src', 'x']);
  });

  it('moves no link so near to the root that it leads out', async () => {
    mkdirSync(join(root, 'x/y/z'), { recursive: true });
    symlinkSync('../../../a.txt', join(root, 'x/y/z/link'));
    await using fs = hostFileSystem(root);
    for (const work of [
      () => fs.rename('/x/y/z/link', '/link'),
      () => fs.rename('/x/y/z', '/z'),
      () => fs.cp('/x/y', '/y', { recursive: true }),
      () => fs.cp('/x/y/z/link', '/x/link'),
      () => fs.link('/x/y/z/link', '/x/y/link'),
    ])
      await expect(work(), String(work)).rejects.toMatchObject({ code: 'EACCES' });
    expect(readdirSync(root).sort()).toEqual(['a.txt', 'absolute', 'etc', 'src', 'x']);
    await fs.rename('/x/y/z', '/x/y/deeper');
    await fs.rename('/x/y', '/x/yy');
    await fs.cp('/x/yy', '/src/yy', { recursive: true });
    await fs.rename('/src/outside', '/outside');
    expect(await fs.readText('/x/yy/deeper/link')).toBe('one\n');
    expect(await fs.readText('/src/yy/deeper/link')).toBe('one\n');
  });

  it('reads and writes through open files', async () => {
    await using fs = hostFileSystem(root);
    const handle = await fs.open('/a.txt', 'r+');
    await handle.write('ONE', 0);
    const bytes = new Uint8Array(4);
    expect(await handle.read(bytes, 0)).toBe(4);
    await handle.truncate(2);
    await handle.close();
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('ON');
    await new Response('streamed').body?.pipeTo(fs.createWriteStream('/streamed'));
    expect(readFileSync(join(root, 'streamed'), 'utf8')).toBe('streamed');
    expect(await new Response(fs.createReadStream('/streamed', { start: 2 })).text()).toBe('reamed');
  });

  it('sees the changes of other processes', async () => {
    await using fs = hostFileSystem(root);
    expect(await fs.readText('/a.txt')).toBe('one\n');
    writeFileSync(join(root, 'a.txt'), 'two, and longer\n');
    expect(await fs.readText('/a.txt')).toBe('two, and longer\n');
    rmSync(join(root, 'src'), { recursive: true });
    expect(await fs.exists('/src/b.ts')).toBe(false);
    expect(await fs.readdir('/')).toEqual(['a.txt', 'absolute', 'etc']);
  });

  it('opens only regular files', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')]);
    await using fs = hostFileSystem(root);
    await expect(fs.readFile('/pipe')).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await fs.readdir('/')).not.toContain('pipe');
    await expect(fs.writeFile('/pipe', 'x')).rejects.toMatchObject({ code: 'EEXIST' });
  });

  it('changes nothing on the host if it is read-only, and an overlay of it has every feature', async () => {
    // Access times of directories and links are left out, because the comparison itself changes them.
    const dump = () =>
      execFileSync(
        'find',
        [root, '-printf', '%p %m %s %T@ %C@ %l ', '(', '-type', 'f', '-printf', '%A@\n', '-o', '-printf', '\n', ')'],
        { encoding: 'utf8' },
      );
    const before = dump();
    await using fs = hostFileSystem(root, { readonly: true });
    for (const call of [() => fs.writeFile('/x', 'x'), () => fs.rm('/src', { recursive: true }), () => fs.mkdir('/d')])
      await expect(call()).rejects.toMatchObject({ code: 'EROFS' });
    await fs.readText('/a.txt');
    await fs.readdir('/src');
    const work = overlay(fs);
    const checkpoint = await work.checkpoint();
    await work.rm('/src', { recursive: true });
    await work.writeFile('/a.txt', 'changed');
    expect(await work.exists('/src/b.ts')).toBe(false);
    await work.rollback(checkpoint);
    expect(await work.readText('/src/b.ts')).toBe('let x = 1;\n');
    expect(dump()).toBe(before);
  });

  it('refuses to remove a directory that holds entries which are not shown', async () => {
    mkdirSync(join(root, 'odd'));
    execFileSync('mkfifo', [join(root, 'odd/pipe')]);
    await using fs = hostFileSystem(root);
    await fs.mkdir('/empty');
    await expect(fs.rmdir('/odd')).rejects.toMatchObject({ code: 'ENOTEMPTY' });
    await expect(fs.rename('/empty', '/odd')).rejects.toMatchObject({ code: 'ENOTEMPTY' });
    expect(readdirSync(join(root, 'odd'))).toEqual(['pipe']);
    await fs.rename('/empty', '/empty2');
    await fs.rmdir('/empty2');
    await fs.rm('/odd', { recursive: true });
    expect(existsSync(join(root, 'odd'))).toBe(false);
  });

  it('reserves the names of unfinished files, which no client can use', async () => {
    mkdirSync(join(root, '.scratchfs-tmp-of-somebody'));
    writeFileSync(join(root, '.scratchfs-tmp-of-somebody/half'), 'half');
    await using fs = hostFileSystem(root);
    expect(await fs.exists('/.scratchfs-tmp-of-somebody/half')).toBe(false);
    expect(await fs.readdir('/')).not.toContain('.scratchfs-tmp-of-somebody');
    for (const work of [
      () => fs.writeFile('/.scratchfs-tmp-x', ''),
      () => fs.mkdir('/src/.scratchfs-tmp-x'),
      () => fs.rename('/src', '/.scratchfs-tmp-x'),
    ])
      await expect(work()).rejects.toMatchObject({ code: 'EACCES' });
  });

  it('leaves nothing in the directory when the process exits without close(), even within a removal', async () => {
    const bundle = await bundled('leave-open', top);
    for (const when of ['done', 'within']) {
      const directory = join(top, `exit-${when}`);
      for (let i = 0; i < 300; i++) mkdirSync(join(directory, `tree/${i}/x`), { recursive: true });
      const { status, stderr } = spawnSync(process.execPath, [bundle, directory, when], { encoding: 'utf8' });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(readdirSync(directory)).toEqual(when === 'done' ? ['file', 'tree'] : ['file']);
    }
  });

  it('has no checkpoints, forks and transactions of its own, and reports so, through a guard too', async () => {
    await using fs = hostFileSystem(root);
    const guarded = restrict(fs, { check: () => undefined, isVisible: () => true });
    await expect(guarded.transaction(async (branch) => branch.writeFile('/x', ''))).rejects.toMatchObject({
      code: 'ENOTSUP',
    });
    for (const call of [() => fs.checkpoint(), () => fs.fork(), () => fs.transaction(async () => undefined)])
      await expect(call()).rejects.toMatchObject({ code: 'ENOTSUP' });
  });

  it('reveals its path on the host in no error', async () => {
    await using fs = hostFileSystem(root);
    const calls = [
      () => fs.readFile('/nowhere'),
      () => fs.readFile('/src'),
      () => fs.mkdir('/a.txt/x'),
      () => fs.rmdir('/src'),
      () => fs.rename('/src', '/src/deep/x'),
      () => fs.readFile('/etc/passwd'),
      () => fs.writeFile('/a.txt/b', ''),
      () => fs.readFile(`/${'x'.repeat(300)}`),
      () => fs.chown('/nowhere', 1, 1),
      () => fs.link('/src', '/l'),
    ];
    for (const call of calls) {
      const error = (await call().catch((caught: unknown) => caught)) as Error;
      expect(error).toBeInstanceOf(Error);
      expect(`${error.message} ${JSON.stringify(error)} ${error.cause ?? ''}`).not.toContain(top);
    }
  });
});
