import { HistoryError } from './errors.js';
import { isObjectId, type ObjectFormat } from './object-id.js';
import type { RefValue } from './repository.js';

/**
 * Refuses what is no name of a reference, by the rules of `git check-ref-format`, so that every name can be a file.
 * @throws TypeError
 */
export function checkRefName(name: string): string {
  if (typeof name !== 'string' || !isRefName(name)) {
    const shown = JSON.stringify(String(name).slice(0, 80));
    throw new TypeError(`Not a name for a reference: ${shown}. Such as refs/heads/main: no .., no space, no ~^:?*[\\`);
  }
  return name;
}

/** By the rules of `git check-ref-format`. */
export function isRefName(name: string): boolean {
  if (isPseudoRef(name)) return true;
  if (name.length > 1_024 || /[\0-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\.$|\.lock(\/|$)/.test(name)) return false;
  return name.startsWith('refs/') && !name.endsWith('/') && !name.includes('/.') && name.isWellFormed();
}

/** Whether a name is one of those that lie beside `refs/`, such as HEAD. */
export function isPseudoRef(name: string): boolean {
  return /^[A-Z_]+$/.test(name);
}

/**
 * Refuses a new name beside one that would be a directory to it, or a file: as git does, whatever keeps them.
 * @throws HistoryError `ref-conflict`
 */
export function checkRefPlace(name: string, names: Iterable<string>): void {
  for (const other of names)
    if (other.startsWith(`${name}/`) || name.startsWith(`${other}/`))
      throw new HistoryError(
        'ref-conflict',
        `${name} cannot be made: there is ${other}, and a name is a file or a directory`,
        {
          ref: name,
        },
      );
}

export function sameRef(a: RefValue | undefined, b: RefValue | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return 'id' in a ? 'id' in b && a.id === b.id : 'ref' in b && a.ref === b.ref;
}

/** What a file of a reference says: an id, or `ref: ` and a name. Undefined for anything else. */
export function parseRef(text: string, format: ObjectFormat): RefValue | undefined {
  const line = text.trimEnd();
  if (line.startsWith('ref:')) return { ref: line.slice(4).trim() };
  return isObjectId(line, format) ? { id: line } : undefined;
}

export function formatRef(value: RefValue): string {
  return 'id' in value ? `${value.id}\n` : `ref: ${value.ref}\n`;
}
