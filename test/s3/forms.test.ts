import { describe, expect, it } from 'vitest';
import { compareForms } from '../differential/forms.js';
import { onS3 } from './forms.js';
import { freshPlace, hasBucket } from './servers/test-bucket.js';

const SEED = 20_261_121;
const OPERATIONS = 500;

describe.skipIf(!hasBucket)('A filesystem in S3', () => {
  it('behaves exactly like one in memory, times and counters included', { timeout: 600_000 }, async () => {
    const report = await compareForms(SEED, OPERATIONS, onS3(freshPlace));
    expect(report.difference).toBeUndefined();
    expect(report.operations).toBe(OPERATIONS);
    expect(report.succeeded).toBeGreaterThan(OPERATIONS * 0.4);
  });
});
