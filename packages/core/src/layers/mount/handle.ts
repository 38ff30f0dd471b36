import type { Stats } from '../../entry.js';
import { isFsError } from '../../errors.js';
import type { FileHandle } from '../../file-handle.js';
import { type Call, interceptHandle, type Simple } from '../intercept.js';
import { withPaths } from '../with-paths.js';
import type { Mounted } from './namespace.js';
import type { Place } from './resolve.js';
import { translateStats } from './translate.js';

/**
 * Wraps an open file of a mounted filesystem, so that the handle and its errors have the path with which it was opened,
 * and its stats are the mount's.
 */
export function translateHandle(handle: FileHandle, place: Place): FileHandle {
  return interceptHandle(handle, new Translating(place.given, place.mounted), place.given);
}

class Translating implements Simple {
  constructor(
    readonly given: string,
    readonly mounted: Mounted,
  ) {}

  async promise(call: Call, next: () => Promise<unknown>): Promise<unknown> {
    try {
      return this.#answer(call, await next());
    } catch (error) {
      throw this.#named(error);
    }
  }

  sync(call: Call, next: () => unknown): unknown {
    try {
      return this.#answer(call, next());
    } catch (error) {
      throw this.#named(error);
    }
  }

  #answer(call: Call, result: unknown): unknown {
    return call.name === 'stat' ? translateStats(result as Stats, this.mounted) : result;
  }

  #named(error: unknown): unknown {
    return isFsError(error) && error.path !== undefined ? withPaths(error, this.given, undefined) : error;
  }
}
