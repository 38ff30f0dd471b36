/** @throws TypeError if options are not an object or have a key that the function does not know */
export function checkOptions(options: object | undefined, known: readonly string[], name: string): void {
  if (options === undefined) return;
  if (typeof options !== 'object' || options === null) throw new TypeError(`The options of ${name} must be an object`);
  for (const key of Object.keys(options)) {
    if (!known.includes(key))
      throw new TypeError(`${name} has no option ${JSON.stringify(key)}. It takes ${known.join(', ')}`);
  }
}
