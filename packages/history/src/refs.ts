import { HistoryError } from './errors.js';
import { isObjectId, type ObjectFormat } from './object-id.js';
import type { RefValue } from './repository.js';

/**
 * Returns the name, and refuses one that is not valid, see {@link isRefName}.
 * @throws TypeError
 */
export function checkRefName(name: string): string {
  if (typeof name !== 'string' || !isRefName(name)) {
    const shown = JSON.stringify(String(name).slice(0, 80));
    throw new TypeError(
      `Not a valid name of a reference: ${shown}. Use a name such as refs/heads/main, without .., spaces and ~^:?*[\\`,
    );
  }
  return name;
}

/**
 * Reports whether a name is a pseudo-reference such as HEAD, or one in `refs/` of at most 1,024 characters that is valid
 * by the rules of `git check-ref-format`.
 */
export function isRefName(name: string): boolean {
  if (isPseudoRef(name)) return true;
  if (name.length > 1_024 || /[\0-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\.$|\.lock(\/|$)/.test(name)) return false;
  return name.startsWith('refs/') && !name.endsWith('/') && !name.includes('/.') && name.isWellFormed();
}

/** Reports whether a name has the form of one outside `refs/`, such as HEAD. */
export function isPseudoRef(name: string): boolean {
  return /^[A-Z_]+$/.test(name);
}

/**
 * Refuses a new name of which another name is a directory, or the other way round. git does the same, whatever stores
 * the references.
 * @throws HistoryError `ref-conflict`
 */
export function checkRefPlace(name: string, names: Iterable<string>): void {
  for (const other of names)
    if (other.startsWith(`${name}/`) || name.startsWith(`${other}/`))
      throw new HistoryError(
        'ref-conflict',
        `${name} cannot be created: ${other} exists, and a name is either a file or a directory`,
        {
          ref: name,
        },
      );
}

export function sameRef(a: RefValue | undefined, b: RefValue | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return 'id' in a ? 'id' in b && a.id === b.id : 'ref' in b && a.ref === b.ref;
}

/** Parses a reference file: an id, or `ref: ` and a name. Returns undefined for anything else. */
export function parseRef(text: string, format: ObjectFormat): RefValue | undefined {
  const line = text.trimEnd();
  if (line.startsWith('ref:')) return { ref: line.slice(4).trim() };
  return isObjectId(line, format) ? { id: line } : undefined;
}

export function formatRef(value: RefValue): string {
  return 'id' in value ? `${value.id}\n` : `ref: ${value.ref}\n`;
}
