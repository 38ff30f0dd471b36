import { joinPath, normalizePath } from '@scratchfs/core';

/** Returns the absolute path in a storage that an argument names, from the place where a person stands. */
export function storedPath(argument: string, place = '/'): string {
  return normalizePath(argument.startsWith('/') ? argument : joinPath(place, argument === '' ? '.' : argument));
}
