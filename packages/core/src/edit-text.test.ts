import { describe, expect, test } from 'vitest';
import { replaceExact } from './edit-text.js';
import { isFsError } from './errors.js';

const TEXT = 'const a = 1;\nconst b = 2;\nfunction sum() {\n  return a + b;\n}\n';

function hintOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (isFsError(error, 'EINVAL')) return error.message;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('replaceExact', () => {
  test('replaces the only occurrence', () => {
    expect(replaceExact(TEXT, 'b = 2', 'b = 3')).toEqual({ text: TEXT.replace('b = 2', 'b = 3'), count: 1 });
    expect(replaceExact('abc', 'abc', '')).toEqual({ text: '', count: 1 });
  });

  test('takes the replacement literally', () => {
    expect(replaceExact('x', 'x', "$& $1 $$ $' $`").text).toBe("$& $1 $$ $' $`");
    expect(replaceExact('x.x', '.', '$&', true).text).toBe('x$&x');
  });

  test('with all, replaces every occurrence from the start without overlap', () => {
    expect(replaceExact('aaaaa', 'aa', 'b', true)).toEqual({ text: 'bba', count: 2 });
    expect(replaceExact('a\na\n', 'a', 'aa', true)).toEqual({ text: 'aa\naa\n', count: 2 });
  });

  test('without all, more than one occurrence is refused with the lines, overlaps counted', () => {
    expect(hintOf(() => replaceExact(TEXT, 'const', 'let'))).toMatch(/occurs 2 times, starting on line 1, 2\./);
    expect(hintOf(() => replaceExact('x\naaa', 'aa', 'b'))).toMatch(/occurs 2 times, starting on line 2\./);
    expect(hintOf(() => replaceExact('a\n'.repeat(100), 'a', 'b'))).toMatch(/more than 10 times, .*line 1, 2, .* 10\./);
  });

  test('a text that is not found is refused with the nearest line', () => {
    expect(hintOf(() => replaceExact(TEXT, 'return a - b;', ''))).toMatch(/nearest line is 4: ' {2}return a \+ b;'/);
    expect(hintOf(() => replaceExact(TEXT, '\treturn a + b;', ''))).toMatch(/like line 4, .*white space/);
    expect(hintOf(() => replaceExact(TEXT, 'completely different', ''))).toMatch(/read the file first/);
    expect(hintOf(() => replaceExact('', 'a', ''))).toMatch(/read the file first/);
  });

  test('says so if only the line ends differ', () => {
    expect(hintOf(() => replaceExact('a\r\nb\r\n', 'a\nb', ''))).toContain('\\r\\n');
  });

  test('refuses an empty search text and arguments that are not strings', () => {
    expect(hintOf(() => replaceExact('a', '', 'b'))).toMatch(/must not be empty/);
    expect(() => replaceExact('a', 1 as unknown as string, 'b')).toThrow(TypeError);
    expect(() => replaceExact('a', 'a', undefined as unknown as string)).toThrow(TypeError);
  });

  test('carries no control character of the file into its message', () => {
    const message = hintOf(() => replaceExact('return \u001b[31m1 + 2\u009b;\n', 'return [31m1 + 3;', ''));
    expect(message).toMatch(/line is 1/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters must not occur
    expect(message).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
  });

  test('bounds its work on large and hostile text', () => {
    const before = process.cpuUsage();
    const long = 'ab'.repeat(2_000_000);
    hintOf(() => replaceExact(long, `${'ab'.repeat(50_000)}c`, ''));
    hintOf(() => replaceExact('a\n'.repeat(1_000_000), 'b'.repeat(100), ''));
    hintOf(() => replaceExact('a'.repeat(4_000_000), 'aa', ''));
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(1500);
  });
});
