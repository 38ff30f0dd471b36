import { type EventEmitter, once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { outcomeOf, sameLater } from '../testing/same.js';
import { createNodeFs } from './create-node-fs.js';

interface Identified {
  getAsyncId(): number;
  close(): Promise<void>;
}

describe('a FileHandle', () => {
  it('reads in every form', async () => {
    await sameLater(async (fs, at) => {
      await fs.promises.writeFile(at('/f'), 'abcdefghij');
      const handle = await fs.promises.open(at('/f'));
      const results: unknown[] = [];
      const note = async (read: Promise<{ bytesRead: number; buffer: ArrayBufferView }>) => {
        const { bytesRead, buffer } = await read;
        results.push(bytesRead, Buffer.from(buffer.buffer, buffer.byteOffset, bytesRead).toString());
      };
      await note(handle.read(Buffer.alloc(2)));
      await note(handle.read(Buffer.alloc(2), 0, 2, null));
      await note(handle.read(Buffer.alloc(3), 1, 1, 5));
      await note(handle.read({ buffer: Buffer.alloc(2), position: 7 }));
      await note(handle.read(Buffer.alloc(4), { offset: 1, length: 2 }));
      await note(handle.read());
      await note(handle.read(new Uint16Array(2), 0, 4, 0));
      await note(handle.read(new DataView(new ArrayBuffer(3)), 0, 3, 1));
      await note(handle.read(Buffer.alloc(2), 0, 0));
      await note(handle.read(Buffer.alloc(2), 0, 2, -1 as never));
      const vector = [Buffer.alloc(3), Buffer.alloc(9)];
      const { bytesRead, buffers } = await handle.readv(vector, 1);
      results.push(bytesRead, buffers === vector, vector.map(String));
      await handle.close();
      return results;
    });
  });

  it('writes in every form', async () => {
    const result = await sameLater(async (fs, at) => {
      const handle = await fs.promises.open(at('/f'), 'w+');
      const counts = [
        (await handle.write('abc')).bytesWritten,
        (await handle.write('6465', null, 'hex')).bytesWritten,
        (await handle.write('X', 0)).bytesWritten,
        (await handle.write(Buffer.from('012345'), 2, 3)).bytesWritten,
        (await handle.write(Buffer.from('YZ'), 0, 2, 1)).bytesWritten,
        (await handle.write(Buffer.from('!?'), { offset: 1, position: 20 } as never)).bytesWritten,
        (await handle.write(new Uint8Array(0))).bytesWritten,
        (await handle.writev([Buffer.from('vec'), new Uint8Array([116, 111]), Buffer.from('r')])).bytesWritten,
        (await handle.writev([Buffer.from('P')], 3)).bytesWritten,
      ];
      await handle.appendFile('end');
      await handle.close();
      return [counts, (await fs.promises.readFile(at('/f'))).toString('latin1')];
    });
    expect(result).toMatchObject({
      value: [[3, 2, 1, 3, 2, 1, 0, 6, 1], expect.stringContaining('XYZPe234vectorend')],
    });
  });

  it("reads and changes its file's metadata", async () => {
    await sameLater(async (fs, at) => {
      const handle = await fs.promises.open(at('/f'), 'w', 0o600);
      await handle.writeFile('abcdef');
      await handle.truncate(3);
      await handle.chmod(0o640);
      await handle.chown(process.getuid?.() ?? 0, process.getgid?.() ?? 0);
      await handle.utimes(1, new Date(2000));
      await handle.sync();
      await handle.datasync();
      const { size, mode, atimeMs, mtimeMs } = await handle.stat();
      const big = await handle.stat({ bigint: true });
      await handle.truncate();
      await handle.close();
      return [size, mode, atimeMs, mtimeMs, big.size, big.mtimeNs, fs.statSync(at('/f')).size];
    });
  });

  it('reads and writes whole files from its position', async () => {
    const result = await sameLater(async (fs, at) => {
      const handle = await fs.promises.open(at('/f'), 'w+');
      await handle.writeFile(['one ', 'two '] as never);
      await handle.writeFile('three');
      await handle.read(Buffer.alloc(4), 0, 4, 0);
      const rest = await handle.readFile('utf8');
      await handle.close();
      return [rest, await fs.promises.readFile(at('/f'), { encoding: 'utf8' })];
    });
    expect(result).toEqual({ value: ['', 'one two three'] });
  });

  it('replaces a path in promises.readFile, writeFile and appendFile', async () => {
    await sameLater(async (fs, at) => {
      const handle = await fs.promises.open(at('/f'), 'w+');
      await fs.promises.writeFile(handle, 'abc');
      await fs.promises.appendFile(handle, 'def');
      await handle.close();
      const again = await fs.promises.open(at('/f'));
      const text = await fs.promises.readFile(again, 'utf8');
      await again.close();
      return [text, await outcomeOf(() => fs.promises.readFile(3 as never))];
    });
  });

  it('reports closing, and refuses calls afterwards', async () => {
    await sameLater(async (fs, at) => {
      const events: string[] = [];
      const handle = await fs.promises.open(at('/f'), 'w');
      (handle as unknown as EventEmitter).on('close', () => events.push('close'));
      const [first, second] = [handle.close(), handle.close()];
      const isOnePromise = first === second;
      await first;
      const errors = [];
      for (const method of ['read', 'write', 'stat', 'chmod', 'sync', 'truncate', 'readFile', 'writeFile'] as const) {
        errors.push(await outcomeOf(() => (handle[method] as (...given: unknown[]) => unknown)('x', 'x')));
      }
      return [events, isOnePromise, handle.fd, await handle.close(), errors];
    });
  });

  it('delays closing until running calls end', async () => {
    const fs = createNodeFs();
    const handle = await fs.promises.open('/f', 'w+');
    const writing = handle.writeFile(
      (async function* () {
        yield 'a';
        await new Promise((resolve) => setTimeout(resolve, 20));
        yield 'b';
      })() as never,
    );
    const closing = handle.close();
    await Promise.all([writing, closing]);
    expect(fs.readFileSync('/f', 'utf8')).toBe('ab');
    expect(handle.fd).toBe(-1);
  });

  it('closes with its scope', async () => {
    const fs = createNodeFs();
    const handle = await fs.promises.open('/f', 'w');
    await handle[Symbol.asyncDispose]();
    expect(handle.fd).toBe(-1);
  });

  it('yields its lines, also an unterminated one', async () => {
    const result = await sameLater(async (fs, at) => {
      await fs.promises.writeFile(at('/f'), 'one\ntwo\r\n\nfour');
      const handle = await fs.promises.open(at('/f'));
      const lines: string[] = [];
      for await (const line of handle.readLines()) lines.push(line);
      return [lines, handle.fd];
    });
    expect(result).toEqual({ value: [['one', 'two', '', 'four'], -1] });
  });

  it('streams in and out, and closes with the stream', async () => {
    await sameLater(async (fs, at) => {
      const events: string[] = [];
      const out = await fs.promises.open(at('/f'), 'w');
      (out as unknown as EventEmitter).on('close', () => events.push('handle closed'));
      const writer = out.createWriteStream();
      await new Promise((resolve) => writer.end('streamed', () => resolve(undefined)));
      if (!writer.closed) await once(writer, 'close');
      const kept = await fs.promises.open(at('/f'));
      let text = '';
      for await (const chunk of kept.createReadStream({ encoding: 'utf8', start: 2, autoClose: false })) text += chunk;
      const isOpen = kept.fd !== -1;
      await kept.close();
      return [events, text, isOpen, out.fd];
    });
  });

  it('provides a web stream of bytes, only once', async () => {
    const fs = createNodeFs();
    await fs.promises.writeFile('/f', Buffer.alloc(40_000, 'x'));
    const handle = await fs.promises.open('/f');
    let size = 0;
    for await (const chunk of handle.readableWebStream() as unknown as AsyncIterable<Uint8Array>) {
      expect(chunk).toBeInstanceOf(Uint8Array);
      size += chunk.byteLength;
    }
    expect(size).toBe(40_000);
    expect(() => handle.readableWebStream()).toThrow('Invalid state: The FileHandle is locked');
    await handle.close();
    expect(() => handle.readableWebStream()).toThrow('Invalid state: The FileHandle is closed');
  });

  it('has its own id for async hooks', async () => {
    await sameLater(async (fs, at) => {
      const [one, two] = (await Promise.all([
        fs.promises.open(at('/a'), 'w'),
        fs.promises.open(at('/b'), 'w'),
      ])) as never as [Identified, Identified];
      const ids = [one.getAsyncId(), two.getAsyncId(), one.getAsyncId()];
      await Promise.all([one.close(), two.close()]);
      return [ids.every((id) => id > 0), ids[0] === ids[2], ids[0] === ids[1]];
    });
  });
});
