import { expect, it } from 'vitest';
import { runExample } from '../run-example.js';

it('an agent changes a project in memory until its tests pass; then the changes are applied', async () => {
  const { code, output } = await runExample('agent-project/main.ts');
  expect(output.split('\n').filter((line) => line !== '')).toEqual([
    'loaded 3 files',
    "Replaced 1 occurrence in '/greet.sh'.",
    "Deleted '/README.md'.",
    'undone, because the tests fail: /greet.sh /README.md',
    "Replaced 1 occurrence in '/greet.sh'.",
    'diff --git a/greet.sh b/greet.sh',
    '--- a/greet.sh',
    '+++ b/greet.sh',
    '@@ -1 +1 @@',
    '-echo "Hello $1"',
    '+echo "Hello, $1!"',
    "applied [ '/greet.sh' ]",
    'on the disk: echo "Hello, $1!"',
  ]);
  expect(code).toBe(0);
});
