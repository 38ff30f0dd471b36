import { FsError, isFsError } from '../errors.js';
import type { FileSystem } from '../file-system.js';
import { isLimited, type Limits } from '../limits.js';
import { trustedApi } from './internals.js';

/**
 * Returns a filesystem's limits, for work that checks them before its own atomic step. On a remote storage, known
 * limits are read again. If none are known, none are returned: the atomic step then enforces those that another client
 * may have set.
 */
export async function learnLimits(fileSystem: FileSystem, signal?: AbortSignal): Promise<Limits> {
  if (fileSystem.kind === 'async' && isLimited(fileSystem.limits)) {
    try {
      await trustedApi(fileSystem).run(meetLimit, [], { signal });
    } catch (error) {
      if (!isFsError(error) || error.limit !== UNKNOWN) throw error;
    }
  }
  return fileSystem.limits;
}

const UNKNOWN = 'unknown';

/** Fails like an operation that exceeds a limit. Before that is reported, the engine reads the stored limits again. */
function meetLimit(): never {
  throw new FsError('ENOSPC', { limit: UNKNOWN });
}
