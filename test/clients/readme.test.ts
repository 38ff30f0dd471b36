import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scripts } from './just-bash/scripts.js';

const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');

it('README.md lists every package with the tested version', () => {
  const table = new Map(
    Array.from(read('README.md').matchAll(/^\| (\S+) \| (\d\S*) \|/gm), ([, name, version]) => [name, version]),
  );
  const { devDependencies } = JSON.parse(read('package.json'));
  const { buffer, memfs, 'playwright-core': playwright, vitest, ...clients } = devDependencies;
  expect([buffer, memfs, playwright, vitest]).not.toContain(undefined);
  expect(Object.fromEntries(table)).toEqual(clients);
  expect(read('README.md')).toContain(`memfs ${memfs}`);
  expect(read('README.md')).toContain(`| ${Object.keys(scripts).length} scripts`);
});
