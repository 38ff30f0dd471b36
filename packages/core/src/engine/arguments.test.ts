import { describe, expect, it } from 'vitest';
import { asyncStorage } from '../async-storage.js';
import { openFileSystem, openInMemory } from '../create-file-system.js';
import type { CallOptions } from '../file-system.js';
import { sampleBackend } from '../testing/sample-backend.js';
import { sample } from '../testing/sample-file-system.js';
import { LONG_TEXT } from './scheduling/long-text.js';

class Options {
  mode = 0o600;
}

describe('options', () => {
  it('that are an instance of a class are read at the time of the call', async () => {
    const fs = await openFileSystem(asyncStorage(sampleBackend()));
    for (const data of ['short', 'x'.repeat(LONG_TEXT)]) {
      const options = new Options();
      const written = fs.writeFile('/f', data, options);
      options.mode = 0o644;
      await written;
      expect((await fs.stat('/f')).mode & 0o777).toBe(0o600);
      await fs.rm('/f');
    }
  });

  it('ignore an inherited signal', async () => {
    const fs = sample({ '/f': 'f', '/long': 'é'.repeat(LONG_TEXT) });
    const options = Object.create({ signal: AbortSignal.abort() }) as CallOptions;
    await fs.writeFile('/f', 'new', options);
    await fs.writeFile('/f', 'x'.repeat(LONG_TEXT), options);
    await fs.mkdir('/d', options);
    expect((await fs.readFile('/f', options)).length).toBe(LONG_TEXT);
    expect((await fs.readText('/long', options)).length).toBe(LONG_TEXT);
    expect((await fs.readLines('/long', options)).length).toBe(1);
    const names: string[] = [];
    for await (const { path } of fs.walk('/', options)) names.push(path);
    expect(names).toEqual(['/d', '/f', '/long']);
  });

  it('use their own signal, whatever class they are of', async () => {
    const fs = sample({ '/f': 'f' });
    const own = Object.assign(new Options(), { signal: AbortSignal.abort() });
    await expect(fs.writeFile('/f', 'new', own)).rejects.toThrow(/abort/);
    await expect(fs.writeFile('/f', 'new', { signal: 5 } as never)).rejects.toThrow(TypeError);
    expect(await fs.readText('/f')).toBe('f');
  });
});

describe('a clock', () => {
  it.each([9e15, Number.NaN, Number.NEGATIVE_INFINITY])(
    'that returns %d is refused before any change',
    async (time) => {
      let now = 8.64e15;
      const clock = (): number => now;
      const message = 'clock must return milliseconds from -8.64e15 to 8.64e15';
      expect(() => openInMemory({ clock: () => time })).toThrow(message);
      for (const fs of [openInMemory({ clock }), await openFileSystem(asyncStorage(sampleBackend()), { clock })]) {
        now = 8.64e15;
        await fs.writeFile('/a', '');
        expect((await fs.stat('/a')).mtime.getTime()).toBe(now);
        now = time;
        await expect(fs.writeFile('/b', '')).rejects.toThrow(message);
        await expect(fs.checkpoint()).rejects.toThrow(message);
        expect([await fs.readdir('/'), await fs.checkpoints()]).toEqual([['a'], []]);
      }
    },
  );
});
