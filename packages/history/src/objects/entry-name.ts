import { checkName, isFsError } from '@scratchfs/core';
import { HistoryError } from '../errors.js';

/** Code points that HFS+ ignores in comparisons of names (git, utf8.c). */
const IGNORED_BY_HFS = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu;

const DOT = 46;
const G = 103;
const TILDE = 126;

/**
 * Beginning of NTFS's short name for `.gitmodules` if the plain short names are taken: letters of this, a tilde and
 * digits, eight characters in all.
 */
const HASHED_SHORT_NAME = 'gi7eba';

/**
 * Reports whether some filesystem treats the name as `.git`: by case, by code points that HFS+ ignores, by NTFS's short
 * names, trailing dots and spaces, and streams.
 */
export function isDotGit(name: string): boolean {
  return isDisguised(name, 'git', (short) => short === 'git~1');
}

/** Reports whether some filesystem treats the name as `.gitmodules`. */
export function isDotGitmodules(name: string): boolean {
  return isDisguised(name, 'gitmodules', (short) => {
    if (/^gitmod~[1-4]$/.test(short)) return true;
    const [, letters] = /^(.*)~[1-9]\d*$/.exec(short) ?? [];
    return short.length === 8 && letters !== undefined && HASHED_SHORT_NAME.startsWith(letters);
  });
}

function isDisguised(name: string, word: string, isShortName: (name: string) => boolean): boolean {
  const first = name.charCodeAt(0);
  // Every such name begins with a dot, a g, a tilde or a code point that HFS+ ignores.
  if (first < 128 && first !== DOT && first !== TILDE && (first | 32) !== G) return false;
  const folded = name.replace(IGNORED_BY_HFS, '').toLowerCase();
  if (folded === `.${word}`) return true;
  const [untilStream] = name.toLowerCase().split(':', 1) as [string];
  const onNtfs = untilStream.replace(/[ .]+$/, '');
  return onNtfs === `.${word}` || isShortName(onNtfs);
}

/**
 * Refuses names of tree entries that must not reach a filesystem, by git's rules for HFS+ and NTFS, and names that a
 * scratchfs filesystem cannot hold, such as `..\x`. Each name is checked as it is, without being normalized.
 * @throws HistoryError `hostile`
 */
export function checkEntryName(name: string): void {
  if (isDotGit(name)) throw hostile(name, 'some file systems take it for .git');
  try {
    checkName(name);
  } catch (cause) {
    if (isFsError(cause)) throw hostile(name, 'no filesystem of this kind can hold it', cause);
    throw cause;
  }
}

function hostile(name: string, why: string, cause?: unknown): HistoryError {
  return new HistoryError('hostile', `The name ${JSON.stringify(name.slice(0, 80))} is refused: ${why}`, {
    path: name,
    cause,
  });
}
