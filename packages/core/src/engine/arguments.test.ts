import { describe, expect, it } from 'vitest';
import { asyncStorage } from '../async-storage.js';
import { openFileSystem } from '../create-file-system.js';
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
