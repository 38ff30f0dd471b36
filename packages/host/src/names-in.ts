import { readdirSync } from 'node:fs';
import { isCode } from './host-error.js';

/** Returns the names in a directory; none if it does not exist or is not a directory. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}

/** Returns the name in a directory that equals the given one, or else one that a disk that ignores case takes for it. */
export function spellingIn(directory: string, name: string): string | undefined {
  const names = namesIn(directory);
  return names.includes(name) ? name : names.find((other) => folded(other) === folded(name));
}

function folded(name: string): string {
  return name.normalize('NFC').toLowerCase();
}
