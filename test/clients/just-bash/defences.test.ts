import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';

const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

it.each(['sync', 'async'])(
  'The defences of just-bash report no violation in the first calls of a process, %s',
  { timeout: 300_000 },
  (kind) => {
    const output = execFileSync(
      process.execPath,
      ['--conditions=@scratchfs/source', '--import', loader, join(import.meta.dirname, 'cold.ts'), kind],
      { encoding: 'utf8' },
    );
    const answer = JSON.parse(output.trim().split('\n').at(-1) ?? '');
    expect(answer.theirs).toEqual(['setTimeout globalThis.setTimeout']);
    expect(answer.ours).toEqual([]);
    expect(answer.output.split('\n')).toEqual([
      '4 644',
      '4 644',
      'a/b/f',
      './a/b/f',
      './d/b/f',
      './g',
      './h',
      './i',
      'a/b/f:x',
      'd/b/f:x',
      'g:x',
      'h:x',
      'i:x',
      'same',
      'eAp5Cg==',
      '/a/b',
      'exit 1',
      '',
    ]);
  },
);
