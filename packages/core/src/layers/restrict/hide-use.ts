import { FsError } from '../../errors.js';

/** Of the whole, which more is in than may be seen. The size of a single file tells nothing else. */
const OF_THE_WHOLE: ReadonlySet<string | undefined> = new Set(['maxTotalSize', 'maxNodeCount', 'maxCheckpoints']);

/** An error at a limit without what is in use. */
export function hideUse(error: unknown): unknown {
  if (!(error instanceof FsError) || !OF_THE_WHOLE.has(error.limit) || error.used === undefined) return error;
  const { code, syscall, path, dest, limit, allowed } = error;
  return new FsError(code, { syscall, path, dest, limit, allowed, hint: `The limit ${limit} is reached` });
}
