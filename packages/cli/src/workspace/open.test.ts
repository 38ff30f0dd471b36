import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Call } from '../table/command-spec.js';
import { attemptPath } from './open.js';

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'scratchfs-open-')));
afterAll(() => rmSync(directory, { recursive: true }));
const pathOf = (argument: string): string => attemptPath({ directory } as Call, { directory }, argument);

describe('a path that a command names', () => {
  it('may begin with two dots and lie in the workspace', () => {
    expect(pathOf('..notes')).toBe('/..notes');
    expect(pathOf(join(directory, '..notes/a'))).toBe('/..notes/a');
  });

  it('may lead to the workspace through a link above it, as in $PWD', () => {
    const above = realpathSync(mkdtempSync(join(tmpdir(), 'scratchfs-above-')));
    try {
      symlinkSync(directory, join(above, 'link'));
      mkdirSync(join(above, 'link/src'));
      expect(pathOf(join(above, 'link'))).toBe('/');
      expect(pathOf(join(above, 'link/src/new/a'))).toBe('/src/new/a');
      expect(pathOf(join(above, 'other/src/a'))).toBe(join(above, 'other/src/a'));
    } finally {
      rmSync(above, { recursive: true });
    }
  });

  it('does not lead out of the workspace', () => {
    for (const argument of ['..', '../notes', 'a/../../notes'])
      expect(() => pathOf(argument)).toThrow(/outside the workspace/);
  });
});
