import { joinPath, normalizePath } from '@scratchfs/core';

/** Returns the absolute path in a storage that an argument names, relative to `place`. */
export function storedPath(argument: string, place = '/'): string {
  return normalizePath(argument.startsWith('/') ? argument : joinPath(place, argument === '' ? '.' : argument));
}
