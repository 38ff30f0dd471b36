import { randomInt } from 'node:crypto';
import { quote } from '@scratchfs/core';
import { ADJECTIVES, NOUNS } from './words.js';

/** Maximum length of an attempt's name, in characters. */
export const MAX_ATTEMPT_NAME = 64;

/** Lower case only, because some disks do not distinguish case. */
const NAME = /^[a-z0-9]+(?:[._-][a-z0-9]+)*$/;

/** Words kept free for commands, and names that Windows gives to devices. */
const RESERVED = /^(?:disk|current|head|all|none|(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?)$/;

/**
 * Checks a name that a caller gives to an attempt. It can be typed on a command line without quotes, is not mistaken
 * for an option or for the number of an operation, and can be the name of a directory, also on Windows, and of a git
 * branch.
 * @throws TypeError if it is not a string; RangeError that says what is allowed
 */
export function checkAttemptName(name: unknown): string {
  if (typeof name !== 'string') throw new TypeError(`The name of an attempt must be a string, not ${typeof name}`);
  const reason = reasonAgainst(name);
  if (reason === undefined) return name;
  const shown = name.length <= MAX_ATTEMPT_NAME ? quote(name) : `${quote(name.slice(0, MAX_ATTEMPT_NAME))}…`;
  throw new RangeError(
    `${shown} cannot be the name of an attempt: ${reason}. Use a name such as calm-otter: at most ` +
      `${MAX_ATTEMPT_NAME} characters of a-z and 0-9, with single "-", "_" or "." between them`,
  );
}

/** Reports whether a text can be the name of an attempt. */
export function isAttemptName(name: string): boolean {
  return reasonAgainst(name) === undefined;
}

function reasonAgainst(name: string): string | undefined {
  if (name === '') return 'it is empty';
  if (name.length > MAX_ATTEMPT_NAME) return `it has ${name.length} characters`;
  if (!NAME.test(name)) return 'it has other characters, or a separator at an end or beside another one';
  if (/^\d+$/.test(name)) return 'it would be taken for the number of an operation';
  if (name.endsWith('.lock')) return 'git takes no branch whose name ends with .lock';
  if (RESERVED.test(name)) return 'the word is reserved';
  return undefined;
}

/** Returns a name of two words, such as `calm-otter`. @param random returns an integer from 0 to below its argument */
export function randomAttemptName(random: (below: number) => number = randomInt): string {
  return `${ADJECTIVES[random(ADJECTIVES.length)]}-${NOUNS[random(NOUNS.length)]}`;
}
