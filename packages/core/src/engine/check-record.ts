/** @throws TypeError if the value is not a plain record: arrays, maps and instances of classes hold no options */
export function checkRecord(value: object, name: string): void {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
    throw new TypeError(`${name} must be a plain object`);
}
