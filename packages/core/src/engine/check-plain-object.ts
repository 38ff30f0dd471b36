/** @throws TypeError if the value is not a plain object but an array, a map or an instance of another class */
export function checkPlainObject(value: object, name: string): void {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
    throw new TypeError(`${name} must be a plain object`);
}
