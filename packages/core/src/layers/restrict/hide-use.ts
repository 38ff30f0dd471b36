import { FsError } from '../../errors.js';

/**
 * Limits of the whole filesystem. Their usage reveals invisible entries; the size of a single file reveals only itself.
 */
const OF_THE_WHOLE: ReadonlySet<string | undefined> = new Set(['maxTotalSize', 'maxNodeCount', 'maxCheckpoints']);

/** Returns an error at a limit without `used`, because the usage includes what a guard hides. */
export function hideUse(error: unknown): unknown {
  if (!(error instanceof FsError) || !OF_THE_WHOLE.has(error.limit) || error.used === undefined) return error;
  const { code, syscall, path, dest, limit, allowed } = error;
  return new FsError(code, { syscall, path, dest, limit, allowed, hint: `The limit ${limit} is reached` });
}
