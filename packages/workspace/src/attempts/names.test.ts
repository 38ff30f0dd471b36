import { expect, it } from 'vitest';
import { checkAttemptName, isAttemptName, MAX_ATTEMPT_NAME, randomAttemptName } from './names.js';
import { ADJECTIVES, NOUNS } from './words.js';

it('two words make more than 10,000 names, all of which can be typed', () => {
  expect(new Set(ADJECTIVES).size).toBe(ADJECTIVES.length);
  expect(new Set(NOUNS).size).toBe(NOUNS.length);
  expect(ADJECTIVES.length * NOUNS.length).toBeGreaterThan(10_000);
  const names = ADJECTIVES.flatMap((first) => NOUNS.map((second) => `${first}-${second}`));
  expect(names.filter((name) => !isAttemptName(name))).toEqual([]);
});

it('randomAttemptName() uses the whole lists', () => {
  expect(randomAttemptName(() => 0)).toBe(`${ADJECTIVES[0]}-${NOUNS[0]}`);
  expect(randomAttemptName((below) => below - 1)).toBe(`${ADJECTIVES.at(-1)}-${NOUNS.at(-1)}`);
  expect(isAttemptName(randomAttemptName())).toBe(true);
});

it.each([['fix-login'], ['a'], ['v1.2_b'], ['2-tries'], ['constructor'], ['a'.repeat(MAX_ATTEMPT_NAME)]])(
  'checkAttemptName() takes %j',
  (name) => expect(checkAttemptName(name)).toBe(name),
);

it.each([
  ['', /empty/],
  ['-rf', /other characters/],
  ['--help', /other characters/],
  ['a b', /other characters/],
  ['a/b', /other characters/],
  ['..', /other characters/],
  ['a..b', /other characters/],
  ['.hidden', /other characters/],
  ['Calm', /other characters/],
  ['é', /other characters/],
  ['a\n', /other characters/],
  ['\u001b[31m', /other characters/],
  ['\u202eevil', /other characters/],
  ['\ud800', /other characters/],
  ['__proto__', /other characters/],
  ['a\0', /other characters/],
  ['~', /other characters/],
  ['$(rm)', /other characters/],
  ['12', /number of an operation/],
  ['x.lock', /\.lock/],
  ['disk', /reserved/],
  ['nul.txt', /reserved/],
  ['x'.repeat(300), /300 characters/],
])('checkAttemptName() refuses %j and says what is allowed', (name, reason) => {
  expect(isAttemptName(name)).toBe(false);
  expect(() => checkAttemptName(name)).toThrow(reason);
  expect(() => checkAttemptName(name)).toThrow(/calm-otter/);
  // The message can be shown on a terminal, and is short.
  const message = (() => {
    try {
      return checkAttemptName(name);
    } catch (error) {
      return (error as Error).message;
    }
  })();
  expect(message).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
  expect(message.length).toBeLessThan(400);
});

it('checkAttemptName() refuses other types', () => {
  for (const value of [undefined, null, 7, {}, ['a']]) expect(() => checkAttemptName(value)).toThrow(TypeError);
});
