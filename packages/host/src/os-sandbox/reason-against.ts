import { checkName, MAX_DEPTH, MAX_PATH_BYTES } from '@scratchfs/core';
import type { RawName } from '../path-handle.js';
import type { GivenEntry } from './copy-index.js';

/** Returns the reason for which no scratchfs filesystem can hold an entry of the disk; undefined if one can. */
export function reasonAgainst(name: RawName, path: string, kind: GivenEntry['kind'] | undefined): string | undefined {
  if (typeof name !== 'string') return 'its name is not UTF-8';
  if (kind === undefined) return 'it is a pipe, a socket or a device';
  if (path.split('/').length > MAX_DEPTH) return `it lies more than ${MAX_DEPTH} directories deep`;
  if (Buffer.byteLength(path) >= MAX_PATH_BYTES) return `its path has more than ${MAX_PATH_BYTES} bytes`;
  try {
    checkName(name);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
