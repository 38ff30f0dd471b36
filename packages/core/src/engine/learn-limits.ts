import { FsError, isFsError } from '../errors.js';
import type { FileSystem } from '../file-system.js';
import { isLimited, type Limits } from '../limits.js';
import { trustedApi } from './internals.js';

/**
 * Returns the limits of a filesystem as they are stored now, for work that refuses by them before its atomic step. Takes
 * one request on a remote storage. Limits that this client does not know are left to the atomic step.
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

/** Fails as an operation that a limit refuses; such a failure is confirmed with the stored limits. */
function meetLimit(): never {
  throw new FsError('ENOSPC', { limit: UNKNOWN });
}
