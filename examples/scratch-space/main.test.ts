import { expect, it } from 'vitest';
import { runExample } from '../run-example.js';

it('the scratch space finds, searches, edits and stays within its quota', async () => {
  const { code, output } = await runExample('scratch-space/main.ts');
  expect(output.split('\n')).toEqual([
    'found /logs/monday.log',
    'found /logs/tuesday.log',
    '# 2 slow requests',
    '/logs/monday.log:2 GET /search 2105 ms slow',
    '/logs/tuesday.log:2 POST /order 3070 ms slow',
    '',
    'refused: maxTotalSize is 100000, this would make 1000216',
    '4 files, 216 bytes: /logs/monday.log /logs/tuesday.log /out/report.md /task.md',
    '',
  ]);
  expect(code).toBe(0);
});
