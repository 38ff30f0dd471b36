import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { bundle } from './bundle.js';

interface SizeLimit {
  readonly name: string;
  readonly code: string;
  /** Upper limit of the minified bundle compressed by gzip. */
  readonly maxBytes: number;
  /** Parts of paths whose code must not be in the bundle. */
  readonly without: readonly string[];
}

const limits: SizeLimit[] = JSON.parse(readFileSync(new URL('size-limits.json', import.meta.url), 'utf8'));

describe('the browser bundle', () => {
  it.each(limits.map((limit) => [limit.name, limit] as const))('of %s stays small', async (name, limit) => {
    const { text, inputs } = await bundle(limit.code);
    const bytes = gzipSync(text, { level: 9 }).length;
    console.log(`${name}: ${text.length} bytes minified, ${bytes} of ${limit.maxBytes} with gzip`);
    for (const part of limit.without) {
      expect([...inputs.keys()].filter((path) => path.includes(part))).toEqual([]);
    }
    expect(bytes).toBeLessThanOrEqual(limit.maxBytes);
  });
});
