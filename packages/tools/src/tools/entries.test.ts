import { describe, expect, it } from 'vitest';
import { createFileTools } from '../file-tools.js';
import { shortSize } from '../short-size.js';
import { memory, named, STORAGES, whole, yes } from '../testing/sandboxes.js';

/** A PNG of one transparent pixel. */
const PNG = Uint8Array.from(
  atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='),
  (unit) => unit.charCodeAt(0),
);

describe.each(STORAGES)('file_info on %s', (_, create) => {
  const setUp = async () => {
    const fileSystem = await create({
      '/w/a.ts': 'let a;\n',
      '/w/big': 'x'.repeat(2_000),
      '/w/i.png': PNG,
      '/w/empty': '',
      '/w/d/x': 'x',
      '/w/to-a': { symlink: 'd/../a.ts' },
      '/w/out': { symlink: '/secret' },
      '/secret': 's',
    });
    const { call } = createFileTools(named(fileSystem, { w: { root: '/w', maxFileBytes: 1_000 } }));
    return (path: string) => call('file_info', { path });
  };

  it('says what a file, a directory and a link are', async () => {
    const info = await setUp();
    const { text, structured, links } = await info('w/a.ts');
    expect(text).toMatch(/^'w\/a.ts': file, text in UTF-8\nsize: 7 bytes\nchanged: 1970-\S+Z\nmode: 644$/);
    expect(structured).toEqual({
      path: 'w/a.ts',
      kind: 'file',
      size: 7,
      mode: '644',
      modified: expect.stringMatching(/^1970/),
      content: 'text',
      mediaType: undefined,
    });
    expect(links).toEqual(['w/a.ts']);
    expect((await info('w/i.png')).text).toMatch(/^'w\/i.png': file, a PNG image \(image\/png\)\nsize: 70 bytes\n/);
    expect((await info('w/i.png')).structured?.mediaType).toBe('image/png');
    expect((await info('w/empty')).text).toMatch(/^'w\/empty': file\nsize: 0 bytes\n/);
    expect((await info('w/d')).text).toMatch(/^'w\/d': directory of 1 entry\nchanged/);
    expect(await info('w/to-a')).toMatchObject({
      text: expect.stringMatching(/^'w\/to-a': link to 'w\/a.ts'\n/),
      structured: { kind: 'symlink', target: 'w/a.ts' },
      links: ['w/to-a', 'w/a.ts'],
    });
  });

  it('says nothing of what the policy hides', async () => {
    const info = await setUp();
    expect((await info('w/out')).text).toMatch(
      /^'w\/out': link to a path that does not exist or is not in the sandbox\n/,
    );
    expect((await info('w/big')).text).toMatch(/^'w\/big': file\nsize: 2000 bytes \(2\.0K\)\n/);
    expect((await info('w/none')).text).toContain("ENOENT: no such file or directory, lstat 'w/none'");
    expect((await info('/secret')).text).toContain('path is outside sandbox');
  });
});

describe('make_directory', () => {
  it('creates a directory and its parents, once', async () => {
    const fileSystem = memory({ '/file': 'x' });
    const { call } = createFileTools(whole(fileSystem), { approve: yes });
    expect(await call('make_directory', { path: '/a/b' })).toEqual({
      text: "Created the directory '/a/b'.",
      isError: false,
      structured: { path: '/a/b', created: true },
      links: ['/a/b'],
    });
    expect(fileSystem.isDirectorySync('/a/b')).toBe(true);
    expect((await call('make_directory', { path: '/a' })).text).toBe("The directory '/a' exists already.");
    expect((await call('make_directory', { path: '/file' })).text).toContain(
      "EEXIST: file already exists, mkdir '/file'",
    );
    expect((await call('make_directory', { path: '../x' })).text).toContain('path is outside sandbox');
  });

  it('needs approval', async () => {
    const fileSystem = memory();
    expect((await createFileTools(whole(fileSystem)).call('make_directory', { path: '/a' })).text).toMatch(/^Not done/);
    expect(fileSystem.existsSync('/a')).toBe(false);
  });
});

describe('read_media', () => {
  it('returns an image with its type', async () => {
    const { call } = createFileTools(whole(memory({ '/i.txt': PNG })));
    const result = await call('read_media', { path: 'i.txt' });
    expect(result).toMatchObject({
      text: "'i.txt' is a PNG image of 70 bytes.",
      structured: { path: 'i.txt', mediaType: 'image/png', size: 70 },
      links: ['i.txt'],
    });
    expect(Uint8Array.from(atob(result.media?.[0]?.data ?? ''), (unit) => unit.charCodeAt(0))).toEqual(PNG);
    expect(result.media?.[0]?.type).toBe('image/png');
  });

  it('encodes images of any length', async () => {
    for (const size of [24_575, 24_576, 24_577, 60_001]) {
      const bytes = Uint8Array.from({ length: size }, (_, i) => (i * 31) % 256);
      bytes.set(PNG.subarray(0, 8));
      const { call } = createFileTools(whole(memory({ '/i': bytes })));
      const data = (await call('read_media', { path: '/i' })).media?.[0]?.data;
      expect(data).toBe(Buffer.from(bytes).toString('base64'));
    }
  });

  it('refuses what is no image, and an image that is too large', async () => {
    const large = new Uint8Array(3_750_001);
    large.set(PNG.subarray(0, 8));
    const files = { '/a.txt': 'text', '/a.pdf': '%PDF-1.7', '/large.png': large, '/d/x': 'x' };
    const { call } = createFileTools(whole(memory(files)));
    expect((await call('read_media', { path: '/a.txt' })).text).toBe(
      "'/a.txt' is no image in PNG, JPEG, GIF or WebP. Use read_file for text.",
    );
    expect((await call('read_media', { path: '/a.pdf' })).text).toContain(': it is a PDF document.');
    expect((await call('read_media', { path: '/large.png' })).text).toBe(
      "'/large.png' has 3750001 bytes, and an image may have 3750000 at most.",
    );
    expect((await call('read_media', { path: '/d' })).text).toContain('EISDIR');
  });
});

it.each([
  [0, '0'],
  [1023, '1023'],
  [1024, '1.0K'],
  [1025, '1.1K'],
  [10_239, '10K'],
  [10_240, '10K'],
  [10_241, '11K'],
  [1_047_552, '1023K'],
  [1_047_553, '1.0M'],
  [1_048_575, '1.0M'],
  [3_750_000, '3.6M'],
  [2 ** 50, '1.0P'],
])('shortSize(%s) is %s, as in ls -h', (bytes, text) => expect(shortSize(bytes)).toBe(text));

describe('names that could mislead', () => {
  it('are written as in JSON, one to a line, and open as the model writes them then', async () => {
    const names = ['two\nlines', 'red\u001b[31m', 'gpj.\u202eexe', 'tag\u{e0041}', '"quoted"', 'plain ä'];
    const fileSystem = memory(Object.fromEntries(names.map((name) => [`/${name}`, 'needle'])));
    const { call } = createFileTools(whole(fileSystem));
    const { text: listed } = await call('list_files', {});
    const { text: found } = await call('search_files', { pattern: '*' });
    const { text: matches } = await call('grep', { pattern: 'needle' });
    for (const text of [listed, found, matches]) {
      expect(text.split('\n')).toHaveLength(names.length);
      for (const unsafe of ['\u001b', '\u202e', '\u{e0041}']) expect(text).not.toContain(unsafe);
    }
    const read = found.split('\n').map((line) => (line.startsWith('"') ? JSON.parse(line) : line) as string);
    expect(read.map((path) => path.replace(/^\//, '')).sort()).toEqual([...names].sort());
    for (const path of read) expect((await call('read_file', { path })).isError).toBe(false);
    expect(matches).toContain('plain ä:1: needle');
  });
});
