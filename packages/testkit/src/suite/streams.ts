import { equal, ok, rejects } from './assert.js';
import { type Add, plant, utf8 } from './context.js';

async function readAll(stream: ReadableStream<Uint8Array>): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(next.value);
  return chunks;
}

function text(chunks: readonly Uint8Array[]): string {
  return chunks.map((chunk) => new TextDecoder().decode(chunk)).join('');
}

export function streamCases(add: Add): void {
  const only = { promiseOnly: true } as const;

  add(
    'a read stream yields the file in chunks',
    async ({ fs }) => {
      await fs.writeFile('/f', '0123456789');
      equal(
        (await readAll(fs.createReadStream('/f', { highWaterMark: 4 }))).map((chunk) => text([chunk])),
        ['0123', '4567', '89'],
      );
      await fs.writeFile('/empty', '');
      equal(await readAll(fs.createReadStream('/empty')), []);
      const big = new Uint8Array(200_000).fill(5);
      await fs.writeFile('/big', big);
      const chunks = await readAll(fs.createReadStream('/big'));
      equal(
        chunks.reduce((sum, chunk) => sum + chunk.length, 0),
        200_000,
      );
      ok(chunks.length > 1, 'a large file comes in several chunks');
    },
    only,
  );

  add(
    'a range includes its first and last byte',
    async ({ fs }) => {
      await fs.writeFile('/f', '0123456789');
      const range = async (start?: number, end?: number): Promise<string> =>
        text(
          await readAll(
            fs.createReadStream('/f', {
              ...(start === undefined ? {} : { start }),
              ...(end === undefined ? {} : { end }),
            }),
          ),
        );
      equal(
        [await range(2, 4), await range(7), await range(undefined, 0), await range(9, 100), await range(50)],
        ['234', '789', '0', '9', ''],
      );
    },
    only,
  );

  add(
    'a read stream of something other than a file fails when it is read',
    async ({ fs }) => {
      await fs.mkdir('/d');
      await rejects(() => readAll(fs.createReadStream('/missing')), 'ENOENT');
      await rejects(() => readAll(fs.createReadStream('/d')), 'EISDIR');
    },
    only,
  );

  add(
    'a read stream follows its file through rename, unlink and append',
    async ({ fs }) => {
      await fs.writeFile('/f', 'abcdef');
      const reader = fs.createReadStream('/f', { highWaterMark: 2 }).getReader();
      equal((await reader.read()).value, utf8('ab'));
      await fs.rename('/f', '/g');
      equal((await reader.read()).value, utf8('cd'));
      await fs.appendFile('/g', '!');
      await fs.unlink('/g');
      equal((await reader.read()).value, utf8('ef'));
      equal((await reader.read()).value, utf8('!'));
      equal((await reader.read()).done, true);
    },
    only,
  );

  add(
    'a read stream that is cancelled closes its file',
    async ({ fs }) => {
      await fs.writeFile('/f', 'abcdef');
      const stream = fs.createReadStream('/f', { highWaterMark: 2 });
      const reader = stream.getReader();
      await reader.read();
      await reader.cancel('enough');
      await fs.writeFile('/f', 'still works');
    },
    only,
  );

  add(
    'a write stream writes text and bytes in order',
    async ({ fs }) => {
      const writer = fs.createWriteStream('/f', { mode: 0o600 }).getWriter();
      await writer.write('héllo ');
      await writer.write(Uint8Array.of(1, 2));
      await writer.write(new Uint8Array(0));
      await writer.write('end');
      await writer.close();
      equal(await fs.readFile('/f'), Uint8Array.from([...utf8('héllo '), 1, 2, ...utf8('end')]));
      equal((await fs.stat('/f')).mode & 0o777, 0o600);
    },
    only,
  );

  add(
    'a write stream obeys its flags and its start',
    async ({ fs }) => {
      await fs.writeFile('/f', '0123456789');
      const write = async (options: Parameters<typeof fs.createWriteStream>[1]): Promise<void> => {
        const writer = fs.createWriteStream('/f', options).getWriter();
        await writer.write('ab');
        await writer.close();
      };
      await write({ flags: 'r+', start: 3 });
      equal(await fs.readText('/f'), '012ab56789');
      await write({ flags: 'a' });
      equal(await fs.readText('/f'), '012ab56789ab');
      await rejects(() => write({ flags: 'wx' }), 'EEXIST');
      await write({});
      equal(await fs.readText('/f'), 'ab');
    },
    only,
  );

  add(
    'a write stream to a path that cannot be a file fails',
    async ({ fs }) => {
      await plant(fs, { '/d': null });
      for (const [path, code] of [
        ['/d', 'EISDIR'],
        ['/missing/f', 'ENOENT'],
      ] as const) {
        const writer = fs.createWriteStream(path).getWriter();
        await rejects(async () => {
          await writer.ready;
          await writer.write('x');
          await writer.close();
        }, code);
        await writer.closed.catch(() => undefined);
      }
      equal((await fs.stats()).fileCount, 0);
    },
    only,
  );

  add(
    'a stream that fails at a limit keeps the chunks before it',
    async ({ fs }) => {
      const writer = fs.createWriteStream('/f').getWriter();
      await writer.write('12345');
      await writer.write('678');
      await rejects(() => writer.write('90ab'), 'ENOSPC');
      await rejects(() => writer.close(), 'TypeError', 'ENOSPC');
      await writer.closed.catch(() => undefined);
      equal(await fs.readText('/f'), '12345678');
      equal((await fs.stats()).totalSize, 8);
    },
    { promiseOnly: true, limits: { maxTotalSize: 10 } },
  );

  add(
    'a stream that is never closed does not block other operations',
    async ({ fs }) => {
      await fs.writeFile('/f', 'abc');
      fs.createReadStream('/f');
      const writer = fs.createWriteStream('/g').getWriter();
      await writer.write('x');
      await fs.rename('/g', '/h');
      await fs.rm('/f');
      equal(await fs.readText('/h'), 'x');
    },
    only,
  );

  add(
    'a read stream piped into a write stream copies the file',
    async ({ fs }) => {
      const bytes = Uint8Array.from({ length: 150_000 }, (_, i) => (i * 7) & 0xff);
      await fs.writeFile('/a', bytes);
      await fs.createReadStream('/a').pipeTo(fs.createWriteStream('/b'));
      equal(await fs.readFile('/b'), bytes);
    },
    only,
  );

  add(
    'a read stream whose signal aborts fails with the reason',
    async ({ fs }) => {
      await fs.writeFile('/f', 'abcdef');
      const controller = new AbortController();
      const reader = fs.createReadStream('/f', { highWaterMark: 2, signal: controller.signal }).getReader();
      await reader.read();
      const reason = new Error('stop');
      controller.abort(reason);
      let error: unknown;
      try {
        for (let next = await reader.read(); !next.done; next = await reader.read());
      } catch (thrown) {
        error = thrown;
      }
      ok(error === reason, "the reason is the signal's");
    },
    only,
  );
}
