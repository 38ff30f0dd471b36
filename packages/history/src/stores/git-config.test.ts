import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { SampleGit } from '../testing/sample-git.js';
import { parseConfig } from './git-config.js';

const sample = new SampleGit();
afterAll(() => sample.remove());

describe('parseConfig()', () => {
  it.each([
    ['[core] key = on the line of its heading'],
    ['[core]\n\tkey = a value ; and a comment'],
    ['[core]\n\tkey = "quoted ; # "  \t# comment'],
    ['[core]\n\tkey = one\\\n  two'],
    ['[core]\n\tkey = "a\\"b\\\\c\\td" e'],
    ['[core]\n\tkey'],
    ['[core]\n# C:\\\n key = behind a comment that ends in a backslash'],
    ['[core]\n a = x # c\\\n key = 2'],
    ['[other][core]key=3'],
    ['[core] key = \u00a0wide\u00a0'],
    ['[core]\n\tkey = 1\r'],
    ['[core]\n\tkey ='],
    ['[Core]\r\n\tKEY = mixed case \r\n'],
    ['[core "sub"]\n\tkey = 1\n[core]\n\tkey = 2\n[other]\n\tkey = 3'],
    ['# comment\n; comment\n[core] # comment\n key = x=y'],
    ['[core "with \\" and ]"] key = 1\n[core] key = 2'],
  ])('reads %j as git does', (text) => {
    const file = join(sample.folder, 'config');
    writeFileSync(file, text);
    // NUL ends each item. A line break separates key and value; without a value there is none.
    const listed = sample.run(['config', '--file', file, '--list', '-z']).split('\0');
    const [, wanted = 'true'] = listed.findLast((item) => /^core\.key(\n|$)/.test(item))?.split('\n') ?? ['', 'none'];
    expect(parseConfig(text).get('core.key')).toBe(wanted);
  });
});
