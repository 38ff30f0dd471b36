import type { FileSystem } from '@scratchfs/core';
import { equal } from './assert.js';
import { type Add, plant } from './context.js';

/** Cases of bad input: each gets a clear error and changes nothing. */
export function badInputCases(add: Add): void {
  const withOptions: Readonly<Record<string, (fs: FileSystem, options: never) => unknown>> = {
    mkdir: (fs, options) => fs.mkdir('/new', options),
    readdir: (fs, options) => fs.readdir('/', options),
    readFile: (fs, options) => fs.readFile('/f', options),
    writeFile: (fs, options) => fs.writeFile('/f', 'x', options),
    writeLines: (fs, options) => fs.writeLines('/f', ['x'], options),
    appendFile: (fs, options) => fs.appendFile('/f', 'x', options),
    editFile: (fs, options) => fs.editFile('/f', 'text', 'x', options),
    rm: (fs, options) => fs.rm('/f', options),
    cp: (fs, options) => fs.cp('/f', '/g', options),
    copyFile: (fs, options) => fs.copyFile('/f', '/g', options),
    open: (fs, options) => fs.open('/f', 'w', options),
    walk: async (fs, options) => {
      for await (const _ of fs.walk('/', options));
    },
  };
  /** As in node, an encoding, a mode, or null may stand in place of these options. */
  const takes: Readonly<Record<string, readonly unknown[]>> = {
    readdir: [null],
    readFile: [null],
    writeFile: [null],
    writeLines: [null],
    appendFile: [null],
    mkdir: [5],
    copyFile: [5],
    open: [5],
  };
  for (const [method, call] of Object.entries(withOptions)) {
    add(`${method}() refuses options of a wrong type and unknown keys`, async ({ fs, fails }) => {
      await plant(fs, { '/f': 'text', '/d/x': '' });
      for (const options of [null, 'recursive', 5, true, { recursiv: true }, { Force: true }, { constructor: 1 }]) {
        if (takes[method]?.includes(options)) continue;
        await fails(() => call(fs, options as never), 'TypeError');
      }
    });
  }

  add('options of a wrong type are refused, not read as true or false', async ({ fs, fails }) => {
    await plant(fs, { '/f': 'text', '/d/x': '' });
    for (const value of ['false', 0, 1, null, {}]) {
      await fails(() => fs.rm('/d', { recursive: value as never }), 'TypeError');
      await fails(() => fs.mkdir('/a/b', { recursive: value as never }), 'TypeError');
      await fails(() => fs.cp('/f', '/g', { force: value as never }), 'TypeError');
      await fails(() => fs.copyFile('/f', '/g', { exclusive: value as never }), 'TypeError');
      await fails(() => fs.editFile('/f', 'text', 'x', { all: value as never }), 'TypeError');
      await fails(() => fs.readdir('/', { withFileTypes: value as never }), 'TypeError');
      await fails(() => fs.entries('/', { content: value as never }), 'TypeError');
    }
    for (const mode of [-1, 1.5, Number.NaN, 2 ** 40]) {
      await fails(() => fs.writeFile('/g', '', { mode }), 'RangeError');
      await fails(() => fs.mkdir('/g', { mode }), 'RangeError');
      await fails(() => fs.chmod('/f', mode), 'RangeError');
    }
    for (const mode of ['0o755', '8', '', null, {}]) {
      await fails(() => fs.writeFile('/g', '', { mode: mode as never }), 'TypeError');
      await fails(() => fs.chmod('/f', mode as never), 'TypeError');
    }
    await fails(() => fs.writeFile('/f', 'x', { flag: 'rw' as never }), 'TypeError', 'RangeError');
    await fails(() => fs.readFile('/f', { encoding: 'latin9' as never }), 'TypeError', 'RangeError');
  });

  add('an inherited option is ignored', async ({ fs, fails }) => {
    await plant(fs, { '/d/x': '' });
    const inherited = Object.create({ recursive: true }) as { recursive?: boolean };
    await fails(() => fs.rm('/d', inherited), 'EISDIR', 'TypeError');
  });

  add('a path that is not a string is a TypeError everywhere', async ({ fs, fails }) => {
    await plant(fs, { '/f': 'text' });
    for (const path of [undefined, null, 5, {}, ['/f'], true, Symbol('x')] as never[]) {
      await fails(() => fs.readFile(path), 'TypeError');
      await fails(() => fs.writeFile(path, 'x'), 'TypeError');
      await fails(() => fs.stat(path), 'TypeError');
      await fails(() => fs.mkdir(path, { recursive: true }), 'TypeError');
      await fails(() => fs.rm(path, { force: true }), 'TypeError');
      await fails(() => fs.rename('/f', path), 'TypeError');
      await fails(() => fs.cp(path, '/x'), 'TypeError');
      await fails(() => fs.symlink(path, '/x'), 'TypeError');
      await fails(() => fs.open(path), 'TypeError');
    }
  });

  add('content that is neither text nor bytes is a TypeError', async ({ fs, fails }) => {
    await fs.writeFile('/f', 'text');
    for (const data of [undefined, null, 5, {}, [1, 2], true, new Date(0), new Map()] as never[]) {
      await fails(() => fs.writeFile('/f', data), 'TypeError');
      await fails(() => fs.writeFile('/new', data), 'TypeError');
      await fails(() => fs.appendFile('/f', data), 'TypeError');
    }
    await fails(() => fs.writeLines('/f', [1] as never), 'TypeError');
    await fails(() => fs.writeLines('/f', 5 as never), 'TypeError');
    await fails(() => fs.writeLines('/f', null as never), 'TypeError');
  });

  add('text with a lone surrogate is refused, because UTF-8 cannot express it', async ({ fs, fails }) => {
    await fs.writeFile('/f', 'text');
    await fails(() => fs.writeFile('/\udc00', 'x'), 'EINVAL');
    await fs.writeFile('/g', 'a\ud800b');
    equal(await fs.readText('/g'), 'a\ufffdb', 'in content it becomes U+FFFD, as in every encoder');
    equal((await fs.stat('/g')).size, 5);
  });

  add('lengths that are not integers from 0 up, or absurdly large, are refused', async ({ fs, fails }) => {
    await fs.writeFile('/f', 'text');
    for (const length of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      await fails(() => fs.truncate('/f', length), 'RangeError', 'EINVAL', 'EFBIG');
    }
    await fails(() => fs.truncate('/f', 1e15), 'EFBIG', 'ENOSPC');
    await fails(() => fs.truncate('/f', '4' as never), 'TypeError');
    await fails(() => fs.truncate('/f', null as never), 'TypeError');
  });

  add('shared and resizable buffers are copied immediately or refused, never kept', async ({ fs }) => {
    const buffers: (ArrayBuffer | SharedArrayBuffer)[] = [];
    if (typeof SharedArrayBuffer !== 'undefined') buffers.push(new SharedArrayBuffer(4));
    const Resizable = ArrayBuffer as unknown as new (length: number, options: { maxByteLength: number }) => ArrayBuffer;
    const resizable = new Resizable(4, { maxByteLength: 16 }) as ArrayBuffer & { resize?: (length: number) => void };
    if (typeof resizable.resize === 'function') buffers.push(resizable);
    for (const buffer of buffers) {
      const view = new Uint8Array(buffer as ArrayBuffer);
      view.fill(1);
      for (const data of [buffer as ArrayBuffer, view]) {
        try {
          await fs.writeFile('/f', data);
        } catch (error) {
          equal((error as Error).name, 'TypeError');
          continue;
        }
        view.fill(2);
        (buffer as { resize?: (length: number) => void }).resize?.(2);
        equal(await fs.readFile('/f'), Uint8Array.from([1, 1, 1, 1]));
        (buffer as { resize?: (length: number) => void }).resize?.(4);
        view.fill(1);
      }
    }
  });

  add('a detached buffer is refused or reads as empty, and nothing is partially written', async ({ fs }) => {
    if (typeof structuredClone !== 'function') return;
    const bytes = new Uint8Array(8).fill(1);
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
    try {
      await fs.writeFile('/f', bytes);
      equal((await fs.stat('/f')).size, 0);
    } catch (error) {
      equal((error as Error).name, 'TypeError');
      equal(await fs.exists('/f'), false);
    }
  });

  add('iterables that throw midway change nothing', async ({ fs, fails }) => {
    await fs.writeFile('/f', 'text');
    await fails(
      () =>
        fs.writeLines(
          '/f',
          (function* () {
            yield 'one';
            throw new Error('broken');
          })(),
        ),
      'Error',
    );
  });

  add('after close every method is EBADF, and close itself is idempotent', async ({ create }) => {
    const other = await create();
    await other.writeFile('/f', 'x');
    await other.close();
    await other.close();
    for (const call of [
      () => other.readFile('/f'),
      () => other.writeFile('/f', 'x'),
      () => other.stats(),
      () => other.readdir('/'),
    ]) {
      let code: unknown;
      try {
        await call();
      } catch (error) {
        code = (error as { code?: unknown }).code;
      }
      equal(code, 'EBADF');
    }
  });
}
