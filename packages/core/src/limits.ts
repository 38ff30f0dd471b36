import { checkRecord } from './engine/arguments.js';
import { quote } from './errors.js';

/** How large a filesystem may become. Without a value there is no limit. */
export interface Limits {
  /** Bytes across all files; a hard-linked file counts once; a symlink counts its target's bytes. */
  readonly maxTotalSize?: number | undefined;
  /** Bytes of a single file. */
  readonly maxFileSize?: number | undefined;
  /** Names in the tree: files, directories and links; the root is not counted. */
  readonly maxNodeCount?: number | undefined;
  /** Checkpoints held at the same time. */
  readonly maxCheckpoints?: number | undefined;
}

/** What a filesystem holds. The root is not counted. */
export interface FileSystemStats {
  /** Bytes across all files; a hard-linked file counts once; a symlink counts its target's bytes. */
  readonly totalSize: number;
  /** Names that are no directory; a hard-linked file counts once per name. */
  readonly fileCount: number;
  readonly directoryCount: number;
  /** `fileCount + directoryCount`. */
  readonly nodeCount: number;
}

const KEYS = ['maxTotalSize', 'maxFileSize', 'maxNodeCount', 'maxCheckpoints'] as const;

/**
 * Checks limits as a caller gave them and freezes a copy.
 * @throws TypeError for something that is no object or has an unknown key
 * @throws RangeError for a value that is no integer ≥ 0
 */
export function parseLimits(limits: Limits | undefined): Limits {
  if (limits === undefined) return Object.freeze({});
  if (typeof limits !== 'object' || limits === null) {
    throw new TypeError(
      `limits must be an object with ${KEYS.join(', ')}, not ${limits === null ? 'null' : typeof limits}`,
    );
  }
  checkRecord(limits, 'limits');
  const parsed: Record<string, number> = {};
  for (const key of Object.keys(limits)) {
    if (!KEYS.includes(key as keyof Limits)) {
      throw new TypeError(`Unknown limit ${quote(key)}. Known are ${KEYS.join(', ')}`);
    }
    const value = limits[key as keyof Limits];
    if (value === undefined) continue;
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
      throw new RangeError(`limits.${key} must be an integer from 0 to 2^53 - 1, not ${String(value)}`);
    }
    parsed[key] = value;
  }
  return Object.freeze(parsed);
}
