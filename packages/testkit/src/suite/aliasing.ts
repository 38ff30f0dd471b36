import { differences, dump } from '../dump.js';
import { equal } from './assert.js';
import { type Add, plant, utf8 } from './context.js';

/** Checks that no value that goes in or comes out shares memory with the stored state. */
export function aliasingCases(add: Add): void {
  const sizes = [5, 4_096, 5_000, 65_536, 200_000];
  for (const size of sizes) {
    add(`changing ${size} bytes after they were written changes nothing stored`, async ({ fs }) => {
      const expected = new Uint8Array(size).fill(1);
      const given = (): Uint8Array<ArrayBuffer> => expected.slice();
      const check = async (bytes: Uint8Array, path: string): Promise<void> => {
        bytes.fill(9);
        equal(await fs.readFile(path), expected, path);
      };
      let bytes = given();
      await fs.writeFile('/write', bytes);
      await check(bytes, '/write');
      bytes = given();
      await fs.appendFile('/append', bytes);
      await check(bytes, '/append');
      bytes = given();
      await fs.writeFile('/buffer', bytes.buffer);
      await check(bytes, '/buffer');
      const handle = await fs.open('/handle', 'w+');
      bytes = given();
      await handle.write(bytes);
      await check(bytes, '/handle');
      bytes = given();
      await handle.write(bytes, 0);
      await check(bytes, '/handle');
      await handle.truncate(0);
      bytes = given();
      await (await fs.open('/handle2', 'w')).writeFile(bytes);
      await check(bytes, '/handle2');
      await handle.close();
    });

    add(`changing ${size} bytes that were read changes nothing stored`, async ({ fs }) => {
      const expected = new Uint8Array(size).fill(1);
      await fs.writeFile('/f', expected);
      await fs.cp('/f', '/copy');
      const outputs: readonly (() => Promise<Uint8Array>)[] = [
        () => fs.readFile('/f'),
        async () => (await fs.getEntry('/f')).content,
        async () => (await fs.entries('/', { content: true }))[1]?.content as Uint8Array,
        async () => (await fs.open('/f')).readFile(),
      ];
      for (const [i, output] of outputs.entries()) {
        const bytes = await output();
        equal(bytes, expected, `output ${i}`);
        bytes.fill(9);
        new Uint8Array(bytes.buffer).fill(9);
        equal(await fs.readFile('/f'), expected, `after output ${i}`);
        equal(await fs.readFile('/copy'), expected, `the copy after output ${i}`);
      }
    });
  }

  add('a promise method reads the bytes at the call', async ({ fs }) => {
    const bytes = utf8('before');
    const writing = fs.writeFile('/f', bytes);
    bytes.fill(0x78);
    await writing;
    equal(await fs.readText('/f'), 'before');
    const more = utf8('before');
    const appending = fs.appendFile('/g', more);
    more.fill(0x78);
    await appending;
    equal(await fs.readText('/g'), 'before');
  });

  add('a promise method reads its options and times at the call', async ({ fs }) => {
    const options = { mode: 0o600, recursive: false };
    const { recursive: _, ...writeOptions } = options;
    const writing = [
      fs.writeFile('/f', 'x', writeOptions),
      fs.writeFile('/long', 'x'.repeat(300_000), writeOptions),
      fs.mkdir('/d', options),
    ];
    writeOptions.mode = options.mode = 0o644;
    await Promise.all(writing);
    for (const path of ['/f', '/long', '/d']) equal((await fs.stat(path)).mode & 0o777, 0o600, path);
    const handle = await fs.open('/long', 'r+');
    const time = new Date(1_000);
    const setting = [fs.utimes('/f', time, time), handle.utimes(time, time)];
    time.setTime(5_000);
    await Promise.all(setting);
    for (const path of ['/f', '/long']) equal((await fs.stat(path)).mtimeMs, 1_000, path);
    await handle.close();
  });

  add(
    'streams share no memory with the stored content',
    async ({ fs }) => {
      const bytes = utf8('stream');
      const writer = fs.createWriteStream('/f').getWriter();
      await writer.write(bytes);
      bytes.fill(0x78);
      await writer.close();
      equal(await fs.readText('/f'), 'stream');
      const reader = fs.createReadStream('/f').getReader();
      const { value } = await reader.read();
      value?.fill(0x78);
      await reader.cancel();
      equal(await fs.readText('/f'), 'stream');
    },
    { promiseOnly: true },
  );

  add('a read changes only the part of the buffer that it reads into', async ({ fs }) => {
    await fs.writeFile('/f', 'abc');
    const buffer = new Uint8Array(10).fill(7);
    const handle = await fs.open('/f');
    equal(await handle.read(buffer.subarray(2, 8), 1), 2);
    equal(buffer, Uint8Array.from([7, 7, 0x62, 0x63, 7, 7, 7, 7, 7, 7]));
    await handle.close();
  });

  add('returned lists and objects are not shared with the filesystem', async ({ fs }) => {
    await plant(fs, { '/d/a': '1', '/d/b': '2', '/l': { to: 'd' } });
    const before = await dump(fs);
    const spoil = (value: unknown): void => {
      if (Array.isArray(value)) {
        for (const item of value) spoil(item);
        value.length = 0;
        value.push('spoilt');
        return;
      }
      if (typeof value !== 'object' || value === null) return;
      for (const key of Object.keys(value)) {
        try {
          (value as Record<string, unknown>)[key] = 'spoilt';
        } catch {
          // A frozen object is fine too.
        }
      }
    };
    const read = async (): Promise<unknown[]> => [
      await fs.readdir('/d'),
      await fs.readdir('/d', { withFileTypes: true }),
      await fs.entries('/d'),
      await fs.entries('/d', { content: true }),
      await fs.readLines('/d/a'),
      await fs.stats(),
      await fs.stat('/d/a'),
      await fs.getEntry('/d/a'),
      fs.limits,
      fs.capabilities,
    ];
    for (const output of await read()) spoil(output);
    equal(differences(before, await dump(fs)), []);
    equal((await read())[0], ['a', 'b']);
    equal((await read())[5], { totalSize: 3, fileCount: 3, directoryCount: 1, nodeCount: 4 });
  });

  add('returned checkpoints are not shared with the filesystem', async ({ fs }) => {
    if (!fs.capabilities.checkpoints) return;
    await fs.writeFile('/f', '1');
    await fs.checkpoint('c');
    const list = await fs.checkpoints();
    list.length = 0;
    equal((await fs.checkpoints()).length, 1);
    await fs.writeFile('/f', '2');
    await fs.rollback('c');
    equal(await fs.readText('/f'), '1');
  });
}
