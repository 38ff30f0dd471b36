import { readdirSync } from 'node:fs';
import { isCode } from './host-error.js';

/** What lies in a directory; nothing where there is none. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}
