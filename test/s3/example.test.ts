import { describe, expect, it } from 'vitest';
import { runExample } from '../../examples/run-example.js';
import { freshPlace, hasBucket, urlOf } from './servers/test-bucket.js';

describe.skipIf(!hasBucket)('The serverless agent', () => {
  it('continues after a kill between two steps', async () => {
    const { code, output } = await runExample('serverless/main.ts', urlOf(freshPlace()));
    const lines = output.split('\n').filter((line) => /^(\d|in the|nothing)/.test(line));
    expect(lines).toEqual([
      '1.txt is done',
      'in the middle of 2.txt …',
      '2.txt is done',
      '3.txt is done',
      'nothing is left to do',
      '1.txt: 19 characters',
      '2.txt: 10 characters',
      '3.txt: 12 characters',
      '1 was killed; the journal says 1.txt 2.txt 3.txt',
    ]);
    expect(code).toBe(0);
  });
});
