import { createHash } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { hashOfName } from './name-hash.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('hashOfName()', () => {
  it('returns the first bytes of SHA-1, from the cache too', () => {
    const names = Array.from({ length: 12_000 }, (_, i) => `naïve \u{1f600} name of a file ${i}`);
    const sha = (name: string): string => createHash('sha1').update(name).digest('hex').slice(0, 8);
    for (const name of [...names, ...names.slice(0, 100), ...names.slice(-100)])
      expect(hashOfName(name).toString(16).padStart(8, '0')).toBe(sha(name));
  });

  it('does not keep the text alive that the name is a slice of', () => {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < 50; i++) {
      const text = Buffer.from(`${'x'.repeat(1_000_000)} /directory/name-of-the-file-${i}.txt`).toString('latin1');
      const path = text.slice(text.indexOf('/'));
      hashOfName(path.slice(path.lastIndexOf('/') + 1));
    }
    collectGarbage();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(10 * 2 ** 20);
  });
});
