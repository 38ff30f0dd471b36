import { execFileSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { asyncStorage, backendOf, type FileSystem, type SyncFileSystem } from '@scratchfs/core';
import { mount, readonly } from '@scratchfs/core/layers';
import { MemoryStorage } from '@scratchfs/memory';
import { createTarPacker, packTar as packEntries, type TarEntry } from 'modern-tar';
import { afterAll, describe, expect, it } from 'vitest';
import { createFileSystem } from '../create-file-system.js';
import { packTar } from './pack-tar.js';
import { fromSeconds, toSeconds } from './times.js';
import { unpackTar } from './unpack-tar.js';

const folder = mkdtempSync(join(tmpdir(), 'scratchfs-tar-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let folders = 0;
function newFolder(): string {
  const path = join(folder, `${folders++}`);
  execFileSync('mkdir', [path]);
  return path;
}

async function bytesOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function tar(...options: string[]): string {
  return execFileSync('tar', options, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

const LONG = 'a-long-name-'.repeat(20);
const SECOND = 1_700_000_000_000;

function fill(fs: SyncFileSystem): void {
  fs.mkdirSync(`/src/${LONG}/${LONG}`, { recursive: true, mode: 0o750 });
  fs.mkdirSync('/empty', { mode: 0o1777 });
  fs.writeFileSync('/src/index.ts', 'export {};\n');
  fs.writeFileSync('/src/empty', '');
  fs.writeFileSync(
    '/src/binary',
    Uint8Array.from({ length: 70_000 }, (_, i) => i * 7),
    { mode: 0o4711 },
  );
  fs.writeFileSync(`/src/${LONG}/${LONG}/deep`, 'deep', { mode: 0o600 });
  fs.writeFileSync('/naïve 文字 \u{1f600}', 'not ASCII');
  fs.writeFileSync('/src/with\nnewline and "quotes"', 'x');
  fs.symlinkSync('../src/index.ts', '/empty/link');
  fs.symlinkSync('/nowhere', '/src/dangling');
  fs.symlinkSync(`${LONG}/${LONG}/deep`, '/src/long-link');
  fs.linkSync('/src/index.ts', '/hard');
  fs.linkSync('/src/index.ts', `/src/${LONG}/hard`);
  fs.chownSync('/src/empty', 1000, 3_000_000);
  fs.lutimesSync('/src/dangling', new Date(SECOND), new Date(SECOND));
  fs.utimesSync('/src/empty', new Date(SECOND), new Date(SECOND + 123));
  fs.utimesSync('/src/binary', new Date(0), new Date(-1500));
  fs.utimesSync('/src', new Date(SECOND), new Date(SECOND));
}

/** Returns everything that an archive can carry. */
function dump(fs: SyncFileSystem, top = '/'): unknown {
  return [...fs.walkSync(top)].map(({ path, kind, mode, uid, gid, size, modifiedAt, links, target }) => {
    const content = kind === 'file' ? Buffer.from(fs.readFileSync(path)).toString('latin1') : undefined;
    return {
      path: path.slice(top === '/' ? 0 : top.length),
      kind,
      mode,
      uid,
      gid,
      size,
      modifiedAt,
      links,
      target,
      content,
    };
  });
}

describe('packTar and unpackTar', () => {
  it('bring everything an archive can carry into another filesystem', async () => {
    const fs = createFileSystem();
    fill(fs);
    fs.writeFileSync('/\ufeffmark', 'a byte order mark');
    fs.symlinkSync('\ufeffmark', '/to-mark');
    const copy = createFileSystem();
    await unpackTar(copy, packTar(fs));
    expect(dump(copy)).toEqual(dump(fs));
    expect(copy.statSync('/hard').ino).toBe(copy.statSync('/src/index.ts').ino);
    const beneath = createFileSystem();
    await unpackTar(beneath, await bytesOf(packTar(fs)), '/some/where');
    expect(dump(beneath, '/some/where')).toEqual(dump(fs));
    const part = createFileSystem();
    await unpackTar(part, packTar(fs, '/src'));
    expect(part.readTextSync('/index.ts')).toBe('export {};\n');
  });

  it('pack the same if the storage cannot be forked', async () => {
    const fs = createFileSystem();
    fill(fs);
    const without = new Proxy(fs, {
      get: (target, key) => {
        if (key === 'capabilities') return { ...target.capabilities, forks: false };
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    expect(Buffer.from(await bytesOf(packTar(without))).equals(Buffer.from(await bytesOf(packTar(fs))))).toBe(true);
  });

  it('pack a single file under its own name', async () => {
    const fs = createFileSystem({ files: { '/a/b.txt': 'content' } });
    const copy = createFileSystem();
    await unpackTar(copy, packTar(fs, '/a/b.txt'));
    expect(copy.toJSON()).toEqual({ '/b.txt': 'content' });
  });

  it('show the state at the call, whatever is written while the archive is read', async () => {
    const fs = createFileSystem();
    for (let i = 0; i < 40; i++) fs.writeFileSync(`/file-${i}`, new Uint8Array(2 ** 19).fill(1));
    const stream = packTar(fs);
    for (let i = 0; i < 40; i++) fs.writeFileSync(`/file-${i}`, 'changed');
    const copy = createFileSystem();
    await unpackTar(copy, stream);
    for (let i = 0; i < 40; i++) expect(copy.statSync(`/file-${i}`).size).toBe(2 ** 19);
  });

  it('keep times to the millisecond and finer', () => {
    for (const ms of [0, 1, 999, 1000, SECOND, SECOND + 1, -1, -1500, 0.5, 1234.0625, 8.64e15, -8.64e15]) {
      expect(fromSeconds(toSeconds(ms))).toBe(ms);
    }
    expect(toSeconds(1500)).toBe('1.5');
    expect(toSeconds(-1)).toBe('-0.001');
    expect(fromSeconds('1700000000.000000000')).toBe(SECOND);
    for (const bad of ['', 'x', '1e5', 'Infinity', '9'.repeat(20), '1.2.3']) expect(fromSeconds(bad)).toBeUndefined();
  });
});

describe('with GNU tar', () => {
  it('an archive of packTar is unpacked by tar', async () => {
    const fs = createFileSystem();
    fill(fs);
    const archive = join(folder, 'ours.tar');
    writeFileSync(archive, await bytesOf(packTar(fs)));
    const out = newFolder();
    tar('-xpf', archive, '-C', out, '--same-owner');
    for (const entry of fs.walkSync('/')) {
      const host = join(out, entry.path);
      const stat = lstatSync(host);
      if (entry.kind === 'symlink') {
        expect(readlinkSync(host)).toBe(entry.target);
        continue;
      }
      expect({ path: entry.path, mode: stat.mode & 0o7777 }).toEqual({ path: entry.path, mode: entry.mode });
      expect(Math.round(stat.mtimeMs)).toBe(Math.round(entry.modifiedAt));
      expect(stat.isDirectory()).toBe(entry.isDirectory);
      if (entry.kind !== 'file') continue;
      expect(readFileSync(host).equals(Buffer.from(fs.readFileSync(entry.path)))).toBe(true);
      expect(stat.nlink).toBe(entry.links);
    }
    const names = [...fs.walkSync('/')].length;
    expect((readdirSync(out, { recursive: true }) as string[]).length).toBe(names);
  });

  it.each(['gnu', 'pax', 'ustar'])('an archive of tar in the format %s is unpacked by unpackTar', async (format) => {
    const host = newFolder();
    const long = format === 'ustar' ? 'a'.repeat(90) : LONG;
    execFileSync('sh', [
      '-ec',
      `
      mkdir -p "$1/src/$2" "$1/empty"; cd "$1"
      printf 'export {};\\n' > src/index.ts; ln src/index.ts hard; ln -s src/index.ts link; ln -s "src/$2/deep" "src/$2/l"
      head -c 70000 /dev/urandom > src/binary; : > src/nothing; printf deep > "src/$2/deep"; printf x > 'naïve 文字'
      chmod 4711 src/binary; chmod 1777 empty; chmod 600 "src/$2/deep"
      touch -d '2021-03-04 05:06:07.25' src/index.ts; touch -d '2001-01-01' empty src`,
      'sh',
      host,
      long,
    ]);
    const archive = join(folder, `${format}.tar`);
    tar(`--format=${format}`, '-cf', archive, '-C', host, '.');
    const fs = createFileSystem();
    await unpackTar(fs, readFileSync(archive));
    const fromHost = (readdirSync(host, { recursive: true }) as string[]).sort();
    expect([...fs.walkSync('/')].map((entry) => entry.path.slice(1)).sort()).toEqual(fromHost);
    for (const entry of fs.walkSync('/')) {
      const path = join(host, entry.path);
      const stat = lstatSync(path);
      const mtime = format === 'pax' ? stat.mtimeMs : Math.floor(stat.mtimeMs / 1000) * 1000;
      expect({ path, mtime: entry.modifiedAt, links: entry.isDirectory ? 1 : entry.links }).toEqual({
        path,
        mtime: expect.closeTo(mtime, 2),
        links: entry.isDirectory ? 1 : stat.nlink,
      });
      expect(entry.uid).toBe(stat.uid);
      if (entry.kind === 'symlink') expect(entry.target).toBe(readlinkSync(path));
      else expect(entry.mode).toBe(stat.mode & 0o7777);
      if (entry.kind === 'file') expect(readFileSync(path).equals(Buffer.from(fs.readFileSync(entry.path)))).toBe(true);
    }
  });

  it('a sparse file is refused, not read as a short one', async () => {
    const host = newFolder();
    execFileSync('truncate', ['-s', '10M', join(host, 'sparse')]);
    for (const format of ['gnu', 'pax']) {
      const archive = join(folder, `sparse-${format}.tar`);
      tar(`--format=${format}`, '-S', '-cf', archive, '-C', host, 'sparse');
      const fs = createFileSystem();
      await expect(unpackTar(fs, readFileSync(archive))).rejects.toMatchObject({ code: 'EINVAL', message: /parse/ });
      expect(fs.statsSync().nodeCount).toBe(0);
    }
  });
});

describe('unpackTar', () => {
  const entry = (name: string, header: Partial<TarEntry['header']> = {}, body = 'x'): TarEntry => {
    const bodyless = header.type !== undefined && header.type !== 'file';
    const size = bodyless ? 0 : new TextEncoder().encode(body).length;
    return { header: { name, size, mtime: new Date(SECOND), ...header }, ...(bodyless ? {} : { body }) };
  };

  it.each([
    '../escape',
    'a/../../escape',
    'a/../b',
    '/absolute',
    '//absolute',
    'back\\slash',
    '..\\x',
    'a//b',
    'a/./b',
    'a'.repeat(256),
    '..',
    '',
  ])('refuses the name %j, and unpacks nothing', async (name) => {
    for (const header of [{}, { type: 'directory' }, { type: 'symlink', linkname: 'x' }] as const) {
      const archive = await packEntries([entry('innocent'), entry('x'), entry(name, header)]);
      const fs = createFileSystem();
      const error = { code: 'EINVAL', message: expect.stringContaining('Nothing was unpacked') };
      await expect(unpackTar(fs, archive)).rejects.toMatchObject(error);
      expect(fs.statsSync().nodeCount).toBe(0);
    }
    const link = await packEntries([entry('innocent'), entry('link', { type: 'link', linkname: name })]);
    const fs = createFileSystem({ files: { '/escape': 'secret', '/absolute': 'secret' } });
    await expect(unpackTar(fs, link, '/in/here')).rejects.toMatchObject({ code: 'EINVAL' });
    expect(fs.existsSync('/in')).toBe(false);
  });

  it('refuses names in pax headers by the same rules', async () => {
    for (const path of ['../x', '/x', 'a\\b', 'a\0b']) {
      const fs = createFileSystem();
      const archive = await packEntries([entry('plain', { pax: { path } })]);
      await expect(unpackTar(fs, archive)).rejects.toMatchObject({ code: 'EINVAL' });
      expect(fs.statsSync().nodeCount).toBe(0);
    }
  });

  it('refuses a sparse file behind a header whose size two readers understand differently', async () => {
    const BLOCK = 512;
    const withChecksum = (header: Uint8Array): Uint8Array => {
      const sum = header.subarray(0, BLOCK).reduce((all, byte, i) => all + (i >= 148 && i < 156 ? 32 : byte), 0);
      header.set(new TextEncoder().encode(`${sum.toString(8).padStart(6, '0')}\0 `), 148);
      return header;
    };
    const body = new Uint8Array(16 * BLOCK);
    const file = { header: { name: 'evil', size: body.length, mtime: new Date(SECOND) }, body };
    const plain = (await packEntries([file])).slice(0, BLOCK);
    const pax = (await packEntries([entry('a', { pax: { comment: 'x' } }, '')])).slice(0, 2 * BLOCK);
    // A size: 512 up to the NUL, 4,096 with the digit after it.
    pax.set(new TextEncoder().encode('001000\u00000\0\0\0\0'), 124);
    const sparse = plain.slice();
    sparse[156] = 'S'.charCodeAt(0);
    // Where a reader that skips 4096 bytes expects the next header.
    body.set(plain, BLOCK + 8 * BLOCK - 3 * BLOCK);
    const archive = Buffer.concat([withChecksum(pax), withChecksum(sparse), body, new Uint8Array(16 * BLOCK)]);
    const fs = createFileSystem();
    await expect(unpackTar(fs, archive)).rejects.toMatchObject({ code: 'EINVAL' });
    expect(fs.statsSync().nodeCount).toBe(0);
  });

  it.each(['a', 'a/'])(
    'refuses %s with another size in a pax header, behind which a sparse file hides',
    async (name) => {
      const HEADER = 512;
      const sparse = (await packEntries([entry('sparse')])).slice(0, 2 * HEADER);
      sparse[156] = 'S'.charCodeAt(0);
      const sum = sparse.subarray(0, HEADER).reduce((all, byte, i) => all + (i >= 148 && i < 156 ? 32 : byte), 0);
      sparse.set(new TextEncoder().encode(`${sum.toString(8).padStart(6, '0')}\0 `), 148);
      const body = { header: { name, size: sparse.length, mtime: new Date(SECOND) }, body: sparse };
      const pax = (await packEntries([entry('a', { pax: { size: '0' } }, '')])).slice(0, 2 * HEADER);
      const archive = Buffer.concat([pax, await packEntries([body])]);
      const fs = createFileSystem();
      await expect(unpackTar(fs, archive)).rejects.toMatchObject({
        code: 'EINVAL',
        message: expect.stringContaining('another size'),
      });
      expect(fs.statsSync().nodeCount).toBe(0);
    },
  );

  it.each(['character-device', 'block-device', 'fifo'] as const)('refuses a %s', async (type) => {
    const archive = await packEntries([entry('innocent'), entry('dev', { type })]);
    const fs = createFileSystem();
    await expect(unpackTar(fs, archive)).rejects.toThrow(`A ${type} cannot be unpacked`);
    expect(fs.statsSync().nodeCount).toBe(0);
  });

  it('writes nothing through a link, from the archive or from before', async () => {
    const through = await packEntries([
      entry('link', { type: 'symlink', linkname: '/outside' }),
      entry('link/file', {}, 'written through'),
    ]);
    const fs = createFileSystem({ files: { '/outside/kept': 'kept' } });
    await expect(unpackTar(fs, through, '/in')).rejects.toMatchObject({ code: 'ENOTDIR' });
    expect(fs.toJSON()).toEqual({ '/outside/kept': 'kept' });
    fs.symlinkSync('/outside', '/there');
    const plain = await packEntries([entry('there/file')]);
    await expect(unpackTar(fs, plain)).rejects.toMatchObject({ code: 'ENOTDIR' });
    const hard = await packEntries([entry('hard', { type: 'link', linkname: 'there/kept' })]);
    await expect(unpackTar(fs, hard)).rejects.toMatchObject({ code: 'ENOTDIR' });
    expect(fs.readdirSync('/outside')).toEqual(['kept']);
    const replace = await packEntries([entry('there', {}, 'a file now')]);
    await unpackTar(fs, replace);
    expect(fs.readTextSync('/there')).toBe('a file now');
    expect(fs.readdirSync('/outside')).toEqual(['kept']);
  });

  it('replaces files, keeps directories, and unlinks replaced files from their hard links', async () => {
    const fs = createFileSystem({ files: { '/a/old': 'old', '/a/same': 'before', '/dir': null, '/was-file': 'x' } });
    fs.linkSync('/a/same', '/other-name');
    const archive = await packEntries([
      entry('a/', { type: 'directory', mode: 0o700 }),
      entry('a/same', {}, 'after'),
      entry('was-file/', { type: 'directory' }),
      entry('a/same', {}, 'the last one counts'),
    ]);
    await unpackTar(fs, archive);
    expect(fs.readTextSync('/a/old')).toBe('old');
    expect(fs.readTextSync('/a/same')).toBe('the last one counts');
    expect(fs.readTextSync('/other-name')).toBe('before');
    expect(fs.statSync('/a').mode & 0o7777).toBe(0o700);
    expect(fs.isDirectorySync('/was-file')).toBe(true);
    const inTheWay = await packEntries([entry('a/new'), entry('dir', {}, 'a file')]);
    await expect(unpackTar(fs, inTheWay)).rejects.toMatchObject({ code: 'EISDIR' });
    expect(fs.existsSync('/a/new')).toBe(false);
  });

  it('removes leading names', async () => {
    const archive = await packEntries([
      entry('top/', { type: 'directory' }),
      entry('top/a/file', {}, 'content'),
      entry('top/hard', { type: 'link', linkname: 'top/a/file' }),
      entry('top/soft', { type: 'symlink', linkname: 'a/file' }),
      entry('beside'),
    ]);
    const fs = createFileSystem();
    await unpackTar(fs, archive, '/', { strip: 1 });
    expect(fs.toJSON()).toEqual({ '/a/file': 'content', '/hard': 'content', '/soft': { symlink: 'a/file' } });
    await expect(unpackTar(fs, archive, '/', { strip: -1 })).rejects.toThrow(RangeError);
    await expect(unpackTar(fs, archive, '/', { strip: 1.5 })).rejects.toThrow(RangeError);
    await expect(unpackTar(fs, archive, '/', { stripe: 1 } as object)).rejects.toThrow(/no option "stripe"/);
  });

  it('refuses a hard link to a missing path or to a directory', async () => {
    for (const linkname of ['missing', 'dir', 'later']) {
      const archive = await packEntries([
        entry('dir/', { type: 'directory' }),
        entry('hard', { type: 'link', linkname }),
        entry('later'),
      ]);
      const fs = createFileSystem();
      await expect(unpackTar(fs, archive)).rejects.toMatchObject({ code: 'EINVAL' });
      expect(fs.statsSync().nodeCount).toBe(0);
    }
  });

  it('refuses an archive that is damaged, truncated, or not an archive', async () => {
    const archive = await packEntries([entry('a', {}, 'x'.repeat(1000)), entry('b')]);
    const fs = createFileSystem();
    for (let length = 1; length < archive.length; length += 97) {
      await expect(unpackTar(fs, archive.slice(0, length))).rejects.toMatchObject({ code: 'EINVAL' });
    }
    for (const at of [0, 100, 148, 156, 1536]) {
      const damaged = archive.slice();
      damaged[at] = (damaged[at] as number) ^ 1;
      await expect(unpackTar(fs, damaged)).rejects.toMatchObject({ code: 'EINVAL' });
    }
    await expect(unpackTar(fs, new TextEncoder().encode('no archive'))).rejects.toMatchObject({ code: 'EINVAL' });
    await expect(unpackTar(fs, 'text' as unknown as Uint8Array)).rejects.toThrow(TypeError);
    expect(fs.statsSync().nodeCount).toBe(0);
  });

  it('checks limits before it reads the content that exceeds them, and unpacks nothing', async () => {
    const archive = await packEntries([entry('a', {}, 'x'.repeat(600)), entry('b', {}, 'x'.repeat(600))]);
    for (const [limits, expected] of [
      [{ maxTotalSize: 1000 }, { code: 'ENOSPC', limit: 'maxTotalSize', requested: 1200 }],
      [{ maxFileSize: 599 }, { code: 'EFBIG', limit: 'maxFileSize', requested: 600 }],
      [{ maxNodeCount: 1 }, { code: 'ENOSPC', limit: 'maxNodeCount' }],
    ] as const) {
      const fs = createFileSystem({ limits });
      await expect(unpackTar(fs, archive)).rejects.toMatchObject(expected);
      expect(fs.statsSync().nodeCount).toBe(0);
    }
    let pulled = 0;
    const { readable, controller } = createTarPacker();
    const writer = controller.add({ name: 'bomb', size: 2 ** 32 }).getWriter();
    const feed = async () => {
      for (; pulled < 2 ** 32; pulled += 2 ** 16) await writer.write(new Uint8Array(2 ** 16));
    };
    feed().catch(() => {});
    const fs = createFileSystem({ limits: { maxTotalSize: 10_000 } });
    await expect(unpackTar(fs, readable)).rejects.toMatchObject({ code: 'ENOSPC', requested: 2 ** 32 });
    expect(pulled).toBeLessThan(2 ** 26);
  });

  it('names the limit that an archive exceeds', async () => {
    const archive = await packEntries([entry('a', {}, 'x'.repeat(600)), entry('b', {}, 'x'.repeat(600))]);
    for (const [limits, text] of [
      [{ maxTotalSize: 1000 }, 'The limit maxTotalSize is 1000 bytes; 600 are in use and this would make 1200'],
      [{ maxFileSize: 599 }, 'The limit maxFileSize is 599 bytes; 0 are in use and this would make 600'],
      [{ maxNodeCount: 1 }, 'The limit maxNodeCount is 1 entries; 0 are in use and this would make 2'],
    ] as const)
      await expect(unpackTar(createFileSystem({ limits }), archive)).rejects.toThrow(text);
  });

  it('stops reading at more entries than the limit, but counts a name once', async () => {
    let written = 0;
    const { readable, controller } = createTarPacker();
    const feed = async () => {
      for (; written < 100_000; written++)
        await controller
          .add(entry(`f${written}`, {}, '').header)
          .getWriter()
          .close();
    };
    feed().catch(() => {});
    const fs = createFileSystem({ limits: { maxNodeCount: 10 } });
    await expect(unpackTar(fs, readable)).rejects.toMatchObject({ code: 'ENOSPC', limit: 'maxNodeCount' });
    expect(written).toBeLessThan(1_000);
    await unpackTar(fs, await packEntries(Array.from({ length: 20 }, (_, i) => entry('same', {}, `${i}`))));
    expect(fs.readTextSync('/same')).toBe('19');
  });

  it('obeys limits that another client has raised or lowered', async () => {
    const backend = backendOf(new MemoryStorage());
    const clients = [asyncStorage(backend), asyncStorage(backend)].map((storage) => createFileSystem({ storage }));
    const [fs, other] = (await Promise.all(clients)) as [FileSystem, FileSystem];
    const archive = await packEntries([entry('f', {}, '12345')]);
    for (const maxTotalSize of [4, 5, 4]) {
      await other.setLimits({ maxTotalSize });
      if (maxTotalSize === 5) await unpackTar(fs, archive);
      else await expect(unpackTar(fs, archive)).rejects.toMatchObject({ code: 'ENOSPC', allowed: maxTotalSize });
      await other.rm('/f', { force: true });
    }
  });

  it('takes gzip, as bytes and as a stream of single bytes', async () => {
    const archive = gzipSync(await packEntries([entry('a'), entry('d/b', {}, 'y'.repeat(70_000))]));
    const inBytes = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of archive) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    for (const tar of [archive, inBytes]) {
      const fs = createFileSystem();
      await unpackTar(fs, tar);
      expect([fs.readTextSync('/a'), fs.readTextSync('/d/b').length]).toEqual(['x', 70_000]);
    }
  });

  it('refuses gzip that is damaged, cut, or too large when it is unpacked', async () => {
    const archive = gzipSync(await packEntries([entry('a', {}, 'y'.repeat(10_000_000))]));
    expect(archive.length).toBeLessThan(20_000);
    const fs = createFileSystem({ limits: { maxTotalSize: 1_000_000 } });
    for (const limited of [fs, mount(fs, { '/lib': readonly(createFileSystem()) })])
      await expect(unpackTar(limited, archive)).rejects.toMatchObject({
        code: 'ENOSPC',
        requested: 10_000_000,
        syscall: 'untar',
      });
    const damaged = Uint8Array.from(archive);
    damaged[5_000] = (damaged[5_000] as number) ^ 0xff;
    const error = { code: 'EINVAL', message: expect.stringContaining('gzip') };
    await expect(unpackTar(createFileSystem(), damaged)).rejects.toMatchObject(error);
    await expect(unpackTar(createFileSystem(), archive.subarray(0, 9_000))).rejects.toMatchObject(error);
    expect(fs.statsSync().nodeCount).toBe(0);
  });

  it('rejects with the error of a stream, and stops when its signal aborts', async () => {
    const fs = createFileSystem();
    const archive = await packEntries([entry('a'), entry('b')]);
    const failing = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(archive.subarray(0, 512));
        controller.error(new Error('the line is dead'));
      },
    });
    await expect(unpackTar(fs, failing)).rejects.toMatchObject({ cause: { message: 'the line is dead' } });
    let cancelled: unknown;
    const hanging = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(archive.subarray(0, 512)),
      cancel: (reason) => {
        cancelled = reason;
      },
    });
    const controller = new AbortController();
    const unpacking = unpackTar(fs, hanging, '/', { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(unpacking).rejects.toThrow('enough');
    expect(cancelled).toMatchObject({ message: 'enough' });
    const aborted = AbortSignal.abort(new Error('before'));
    await expect(unpackTar(fs, archive, '/', { signal: aborted })).rejects.toThrow('before');
    await expect(bytesOf(packTar(fs, '/', { signal: aborted }))).rejects.toThrow('before');
    expect(fs.statsSync().nodeCount).toBe(0);
  });

  it('needs an existing path to pack, and a directory to unpack into', async () => {
    const fs = createFileSystem({ files: { '/file': 'x' } });
    await expect(bytesOf(packTar(fs, '/missing'))).rejects.toMatchObject({ code: 'ENOENT' });
    const archive = await packEntries([entry('a')]);
    await expect(unpackTar(fs, archive, '/file')).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(unpackTar(fs, archive, '/file/beneath')).rejects.toMatchObject({ code: 'ENOTDIR' });
  });
});
