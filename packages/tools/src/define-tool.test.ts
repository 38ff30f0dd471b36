import { FsError } from '@scratchfs/core';
import { describe, expect, it } from 'vitest';
import { defineTool } from './define-tool.js';

const echo = defineTool({
  name: 'echo',
  description: 'Returns its input.',
  properties: {
    as: { type: 'string', description: 'The form.', enum: ['json', 'text'] },
    paths: { type: 'array', description: 'Paths.', minItems: 1, items: { type: 'string', minLength: 1 } },
  },
  run: async (input: object) => JSON.stringify(input),
});

const textOf = async (input: unknown): Promise<string> => (await echo.run(input)).text;

describe('defineTool()', () => {
  it('accepts the values of an enum and no others', async () => {
    expect(await textOf({ as: 'json' })).toBe('{"as":"json"}');
    expect(await textOf({ as: 'xml' })).toBe("as must be json or text, not 'xml'.");
  });

  it('accepts a list of strings and names the item that is none', async () => {
    expect(await textOf({ paths: ['a', 'b'] })).toBe('{"paths":["a","b"]}');
    expect(await textOf({ paths: ['a', 1] })).toBe('paths[1] must be a string, not 1.');
    expect(await textOf({ paths: [''] })).toBe('paths[0] must not be empty.');
  });

  it('explains errors of a filesystem and reports others to the program only', async () => {
    const errors: unknown[] = [];
    const failing = (error: Error) =>
      defineTool(
        { name: 'x', description: 'x', properties: {}, run: () => Promise.reject(error) },
        { onError: (each) => errors.push(each) },
      ).run({});
    expect((await failing(new FsError('ENOENT', { syscall: 'open', path: '/a' }))).text).toContain('ENOENT');
    expect((await failing(new Error('secret'))).text).not.toContain('secret');
    expect(errors).toEqual([new Error('secret')]);
  });
});
