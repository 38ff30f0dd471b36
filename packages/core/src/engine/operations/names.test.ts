import { describe, expect, it } from 'vitest';
import { openFileSystem } from '../../create-file-system.js';
import { ExecutorSyncStorage } from '../../executor-storage.js';
import { rootMeta } from '../defaults.js';
import { MemoryExecutor } from '../memory-executor.js';

const createFileSystem = (options: Parameters<typeof openFileSystem>[1] = {}) =>
  openFileSystem(new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(0)), () => 0), options);

describe('mkdtemp', () => {
  it.each([[undefined], [null], [5], [{}]])('refuses a prefix that is no text: %s', (prefix) => {
    const fs = createFileSystem();
    expect(() => fs.mkdtempSync(prefix as never)).toThrow(TypeError);
    expect(fs.readdirSync('/')).toEqual([]);
  });

  it('gives up where the source of randomness repeats itself', () => {
    const fs = createFileSystem({ random: () => 0 });
    expect(fs.mkdtempSync('/x-')).toBe('/x-aaaaaa');
    expect(() => fs.mkdtempSync('/x-')).toThrow(expect.objectContaining({ code: 'EEXIST', path: '/x-XXXXXX' }));
    expect(fs.readdirSync('/')).toEqual(['x-aaaaaa']);
  });

  it.each([[62], [-1], [0.5], [Number.NaN]])('refuses a random number out of its range: %s', (number) => {
    const fs = createFileSystem({ random: () => number });
    expect(() => fs.mkdtempSync('/x-')).toThrow(RangeError);
    expect(fs.readdirSync('/')).toEqual([]);
  });
});
