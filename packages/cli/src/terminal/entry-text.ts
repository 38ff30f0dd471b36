import type { EntryInfo, EntryKind } from '@scratchfs/core';
import type { Output } from './output.js';

const LETTERS = { file: '-', directory: 'd', symlink: 'l' } as const;

/** Returns kind and permissions as `ls -l` shows them. */
export function modeText(kind: EntryKind, mode: number): string {
  const bits = [...'rwxrwxrwx'].map((letter, index) => ((mode >> (8 - index)) & 1 ? letter : '-'));
  const special = (index: number, bit: number, letter: string): void => {
    if (mode & bit) bits[index] = bits[index] === '-' ? letter.toUpperCase() : letter;
  };
  special(2, 0o4000, 's');
  special(5, 0o2000, 's');
  special(8, 0o1000, 't');
  return LETTERS[kind] + bits.join('');
}

/** Returns the name of an entry; directories end with `/`. */
export function paintedName({ name, kind }: Pick<EntryInfo, 'name' | 'kind'>, output: Output): string {
  const text = output.listed(name);
  if (kind === 'directory') return `${output.style.directory(text)}/`;
  return kind === 'symlink' ? output.style.link(text) : text;
}

/** Returns an entry as `--json` shows it. */
export function entryJson(entry: EntryInfo): Record<string, unknown> {
  const { path, kind, size, mode, modifiedAt, target } = entry;
  return { path, kind, size, mode, modifiedAt, ...(target === undefined ? {} : { target }) };
}
