import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
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

  it('does not lead out of the workspace', () => {
    for (const argument of ['..', '../notes', 'a/../../notes'])
      expect(() => pathOf(argument)).toThrow(/outside the workspace/);
  });
});
