import type { Stats as HostStats } from 'node:fs';
import { Readable } from 'node:stream';
import { openFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import { describe, expect, it } from 'vitest';
import { outcomeOf, same, sameLater } from '../testing/same.js';
import type { HostFs } from '../testing/twin.js';
import { createNodeFs } from './create-node-fs.js';

const ENCODINGS = [
  'utf8',
  'utf-8',
  'UTF8',
  'utf16le',
  'ucs2',
  'latin1',
  'binary',
  'ascii',
  'hex',
  'base64',
  'base64url',
];
const TEXTS = ['', 'plain', 'ümläut €', '😀', 'abcd', '00ff7f', '\uFEFFbom', 'a\nb\0c'];
/** Bytes of text in hexadecimal: some are UTF-8, others are truncated or invalid sequences. */
const BYTES = [
  '',
  'ff',
  'c3',
  'c3a4',
  'e282',
  'f09f9880',
  'f09f98',
  'eda080',
  'c080',
  'efbbbf41',
  '61ff62',
  'fffe4100',
];

describe('readFile and writeFile', () => {
  it('write text in every encoding and read it in every other', () => {
    for (const encoding of ENCODINGS) {
      same((fs, at) =>
        TEXTS.map((text) => {
          fs.writeFileSync(at('/f'), text, encoding as BufferEncoding);
          return [fs.readFileSync(at('/f')).toString('hex'), fs.readFileSync(at('/f'), encoding as BufferEncoding)];
        }),
      );
    }
  });

  it('decode bytes that are not text as Buffer does', () => {
    for (const encoding of ENCODINGS) {
      same((fs, at) =>
        BYTES.map((hex) => {
          fs.writeFileSync(at('/f'), Buffer.from(hex, 'hex'));
          return fs.readFileSync(at('/f'), encoding as BufferEncoding);
        }),
      );
    }
  });

  it('write any view of bytes', () => {
    same((fs, at) => {
      const bytes = Uint8Array.from({ length: 32 }, (_, i) => i);
      const views = [
        bytes,
        Buffer.from(bytes),
        new Uint8Array(bytes.buffer, 3, 5),
        new Uint16Array(bytes.buffer, 4, 4),
        new Float64Array(bytes.buffer, 8, 1),
        new DataView(bytes.buffer, 5, 7),
        new BigInt64Array(bytes.buffer),
      ];
      return views.map((view) => {
        fs.writeFileSync(at('/f'), view);
        fs.appendFileSync(at('/f'), view as Uint8Array);
        return fs.readFileSync(at('/f'), 'hex');
      });
    });
  });

  it('return a Buffer of their own, for an empty file too', () => {
    const fs = createNodeFs();
    fs.writeFileSync('/f', '');
    expect(fs.readFileSync('/f')).toEqual(Buffer.alloc(0));
    fs.writeFileSync('/f', 'x'.repeat(100_000));
    const read = fs.readFileSync('/f');
    expect(Buffer.isBuffer(read)).toBe(true);
    expect(read.buffer).not.toBe(fs.readFileSync('/f').buffer);
  });

  it('use descriptors from their current position', () => {
    same((fs, at) => {
      fs.writeFileSync(at('/f'), 'abcdef');
      const fd = fs.openSync(at('/f'), 'r+');
      fs.readSync(fd, Buffer.alloc(2));
      const rest = fs.readFileSync(fd, 'utf8');
      fs.writeFileSync(fd, 'ghi');
      fs.appendFileSync(fd, 'jkl');
      fs.closeSync(fd);
      return [rest, fs.readFileSync(at('/f'), { encoding: 'utf8', flag: 'r' })];
    });
  });

  it('take their options in every form', async () => {
    await sameLater(async (fs, at) => {
      const call = (name: 'readFile' | 'writeFile' | 'appendFile', ...given: unknown[]) =>
        new Promise((resolve) =>
          (fs[name] as (...given: unknown[]) => void)(...given, (...heard: unknown[]) => resolve(heard)),
        );
      return [
        await call('writeFile', at('/f'), 'abc'),
        await call('writeFile', at('/f'), 'abc', 'latin1'),
        await call('writeFile', at('/f'), 'abc', null),
        await call('appendFile', at('/f'), 'def', { mode: 0o600 }),
        await call('readFile', at('/f')),
        await call('readFile', at('/f'), 'utf8'),
        await call('readFile', at('/f'), { encoding: 'hex' }),
        await call('readFile', at('/f'), null),
        await call('readFile', at('/f'), { encoding: null, flag: 'r' }),
        await call('readFile', at('/missing'), 'utf8'),
        await call('readFile', at('/'), 'utf8'),
        await fs.promises.readFile(at('/f'), { encoding: 'base64' }),
        await outcomeOf(() => fs.promises.readFile(at('/'))),
        await outcomeOf(() => fs.readFileSync(at('/'), 'utf8')),
      ].map((one) => (Array.isArray(one) ? one.map(plain) : one));
    });
  });

  it('write the pieces of an iterable one by one', async () => {
    await sameLater(async (fs, at) => {
      await fs.promises.writeFile(at('/f'), ['one', Buffer.from('two'), new Uint8Array([51])] as never);
      await fs.promises.appendFile(
        at('/f'),
        (async function* () {
          yield 'four';
          yield '66697665';
        })() as never,
        'utf8',
      );
      const wrong = await outcomeOf(() => fs.promises.writeFile(at('/g'), ['fine', { bad: 1 }] as never));
      return [
        await fs.promises.readFile(at('/f'), 'utf8'),
        (wrong as { code: string }).code,
        fs.readFileSync(at('/g'), 'utf8'),
      ];
    });
  });

  it('close an iterable when they end before it does', async () => {
    const end = (call: 'writeFile' | 'appendFile', bad: unknown, isAborted: boolean) =>
      sameLater(async (fs, at) => {
        const ends: unknown[] = [];
        const controller = new AbortController();
        const pieces = async function* () {
          try {
            yield 'one';
            if (isAborted) controller.abort('enough');
            yield bad;
            yield 'three';
          } finally {
            ends.push('ended');
          }
        };
        const plainPieces = function* () {
          try {
            yield* ['one', bad, 'three'];
          } finally {
            ends.push('ended');
          }
        };
        const { signal } = controller;
        const stream = Readable.from(pieces());
        const handle = await fs.promises.open(at('/h'), 'w');
        for (const source of [pieces(), plainPieces(), stream]) {
          ends.push(codeOf(await outcomeOf(() => fs.promises[call](at('/f'), source as never, { signal }))));
          ends.push(codeOf(await outcomeOf(() => handle[call](source as never))));
        }
        await handle.close();
        return [ends, stream.destroyed, fs.readFileSync(at('/f'), 'utf8')];
      });
    for (const call of ['writeFile', 'appendFile'] as const) {
      for (const [bad, isAborted] of [
        ['two', false],
        ['two', true],
        [{ bad: 1 }, false],
      ] as const) {
        await end(call, bad, isAborted);
      }
    }
  });

  it('close an iterable when there is no space for it', async () => {
    const fs = createNodeFs(openFileSystem(new MemoryStorage(), { limits: { maxTotalSize: 1000 } }));
    let isEnded = false;
    const pieces = (async function* () {
      try {
        for (;;) yield Buffer.alloc(400);
      } finally {
        isEnded = true;
      }
    })();
    await expect(fs.promises.writeFile('/f', pieces)).rejects.toMatchObject({ code: 'ENOSPC' });
    expect(isEnded).toBe(true);
  });

  it('await pieces that are promises', async () => {
    await sameLater(async (fs, at) => {
      await fs.promises.writeFile(at('/f'), [Promise.resolve('one'), 'two'] as never);
      return fs.readFileSync(at('/f'), 'utf8');
    });
  });

  it('stop when the signal aborts', async () => {
    const fs = createNodeFs();
    const controller = new AbortController();
    const pieces = (async function* () {
      yield 'one';
      controller.abort('enough');
      yield 'two';
    })();
    await expect(fs.promises.writeFile('/f', pieces as never, { signal: controller.signal })).rejects.toMatchObject({
      name: 'AbortError',
      cause: 'enough',
    });
    expect(fs.readFileSync('/f', 'utf8')).toBe('one');
  });
});

function codeOf(outcome: unknown): unknown {
  return (outcome as { code?: unknown } | undefined)?.code;
}

/** Returns the visible parts of an error. */
function plain(value: unknown): unknown {
  return value instanceof Error ? { ...value, message: value.message } : value;
}

describe('stat', () => {
  it('returns numbers or bigints', () => {
    same((fs, at) => {
      fs.writeFileSync(at('/f'), 'abc');
      fs.linkSync(at('/f'), at('/g'));
      fs.utimesSync(at('/f'), 1.5, new Date(2_000_250));
      const { mode, nlink, size, uid, gid, rdev, atimeMs, mtimeMs, atime, mtime } = fs.statSync(at('/f'));
      const big = fs.lstatSync(at('/g'), { bigint: true });
      const kinds = [
        big.isFile(),
        big.isDirectory(),
        big.isSymbolicLink(),
        big.isFIFO(),
        big.isSocket(),
        big.isBlockDevice(),
      ];
      return [
        [mode, nlink, size, uid, gid, rdev, atimeMs, mtimeMs, atime, mtime],
        [big.mode, big.nlink, big.size, big.atimeMs, big.mtimeNs, big.mtime, kinds, typeof big.ino, typeof big.dev],
      ];
    });
  });

  it('has times in whole microseconds, as set', async () => {
    await sameLater(async (fs, at) => {
      fs.writeFileSync(at('/f'), '');
      const handle = await fs.promises.open(at('/f'), 'r+');
      const kept: unknown[] = [];
      for (const time of [
        1.0000015,
        '1.1234567',
        1.9999999,
        9e-7,
        1_700_000_000.123457,
        1_700_000_000.1,
        new Date(1500),
      ]) {
        fs.utimesSync(at('/f'), time, time);
        kept.push(fs.statSync(at('/f'), { bigint: true }).mtimeNs);
        await handle.utimes(time, -1);
        kept.push((await handle.stat({ bigint: true })).atimeNs);
      }
      await handle.close();
      return kept;
    });
  });

  it('has a class that can be extended in the old way', () => {
    same((fs, at) => {
      const Old = function (this: object) {
        Reflect.apply(fs.Stats as never, this, [1, 0o100644, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
      } as unknown as new () => HostStats;
      Object.setPrototypeOf(Old.prototype, fs.Stats.prototype);
      const { mode, size, mtimeMs, dev } = new Old();
      const real = fs.statSync(at('/'));
      return [mode, size, mtimeMs, new Old().isFile(), dev, real instanceof fs.Stats, real.constructor === fs.Stats];
    });
  });

  it('returns undefined for a missing path if requested, and fails for everything else', () => {
    same((fs, at) => {
      fs.symlinkSync('loop', at('/loop'));
      const quiet = { throwIfNoEntry: false } as const;
      return [
        fs.statSync(at('/missing'), quiet),
        fs.lstatSync(at('/a/b'), quiet),
        fs.lstatSync(at('/loop'), quiet)?.size,
      ];
    });
    same((fs, at) => {
      fs.symlinkSync('loop', at('/loop'));
      return fs.statSync(at('/loop'), { throwIfNoEntry: false });
    });
  });

  it('has dates that can be set, as in Node', () => {
    const fs = createNodeFs();
    fs.writeFileSync('/f', '');
    const stats = fs.statSync('/f');
    expect(stats.mtime).toBe(stats.mtime);
    expect(stats.mtime.getTime()).toBe(Math.round(stats.mtimeMs));
    stats.atime = new Date(5);
    expect(stats.atime.getTime()).toBe(5);
  });
});

describe('times, modes and owners', () => {
  it('are accepted in every form', () => {
    same((fs, at) => {
      fs.writeFileSync(at('/f'), '');
      fs.symlinkSync('f', at('/l'));
      const times = (path: string) => {
        const { atimeMs, mtimeMs } = fs.lstatSync(at(path));
        return [atimeMs, mtimeMs];
      };
      const seen: unknown[] = [];
      for (const [atime, mtime] of [
        [1, 2],
        ['3', '4.5'],
        [new Date(5000), 6],
        [0, new Date(0)],
        [7.25, 8.125],
      ] as const) {
        fs.utimesSync(at('/f'), atime, mtime);
        seen.push(times('/f'));
      }
      fs.lutimesSync(at('/l'), 9, 10);
      seen.push(times('/l'));
      const fd = fs.openSync(at('/f'), 'r+');
      fs.futimesSync(fd, 11, '12');
      fs.fchmodSync(fd, '640');
      fs.fchownSync(fd, process.getuid?.() ?? 0, -1);
      fs.closeSync(fd);
      seen.push(times('/f'), fs.statSync(at('/f')).mode);
      fs.chmodSync(at('/f'), 0o4755);
      return [...seen, fs.statSync(at('/f')).mode];
    });
  });

  it('a negative number of seconds means the present', () => {
    const fs = createNodeFs();
    fs.writeFileSync('/f', '');
    fs.utimesSync('/f', -5, 7);
    const fd = fs.openSync('/f', 'r+');
    expect(Math.abs(fs.statSync('/f').atimeMs - Date.now())).toBeLessThan(60_000);
    expect(fs.statSync('/f').mtimeMs).toBe(7000);
    fs.futimesSync(fd, 7, -5);
    expect(fs.statSync('/f').atimeMs).toBe(7000);
    fs.closeSync(fd);
  });

  it('access reports what is allowed', () => {
    same((fs, at) => {
      fs.writeFileSync(at('/f'), '', { mode: 0o644 });
      fs.writeFileSync(at('/x'), '', { mode: 0o755 });
      const may = (path: string, mode?: number) => {
        try {
          return fs.accessSync(at(path), mode);
        } catch (error) {
          return { ...(error as object) };
        }
      };
      return [may('/f'), may('/f', 6), may('/x', 7), may('/', 7), may('/missing'), may('/missing', 7)];
    });
  });
});

describe('paths', () => {
  it('can be text, bytes and URLs', () => {
    same((fs, at) => {
      fs.writeFileSync(Buffer.from(at('/é')), 'x');
      fs.mkdirSync(new URL(`file://${at('/a%20b')}`));
      fs.writeFileSync(new URL(`file://${at('/a%20b/c')}`), 'y');
      return [
        fs.readFileSync(at('/é'), 'utf8'),
        fs.readFileSync(Buffer.from(at('/a b/c')), 'utf8'),
        fs.readdirSync(at('/')).sort(),
      ];
    });
  });

  it('of bytes that are not UTF-8 fail, because names are UTF-8', () => {
    const fs = createNodeFs();
    expect(() => fs.writeFileSync(Buffer.from([0x2f, 0xff]), '')).toThrow(/^EINVAL: invalid argument/);
  });

  it('appear in errors as they were given', () => {
    same((fs, at) => {
      const names = [at('/missing'), Buffer.from(at('/missing')), new URL(`file://${at('/missing')}`)];
      return names.map((path) => {
        try {
          return fs.statSync(path);
        } catch (error) {
          return { ...(error as object), message: (error as Error).message };
        }
      });
    });
  });

  it('are returned by realpath and readlink in the requested encoding', () => {
    same((fs, at) => {
      fs.mkdirSync(at('/d'));
      fs.symlinkSync('d', at('/l'));
      return [
        fs.realpathSync(at('/l/../l')),
        fs.realpathSync.native(at('/l'), 'utf8'),
        fs.readlinkSync(at('/l'), 'hex'),
        String(fs.readlinkSync(at('/l'), 'buffer')),
        String(fs.realpathSync(at('/d'), { encoding: 'buffer' })),
      ];
    });
  });

  it('realpath names the part of the path that is wrong', async () => {
    await sameLater(async (fs, at) => {
      fs.mkdirSync(at('/d'));
      fs.writeFileSync(at('/f'), '');
      fs.symlinkSync('nowhere', at('/dangling'));
      fs.symlinkSync('loop', at('/loop'));
      const paths = ['/d/x/y', '/f/x', '/dangling', '/d/../dangling/x', '/loop', '/missing'];
      const results: unknown[] = [];
      for (const path of paths) {
        results.push(await outcomeOf(() => fs.realpathSync(at(path))));
        results.push(await outcomeOf(() => fs.realpathSync.native(at(path))));
        results.push(await outcomeOf(() => fs.promises.realpath(at(path))));
        results.push(await new Promise((resolve) => fs.realpath(at(path), (error) => resolve(plain(error)))));
      }
      return results;
    });
  });
});

describe('callbacks', () => {
  it('are called later, with null for no error, and without further arguments if there is no result', async () => {
    await sameLater(async (fs, at) => {
      const order: unknown[] = [];
      const call = (name: keyof HostFs, ...given: unknown[]) =>
        new Promise<void>((resolve) =>
          (fs[name] as (...given: unknown[]) => void)(...given, (...heard: unknown[]) => {
            order.push([name, heard.map(plain)]);
            resolve();
          }),
        );
      const first = call('mkdir', at('/d'));
      order.push('later');
      await first;
      await call('access', at('/d'));
      await call('exists', at('/d'));
      await call('exists', at('/missing'));
      await call('symlink', 'd', at('/l'));
      await call('symlink', 'd', at('/m'), 'dir');
      await call('readlink', at('/l'));
      await call('rename', at('/l'), at('/k'));
      await call('unlink', at('/k'));
      await call('unlink', at('/k'));
      await call('chmod', at('/d'), 0o700);
      await call('rmdir', at('/d'));
      await call('rm', at('/missing'));
      await call('rm', at('/missing'), { force: true });
      await call('close', 9999);
      await call('fsync', 9999);
      return order;
    });
  });

  it('of close are optional', async () => {
    const fs = createNodeFs();
    const fd = fs.openSync('/f', 'w');
    fs.close(fd);
    await new Promise((resolve) => setImmediate(resolve));
    expect(() => fs.fstatSync(fd)).toThrow('EBADF');
  });

  it('of read and write get the buffer too', async () => {
    await sameLater(async (fs, at) => {
      fs.writeFileSync(at('/f'), 'abcdef');
      const fd = fs.openSync(at('/f'), 'r+');
      const call = (name: keyof HostFs, ...given: unknown[]) =>
        new Promise((resolve) => {
          (fs[name] as (...given: unknown[]) => void)(...given, (error: unknown, count: number, buffer: unknown) => {
            const text = Buffer.isBuffer(buffer) ? buffer.toString('latin1', 0, count) : buffer;
            resolve([plain(error), count, text]);
          });
        });
      const results = [
        await call('read', fd, Buffer.alloc(2), 0, 2, null),
        await call('read', fd, Buffer.alloc(4), { offset: 1, length: 2, position: 0 }),
        await call('read', fd, { buffer: Buffer.alloc(2), position: 4 }),
        await call('read', fd, Buffer.alloc(1)),
        await call('read', fd),
        await call('write', fd, 'XY'),
        await call('write', fd, 'Z', 0),
        await call('write', fd, '6161', 1, 'hex'),
        await call('write', fd, Buffer.from('12345'), 1, 2, 3),
        await call('write', fd, Buffer.from('!'), { position: 5 }),
        await call('readv', fd, [Buffer.alloc(2)], 0),
        await call('writev', fd, [Buffer.from('>')], 0),
        await call('read', 9999, Buffer.alloc(1), 0, 1, 0),
        await call('write', 9999, 'x'),
      ];
      fs.closeSync(fd);
      return [results, fs.readFileSync(at('/f'), 'latin1')];
    });
  });
});
