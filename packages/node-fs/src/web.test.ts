import { asyncForm, openFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { createNodeFs as createForNode } from './node/create-node-fs.js';
import type { Stats } from './results/stats.js';
import { codecOf } from './web/encodings.js';
import { createNodeFs, type WebFs } from './web.js';

describe('the web entry point', () => {
  it('has promise and callback forms, and no synchronous ones', () => {
    const fs = createNodeFs();
    const names = Object.keys(fs);
    expect(names.filter((name) => name.endsWith('Sync'))).toEqual([]);
    const later = Object.keys(createForNode()).filter((name) => !name.endsWith('Sync'));
    const ofNode = [
      'ReadStream',
      'WriteStream',
      'FileReadStream',
      'FileWriteStream',
      'createReadStream',
      'createWriteStream',
    ];
    const left = [
      ...ofNode,
      'watch',
      'watchFile',
      'unwatchFile',
      'lchmod',
      '_toUnixTimestamp',
      'StatsFs',
      'F_OK',
      'R_OK',
      'W_OK',
      'X_OK',
    ];
    expect(later.filter((name) => !names.includes(name)).sort()).toEqual(left.sort());
    expect(Object.keys(fs.promises).sort()).toEqual(Object.keys(createForNode().promises).sort());
  });

  it('returns contents as Uint8Array, not as Buffer', async () => {
    const fs = createNodeFs();
    await fs.promises.writeFile('/f', new Uint8Array([1, 2, 3]));
    const bytes = await fs.promises.readFile('/f');
    expect(bytes.constructor).toBe(Uint8Array);
    expect(bytes).toEqual(new Uint8Array([1, 2, 3]));
    const heard = await new Promise((resolve) => fs.readFile('/f', (...given) => resolve(given)));
    expect(heard).toEqual([null, new Uint8Array([1, 2, 3])]);
    const handle = await fs.promises.open('/f', 'r+');
    expect((await handle.readFile()).constructor).toBe(Uint8Array);
    const { bytesRead, buffer } = await handle.read(new Uint8Array(2), 0, 2, 1);
    expect([bytesRead, buffer]).toEqual([2, new Uint8Array([2, 3])]);
    await handle.close();
  });

  it('fails with the messages of node:fs', async () => {
    const fs = createNodeFs();
    await expect(fs.promises.readFile('/missing')).rejects.toMatchObject({
      message: "ENOENT: no such file or directory, open '/missing'",
      code: 'ENOENT',
      errno: -2,
      syscall: 'open',
      path: '/missing',
    });
    await expect(fs.promises.stat(5 as never)).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
    expect(() => fs.stat('/f', undefined as never)).toThrow('The "cb" argument must be of type function.');
  });

  it('supports the calls that web programs make, over any storage', async () => {
    const far = await openFileSystem(asyncForm(new MemoryStorage()));
    for (const fs of [createNodeFs(), createNodeFs(far)]) {
      const { promises } = fs;
      await promises.mkdir('/repo/.git', { recursive: true });
      await promises.writeFile('/repo/.git/HEAD', 'ref: refs/heads/main\n');
      await promises.symlink('.git/HEAD', '/repo/head');
      expect(await promises.readlink('/repo/head')).toBe('.git/HEAD');
      expect(await promises.readFile('/repo/head', 'utf8')).toBe('ref: refs/heads/main\n');
      expect((await promises.lstat('/repo/head')).isSymbolicLink()).toBe(true);
      expect((await promises.readdir('/repo')).sort()).toEqual(['.git', 'head']);
      const found: string[] = [];
      for await (const path of promises.glob('**/.git/*', { cwd: '/repo' })) found.push(path);
      expect(found).toEqual(['.git/HEAD']);
      await promises.rm('/repo', { recursive: true });
      await expect(promises.access('/repo')).rejects.toMatchObject({ code: 'ENOENT' });
    }
  });

  it('watches by promises', async () => {
    const fs = createNodeFs();
    const controller = new AbortController();
    const watching = (async () => {
      for await (const event of fs.promises.watch('/', { signal: controller.signal })) return event;
      return undefined;
    })();
    await new Promise((resolve) => setTimeout(resolve, 5));
    await fs.promises.writeFile('/f', '');
    expect(await watching).toEqual({ eventType: 'rename', filename: 'f' });
  });

  it('calls back asynchronously', async () => {
    const fs = createNodeFs();
    const order: string[] = [];
    const done = new Promise<void>((resolve) =>
      fs.exists('/', (exists) => {
        order.push(String(exists));
        resolve();
      }),
    );
    order.push('later');
    await done;
    expect(order).toEqual(['later', 'true']);
  });

  it('has its own types', () => {
    expectTypeOf(createNodeFs()).toEqualTypeOf<WebFs>();
    expectTypeOf<WebFs['promises']['readFile']>().toBeCallableWith('/f');
    const fs = createNodeFs();
    expectTypeOf(fs.promises.readFile('/f', 'utf8').catch(() => '')).resolves.toBeString();
    expectTypeOf(fs.promises.readFile('/f').catch(() => new Uint8Array())).resolves.toEqualTypeOf<
      Uint8Array<ArrayBuffer>
    >();
    fs.stat('/', (_, stats) => expectTypeOf(stats).toEqualTypeOf<Stats>());
    fs.mkdir('/d', () => {});
    fs.mkdir('/e', { recursive: true }, () => {});
    expectTypeOf<WebFs>().not.toHaveProperty('readFileSync');
  });
});

describe('the arguments of createNodeFs', () => {
  it('are a filesystem and a umask, and nothing else', () => {
    for (const wrong of [null, {}, 'x', 5]) expect(() => createNodeFs(wrong as never)).toThrow(TypeError);
    expect(() => createNodeFs(undefined, { mask: 1 } as never)).toThrow(
      "createNodeFs has no option 'mask'. It takes umask",
    );
    expect(() => createNodeFs(undefined, { umask: 'x' } as never)).toThrow('umask must be a number, not string');
    expect(() => createNodeFs(undefined, { umask: 0o1000 })).toThrow(RangeError);
  });

  it('include a umask that applies to new entries', async () => {
    const fs = createNodeFs(undefined, { umask: 0o077 });
    await fs.promises.writeFile('/f', '');
    await fs.promises.mkdir('/d');
    expect((await fs.promises.stat('/f')).mode & 0o777).toBe(0o600);
    expect((await fs.promises.stat('/d')).mode & 0o777).toBe(0o700);
  });
});

describe('the encodings of the web entry point are those of Buffer', () => {
  const names = [
    'utf8',
    'utf-8',
    'utf16le',
    'ucs2',
    'ucs-2',
    'utf-16le',
    'latin1',
    'binary',
    'ascii',
    'hex',
    'base64',
    'base64url',
  ];
  const texts = [
    '',
    'plain',
    'ümläut €',
    '😀',
    '\uFEFFx',
    'ab',
    'abc',
    'YWJj',
    'YWI=',
    'YW-_',
    'YQ',
    'Y',
    'zz',
    '0g',
    '00ff7',
    'a b\nc',
    '\ud800',
    '====',
    'YQ==YQ==',
  ];
  const bytes = [
    '',
    '00',
    'ff',
    'c3',
    'e282',
    'f09f98',
    'eda080',
    'c0',
    '61ff62',
    'efbbbf41',
    'd83d',
    '3dd800de',
    '80'.repeat(40),
  ];

  it.each(names)('%s', (name) => {
    for (const text of texts) {
      const expected = Buffer.from(text, name as BufferEncoding).toString('hex');
      expect(Buffer.from(codecOf(name)?.encode(text) as Uint8Array).toString('hex'), text).toBe(expected);
    }
    for (const hex of bytes) {
      const given = Buffer.from(hex, 'hex');
      expect(codecOf(name)?.decode(new Uint8Array(given)), hex).toBe(given.toString(name as BufferEncoding));
    }
  });

  it('are known in upper and lower case, and no others are', () => {
    expect(codecOf('UTF8')).toBe(codecOf('utf8'));
    for (const name of ['none', '', 5, undefined, '__proto__', 'constructor']) {
      expect(codecOf(name)).toBeUndefined();
      expect(Buffer.isEncoding(name as string)).toBe(false);
    }
  });

  it('convert large content', () => {
    const large = new Uint8Array(100_000).fill(0xe9);
    expect(codecOf('latin1')?.decode(large)).toBe('é'.repeat(100_000));
    expect(codecOf('base64')?.decode(large)).toBe(Buffer.from(large).toString('base64'));
  });
});
