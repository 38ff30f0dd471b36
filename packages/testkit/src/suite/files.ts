import { equal, ok } from './assert.js';
import { type Add, plant, utf8 } from './context.js';

export function fileCases(add: Add): void {
  add('writeFile creates and replaces; text is stored as UTF-8, bytes as they are', async ({ fs }) => {
    await fs.writeFile('/f', 'héllo 😀');
    equal(await fs.readFile('/f'), utf8('héllo 😀'));
    equal(await fs.readFile('/f', { encoding: 'utf8' }), 'héllo 😀');
    equal(await fs.readFile('/f', { encoding: 'utf-8' }), 'héllo 😀');
    equal(await fs.readText('/f'), 'héllo 😀');
    const all = Uint8Array.from({ length: 256 }, (_, i) => i);
    await fs.writeFile('/f', all);
    equal(await fs.readFile('/f'), all);
    await fs.writeFile('/f', '');
    equal(await fs.readFile('/f'), new Uint8Array(0));
  });

  add('every view of a buffer stores exactly the bytes that it views', async ({ fs }) => {
    const { buffer } = Uint8Array.from([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    await fs.writeFile('/sub', new Uint8Array(buffer, 2, 3));
    equal(await fs.readFile('/sub'), Uint8Array.from([2, 3, 4]));
    await fs.writeFile('/whole', buffer);
    equal(await fs.readFile('/whole'), new Uint8Array(buffer));
    await fs.writeFile('/view', new DataView(buffer, 8));
    equal(await fs.readFile('/view'), Uint8Array.from([8, 9]));
    await fs.appendFile('/view', new Uint16Array(buffer, 4, 1));
    equal(await fs.readFile('/view'), Uint8Array.from([8, 9, 4, 5]));
  });

  add('malformed UTF-8 reads as U+FFFD, a byte order mark stays', async ({ fs }) => {
    await fs.writeFile('/bad', Uint8Array.from([0x61, 0xff, 0xc3, 0x28, 0xf0, 0x9f, 0x98]));
    equal(await fs.readText('/bad'), 'a\ufffd\ufffd(\ufffd');
    equal(await fs.readFile('/bad', { encoding: 'utf8' }), 'a\ufffd\ufffd(\ufffd');
    await fs.writeFile('/bom', Uint8Array.from([0xef, 0xbb, 0xbf, 0x78]));
    equal(await fs.readText('/bom'), '\ufeffx');
    equal((await fs.readFile('/bom')).length, 4);
  });

  const lines: readonly [string, readonly string[]][] = [
    ['', []],
    ['\n', ['']],
    ['\r\n', ['']],
    ['a', ['a']],
    ['a\n', ['a']],
    ['a\r\n', ['a']],
    ['a\nb', ['a', 'b']],
    ['a\r\nb\n', ['a', 'b']],
    ['a\n\nb\n\n', ['a', '', 'b', '']],
    ['a\rb\n', ['a\rb']],
    ['a\r', ['a\r']],
    ['\r\r\n', ['\r']],
    ['\u2028é\u0085\n', ['\u2028é\u0085']],
  ];
  for (const [text, expected] of lines) {
    add(`the lines of ${JSON.stringify(text)} are ${JSON.stringify(expected)}`, async ({ fs }) => {
      await fs.writeFile('/f', text);
      equal(await fs.readLines('/f'), expected);
    });
  }

  add('writeLines ends every line, readLines returns them', async ({ fs }) => {
    await fs.writeLines('/f', ['one', '', 'üñ']);
    equal(await fs.readText('/f'), 'one\n\nüñ\n');
    equal(await fs.readLines('/f'), ['one', '', 'üñ']);
    await fs.writeLines('/f', []);
    equal(await fs.readText('/f'), '');
    await fs.writeLines(
      '/f',
      (function* () {
        yield 'made';
        yield 'lazily';
      })(),
    );
    equal(await fs.readLines('/f'), ['made', 'lazily']);
    await fs.writeLines('/f', ['more'], { flag: 'a' });
    equal(await fs.readLines('/f'), ['made', 'lazily', 'more']);
  });

  add('appendFile creates a missing file and extends an existing one', async ({ fs }) => {
    await fs.appendFile('/f', 'a', { mode: 0o600 });
    await fs.appendFile('/f', 'é');
    await fs.appendFile('/f', Uint8Array.from([0xff]));
    equal(await fs.readFile('/f'), Uint8Array.from([0x61, 0xc3, 0xa9, 0xff]));
    equal((await fs.stat('/f')).mode & 0o777, 0o600);
  });

  add('a character split over two appends is whole again', async ({ fs }) => {
    const bytes = utf8('x😀y');
    for (const byte of bytes) await fs.appendFile('/f', Uint8Array.of(byte));
    equal(await fs.readText('/f'), 'x😀y');
  });

  add('a thousand appends keep their order', async ({ fs }) => {
    let expected = '';
    for (let i = 0; i < 1_000; i++) {
      await fs.appendFile('/f', `${i}\n`);
      expected += `${i}\n`;
    }
    equal(await fs.readText('/f'), expected);
  });

  add('the flags of writeFile behave as in open(2)', async ({ fs, fails }) => {
    await fs.writeFile('/f', 'abcdef', { flag: 'wx' });
    await fails(() => fs.writeFile('/f', 'x', { flag: 'wx' }), 'EEXIST');
    await fails(() => fs.appendFile('/f', 'x', { flag: 'ax' }), 'EEXIST');
    await fs.writeFile('/f', 'XY', { flag: 'r+' });
    equal(await fs.readText('/f'), 'XYcdef');
    await fs.writeFile('/f', '!', { flag: 'a' });
    equal(await fs.readText('/f'), 'XYcdef!');
    await fails(() => fs.writeFile('/missing', 'x', { flag: 'r+' }), 'ENOENT');
    await fs.writeFile('/made', 'x', { flag: 'ax' });
    equal(await fs.readText('/made'), 'x');
  });

  add('a mode counts for a new file only', async ({ fs }) => {
    await fs.writeFile('/f', '', { mode: 0o755 });
    await fs.writeFile('/f', 'x', { mode: 0o600 });
    equal((await fs.stat('/f')).mode & 0o7777, 0o755);
  });

  add(
    'a write into a missing parent is ENOENT, through a file ENOTDIR, onto a directory EISDIR',
    async ({ fs, fails }) => {
      await plant(fs, { '/f': 'x', '/d': null });
      for (const write of [fs.writeFile, fs.appendFile]) {
        await fails(() => write.call(fs, '/missing/f', 'x'), 'ENOENT');
        await fails(() => write.call(fs, '/f/x', 'x'), 'ENOTDIR');
        await fails(() => write.call(fs, '/f/x/y', 'x'), 'ENOTDIR');
        await fails(() => write.call(fs, '/d', 'x'), 'EISDIR');
        await fails(() => write.call(fs, '/', 'x'), 'EISDIR');
      }
      await fails(() => fs.writeFile('/d', 'x', { flag: 'wx' }), 'EEXIST');
    },
  );

  add('reading something other than a file fails as in node', async ({ fs, fails }) => {
    await plant(fs, { '/f': 'x', '/d': null });
    for (const read of [fs.readFile, fs.readText, fs.readLines] as ((path: string) => Promise<unknown>)[]) {
      await fails(() => read.call(fs, '/d'), 'EISDIR');
      await fails(() => read.call(fs, '/'), 'EISDIR');
      await fails(() => read.call(fs, '/missing'), 'ENOENT');
      await fails(() => read.call(fs, '/f/x'), 'ENOTDIR');
    }
  });

  add('an error has code, syscall and path, as in node', async ({ fs, fails }) => {
    const error = await fails(() => fs.readFile('/missing/\u001b[31mred\n'), 'ENOENT');
    equal([error.code, error.errno, error.syscall, error.path], ['ENOENT', -2, 'open', '/missing/\u001b[31mred\n']);
    ok(error instanceof Error, 'it is an Error');
    await fs.writeFile('/f', '');
    const rename = await fails(() => fs.rename('/missing', '/f/x'), 'ENOENT', 'ENOTDIR');
    equal([rename.syscall, rename.path, rename.dest], ['rename', '/missing', '/f/x']);
  });

  add('editFile replaces exactly one occurrence, or all', async ({ fs, fails }) => {
    await fs.writeFile('/f', 'one two two');
    equal(await fs.editFile('/f', 'one', '$& $1 three'), 1);
    equal(await fs.readText('/f'), '$& $1 three two two');
    await fails(() => fs.editFile('/f', 'two', 'x'), 'EINVAL');
    await fails(() => fs.editFile('/f', 'absent', 'x'), 'EINVAL');
    await fails(() => fs.editFile('/f', 'absent', 'x', { all: true }), 'EINVAL');
    equal(await fs.editFile('/f', 'two', 'twotwo', { all: true }), 2);
    equal(await fs.readText('/f'), '$& $1 three twotwo twotwo');
    equal(await fs.editFile('/f', ' three', ''), 1);
    await fails(() => fs.editFile('/missing', 'a', 'b'), 'ENOENT');
    await fails(() => fs.editFile('/', 'a', 'b'), 'EISDIR');
  });

  add('editFile names the file in its errors', async ({ fs }) => {
    await plant(fs, { '/d/f': 'two two', '/l': { to: 'd/f' } });
    await fs.writeFile('/d/bytes', Uint8Array.from([0xff]));
    for (const [path, search, replacement] of [
      ['/d/f', '', 'x'],
      ['/d/f', 'absent', 'x'],
      ['/d/f', 'two', 'x'],
      ['/l', 'two', 'x'],
      ['/d/f', '\ud800', 'x'],
      ['/d/f', 'two', '\ud800'],
      ['/d/bytes', 'two', 'x'],
    ] as const) {
      const refused: unknown = await fs.editFile(path, search, replacement).catch((error: unknown) => error);
      equal((refused as { readonly path?: string }).path, path);
    }
  });

  add('truncate shortens, or extends with zeros', async ({ fs, fails }) => {
    await plant(fs, { '/f': 'abcdef', '/d': null, '/l': { to: 'f' } });
    await fs.truncate('/f', 3);
    equal(await fs.readText('/f'), 'abc');
    await fs.truncate('/l', 5);
    equal(await fs.readFile('/f'), Uint8Array.from([0x61, 0x62, 0x63, 0, 0]));
    await fs.truncate('/f');
    equal((await fs.stat('/f')).size, 0);
    await fails(() => fs.truncate('/missing', 1), 'ENOENT');
    await fails(() => fs.truncate('/d', 1), 'EISDIR');
  });

  add('a truncated and extended file has zeros instead of its old bytes', async ({ fs }) => {
    for (const size of [10, 5_000, 70_000, 200_000]) {
      await fs.writeFile('/f', new Uint8Array(size).fill(7));
      await fs.truncate('/f', 3);
      await fs.truncate('/f', size);
      const bytes = await fs.readFile('/f');
      equal(bytes.length, size);
      equal([...bytes.subarray(0, 3)], [7, 7, 7]);
      ok(
        bytes.subarray(3).every((byte) => byte === 0),
        `bytes after the cut are zero at ${size}`,
      );
    }
  });

  add('sparse files read as zeros and cost no memory', async ({ fs }) => {
    await fs.writeFile('/sparse', 'head');
    await fs.truncate('/sparse', 1_000_000_000_000);
    equal((await fs.stat('/sparse')).size, 1_000_000_000_000);
    equal((await fs.stats()).totalSize, 1_000_000_000_000);
    const handle = await fs.open('/sparse', 'r+');
    const into = new Uint8Array(8).fill(1);
    equal(await handle.read(into, 999_999_999_990), 8);
    ok(
      into.every((byte) => byte === 0),
      'the hole is zeros',
    );
    equal(await handle.write('tail', 999_999_999_996), 4);
    equal(await handle.read(into, 999_999_999_992), 8);
    equal(into, Uint8Array.from([0, 0, 0, 0, 0x74, 0x61, 0x69, 0x6c]));
    equal(await handle.read(into, 0), 8);
    equal(into, Uint8Array.from([0x68, 0x65, 0x61, 0x64, 0, 0, 0, 0]));
    await handle.close();
    await fs.truncate('/sparse', 4);
    equal(await fs.readText('/sparse'), 'head');
  });

  add('large files keep every byte through replace, patch, append and copy', async ({ fs }) => {
    const bytes = new Uint8Array(300_000);
    for (let i = 0; i < bytes.length; i++) bytes[i] = (i * 31 + (i >> 8)) & 0xff;
    await fs.writeFile('/big', bytes);
    equal(await fs.readFile('/big'), bytes);
    await fs.cp('/big', '/copy');
    const handle = await fs.open('/big', 'r+');
    const patch = new Uint8Array(70_000).fill(0xab);
    await handle.write(patch, 100_001);
    await handle.close();
    await fs.appendFile('/big', 'end');
    const expected = new Uint8Array(300_003);
    expected.set(bytes);
    expected.set(patch, 100_001);
    expected.set(utf8('end'), 300_000);
    equal(await fs.readFile('/big'), expected);
    equal(await fs.readFile('/copy'), bytes, 'the copy is untouched');
  });
}
