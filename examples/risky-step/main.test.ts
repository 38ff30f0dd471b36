import { expect, it } from 'vitest';
import { runExample } from '../run-example.js';

it('a step whose check fails is rolled back completely, one that passes is kept', async () => {
  const { code, output } = await runExample('risky-step/main.ts');
  expect(output.split('\n')).toEqual([
    'clumsy step: taken back (the configuration has no port)',
    '{ "port": 8080 }',
    " [ 'users.csv' ]",
    'careful step: kept',
    '{ "port": 9090 }',
    " [ 'users.csv' ]",
    '',
  ]);
  expect(code).toBe(0);
});
