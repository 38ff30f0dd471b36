import { expect, it } from 'vitest';
import { runExample } from '../run-example.js';

it('each worker does what it may, and is told what it may not do', async () => {
  const { code, output } = await runExample('sub-agents/main.ts');
  expect(output.trimEnd().split('\n')).toEqual([
    'analyser: list_files {}',
    '  dir  /src/',
    '   86  /src/cart.ts',
    'analyser: grep {"pattern":"sum - "}',
    '  /src/cart.ts:1: export const total = (items: number[]) => items.reduce((sum, item) => sum - item, 0);',
    'analyser: read_file {"path":"/docs/pricing.md"}',
    "  Cannot access '/docs/pricing.md': path is outside sandbox.",
    '  Readable paths: /src',
    'analyser: write_file {"path":"/src/cart.ts","content":""}',
    "  Cannot write to '/src/cart.ts': path is read-only.",
    '  Writable paths: none',
    expect.stringContaining('fixer: write_file {"path":"/fixes/cart.ts"'),
    "  (approved: Write 76 characters to '/fixes/cart.ts')",
    "  Wrote 76 characters to '/fixes/cart.ts'.",
    expect.stringContaining('fixer: edit_file {"path":"/src/cart.ts"'),
    "  Cannot write to '/src/cart.ts': path is read-only.",
    '  Writable paths: /fixes',
    'fixer: move_file {"from":"/src/cart.ts","to":"/fixes/old.ts"}',
    "  Cannot write to '/src/cart.ts': path is read-only.",
    '  Writable paths: /fixes',
    'fixer calls a reviewer with all of /docs:',
    "  Cannot create child sandbox with allowRead '/docs': the path is outside the parent sandbox. Child sandboxes may only restrict access.",
    '  Readable paths of the parent: /src, /fixes',
    '  Writable paths of the parent: /fixes',
    '  Ask for paths among those of the parent, or leave the entry out.',
    '  it gets /fixes and 1 file by value',
    "on the project: [ 'README.md', 'cart.ts' ] true",
  ]);
  expect(code).toBe(0);
});
