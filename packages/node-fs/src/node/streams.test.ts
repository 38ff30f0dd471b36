import type { EventEmitter } from 'node:events';
import type { ReadStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { describe, expect, it } from 'vitest';
import { outcomeOf, same, sameLater } from '../testing/same.js';
import type { Work } from '../testing/twin.js';
import { createNodeFs, type NodeFs } from './create-node-fs.js';

async function textOf(stream: AsyncIterable<unknown>): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  return text;
}

/** Returns the events of a stream until it closes, in order. */
function eventsOf(stream: EventEmitter): Promise<string[]> {
  const events: string[] = [];
  for (const name of ['open', 'ready', 'data', 'end', 'finish', 'error', 'close']) {
    stream.on(name, (value: unknown) => events.push(value instanceof Error ? `${name} ${value.message}` : name));
  }
  return new Promise((resolve) => stream.on('close', () => resolve(events)));
}

describe('streams', () => {
  it('read a file or a range of it, in chunks of a given size', async () => {
    await sameLater(async (fs, at) => {
      fs.writeFileSync(at('/f'), 'abcdefghij');
      const sizes: number[] = [];
      for await (const chunk of fs.createReadStream(at('/f'), { highWaterMark: 4 }))
        sizes.push((chunk as Buffer).length);
      return [
        sizes,
        await textOf(fs.createReadStream(at('/f'))),
        await textOf(fs.createReadStream(at('/f'), 'hex')),
        await textOf(fs.createReadStream(at('/f'), { start: 2, end: 4 })),
        await textOf(fs.createReadStream(at('/f'), { start: 20 })),
        await textOf(fs.createReadStream(Buffer.from(at('/f')), { encoding: 'latin1', start: 8 })),
      ];
    });
  });

  it('replace a file, append to it, or write into it', async () => {
    await sameLater(async (fs, at) => {
      const write = async (options: object | string | undefined, ...chunks: (string | Buffer)[]) => {
        const stream = fs.createWriteStream(at('/f'), options as never);
        for (const chunk of chunks) stream.write(chunk);
        stream.end();
        await finished(stream);
        return [stream.bytesWritten, fs.readFileSync(at('/f'), 'utf8')];
      };
      return [
        await write(undefined, 'abc', Buffer.from('def')),
        await write({ flags: 'a' }, 'ghi'),
        await write({ flags: 'r+', start: 2 }, 'XY'),
        await write('latin1', 'é'),
        await write({ flush: true, mode: 0o600 }, 'flushed'),
        await outcomeOf(() => write({ flags: 'wx' }, 'never')),
      ];
    });
  });

  it("emit events in Node's order", async () => {
    await sameLater(async (fs, at) => {
      fs.writeFileSync(at('/f'), 'x');
      const missing = fs.createReadStream(at('/missing'));
      const reading = fs.createReadStream(at('/f'));
      const writing = fs.createWriteStream(at('/g'));
      const all = [missing, reading, writing].map(eventsOf);
      writing.end('y');
      return [await Promise.all(all), missing.pending, reading.path, reading.bytesRead, writing.path];
    });
  });

  it('refuse what Node refuses', () => {
    const everywhere = [5, { start: 'x' }, { start: -1 }, { fd: 'x' }, { encoding: 'none' }, { fs: {} }];
    const refused = (work: Work<unknown>) => expect(same(work)).toHaveProperty('error.code');
    for (const options of [...everywhere, { start: 5, end: 2 }, { end: -1 }]) {
      refused((fs, at) => fs.createReadStream(at('/f'), options as never));
    }
    for (const options of everywhere) refused((fs, at) => fs.createWriteStream(at('/f'), options as never));
    refused((fs) => fs.createReadStream(5 as never));
    refused((fs) => fs.createWriteStream(undefined as never));
  });

  it('work on a descriptor, and leave it open if requested', async () => {
    await sameLater(async (fs, at) => {
      fs.writeFileSync(at('/f'), 'abcdef');
      const fd = fs.openSync(at('/f'), 'r');
      const first = await textOf(fs.createReadStream('', { fd, autoClose: false, end: 2 }));
      const second = await textOf(fs.createReadStream('', { fd }));
      return [first, second, await outcomeOf(() => fs.fstatSync(fd).size)];
    });
  });

  it('stop when a signal aborts', async () => {
    const fs = createNodeFs();
    fs.writeFileSync('/f', Buffer.alloc(1_000_000));
    const controller = new AbortController();
    const stream = fs.createReadStream('/f', { signal: controller.signal });
    await expect(
      (async () => {
        for await (const _ of stream) controller.abort();
      })(),
    ).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('are classes that can be called without new, subclassed and replaced, as graceful-fs does', async () => {
    const fs = createNodeFs() as unknown as Record<string, unknown> & NodeFs;
    fs.writeFileSync('/f', 'abcdef');
    const Parent = fs.ReadStream as unknown as (...given: unknown[]) => unknown;
    expect(Parent('/f')).toBeInstanceOf(fs.ReadStream);
    function Patched(this: unknown, ...given: unknown[]): unknown {
      if (!(this instanceof Patched)) return Patched.apply(Object.create(Patched.prototype), given);
      Parent.apply(this, given);
      return this;
    }
    Patched.prototype = Object.create((fs.ReadStream as unknown as { prototype: object }).prototype);
    const opened: string[] = [];
    Patched.prototype.open = function (this: ReadStream & { fd: number; flags: string }) {
      fs.open(this.path, this.flags, (error, fd) => {
        opened.push(String(this.path));
        if (error !== null) return void this.emit('error', error);
        this.fd = fd;
        this.emit('open', fd);
        this.read();
      });
    };
    expect(await textOf(Patched('/f', { start: 1 }) as AsyncIterable<unknown>)).toBe('bcdef');
    fs.ReadStream = Patched as never;
    const made = fs.createReadStream('/f');
    expect(made).toBeInstanceOf(Patched);
    expect(await textOf(made)).toBe('abcdef');
    expect(opened).toEqual(['/f', '/f']);
    expect(fs['FileReadStream']).toBe(Parent);
  });

  it("call the object's functions as they are at the time of the call", async () => {
    const fs = createNodeFs();
    fs.writeFileSync('/f', 'x');
    const { read } = fs;
    let reads = 0;
    (fs as { read: unknown }).read = (...given: never[]) => {
      reads += 1;
      return (read as (...given: never[]) => void)(...given);
    };
    expect(await textOf(fs.createReadStream('/f'))).toBe('x');
    expect(reads).toBeGreaterThan(0);
  });

  it('refuse the `fs` option together with a FileHandle, which has its own functions', async () => {
    await sameLater(async (fs, at) => {
      fs.writeFileSync(at('/f'), 'x');
      const handle = await fs.promises.open(at('/f'), 'r+');
      const given = { fd: handle, fs } as never;
      const refused = [
        await outcomeOf(() => fs.createReadStream('', given)),
        await outcomeOf(() => fs.createWriteStream('', given)),
      ];
      await handle.close();
      return refused;
    });
  });
});
