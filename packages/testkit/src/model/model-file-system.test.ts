import { expect, it } from 'vitest';
import { ModelFileSystem } from './model-file-system.js';

it('a copied directory names the first, in order, of several names that are in the way', () => {
  const model = new ModelFileSystem({ clock: () => 0 });
  for (const directory of ['/s', '/t', '/s/b', '/t/a']) model.mkdir(directory);
  for (const file of ['/s/a', '/t/b']) model.writeFile(file, '');
  expect(() => model.cp('/s', '/t', { recursive: true })).toThrow('EISDIR');
});
