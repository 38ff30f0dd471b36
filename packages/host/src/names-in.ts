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
