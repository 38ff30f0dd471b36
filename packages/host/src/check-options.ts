import { quote } from '@scratchfs/core';

/** @throws TypeError if options are not an object or have a key that the method does not know */
export function checkOptions<O extends object>(
  options: O | undefined,
  known: readonly (keyof O & string)[],
  method: string,
): void {
  if (options === undefined) return;
  if (typeof options !== 'object' || options === null)
    throw new TypeError(`The options of ${method} must be an object`);
  for (const key of Object.keys(options)) {
    if (!known.some((name) => name === key))
      throw new TypeError(`${method} has no option ${quote(key)}. It takes ${known.join(', ')}`);
  }
}
