import { checkPlainObject } from './engine/check-plain-object.js';
import { quote } from './errors.js';

/**
 * Quotas of a filesystem. A missing value means no limit, for `maxFileSize` 8 TiB. Limits that are stored with the
 * filesystem hold for every client. Usage above a limit is possible after the limit was lowered: then only growth is
 * refused.
 */
export interface Limits {
  /**
   * Bytes of all files. A hard-linked file counts once, a symlink counts the bytes of its target, and a removed file
   * counts while this client has it open.
   */
  readonly maxTotalSize?: number | undefined;
  /** Bytes of a single file, or of a symlink's target. */
  readonly maxFileSize?: number | undefined;
  /** Names in the tree: files, directories and links, without the root. */
  readonly maxNodeCount?: number | undefined;
  /** Checkpoints kept at the same time. */
  readonly maxCheckpoints?: number | undefined;
}

/** Usage of a filesystem. The root is not counted. */
export interface FileSystemStats {
  /** Bytes of all files. A hard-linked file counts once, and a symlink counts the bytes of its target. */
  readonly totalSize: number;
  /** Names that are not directories; a hard-linked file counts once per name. */
  readonly fileCount: number;
  readonly directoryCount: number;
  /** `fileCount + directoryCount`. */
  readonly nodeCount: number;
}

const KEYS = ['maxTotalSize', 'maxFileSize', 'maxNodeCount', 'maxCheckpoints'] as const;

/** The limits of a filesystem that has none. */
export const NO_LIMITS: Limits = Object.freeze({});

/** Returns the limits that a client asks for: none for `stored` and by default. @throws as {@link parseLimits} */
export function givenLimits(limits: Limits | 'stored' | undefined): Limits {
  return limits === undefined || limits === 'stored' ? NO_LIMITS : parseLimits(limits);
}

/**
 * Checks a caller's limits and freezes a copy.
 * @throws TypeError for a value that is not a plain object or has an unknown key
 * @throws RangeError for a limit that is not an integer from 0 to 2^53 - 1
 */
export function parseLimits(limits: Limits): Limits {
  if (typeof limits !== 'object' || limits === null) {
    throw new TypeError(
      `limits must be an object with ${KEYS.join(', ')}, not ${limits === null ? 'null' : typeof limits}`,
    );
  }
  checkPlainObject(limits, 'limits');
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

export function sameLimits(a: Limits, b: Limits): boolean {
  return KEYS.every((key) => a[key] === b[key]);
}

/** Reports whether there is any limit. */
export function isLimited(limits: Limits): boolean {
  return !sameLimits(limits, NO_LIMITS);
}

/** Returns the limits that hold for a batch: the stored ones if they limit anything, else the given ones. */
export function limitsInForce(stored: Limits, given: Limits): Limits {
  return isLimited(stored) ? stored : given;
}
