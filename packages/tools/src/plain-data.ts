import { quote } from '@scratchfs/core';

type Reader = (value: unknown, field: string) => unknown;

/** Returns the own enumerable properties of an object, reading each once. @throws TypeError */
export function entriesOf(value: unknown, field: string): [string, unknown][] {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return Object.entries(value);
  throw new TypeError(`${field} must be an object`);
}

/**
 * Reads known fields, spelled in camelCase or snake_case, into a frozen object. Missing fields are left out.
 * @throws TypeError that names the field
 */
export function readFields<K extends string>(
  data: unknown,
  field: string,
  readers: Readonly<Record<K, Reader>>,
): Readonly<Partial<Record<K, unknown>>> {
  const read = Object.create(null) as Partial<Record<K, unknown>>;
  const names = Object.keys(readers) as K[];
  for (const [key, value] of entriesOf(data, field)) {
    const name = names.find((known) => key === known || key === snakeCase(known));
    if (name === undefined) throw new TypeError(`${field} has no field ${quote(key)}. It takes ${names.join(', ')}`);
    if (value === undefined) continue;
    if (Object.hasOwn(read, name)) throw new TypeError(`${field} has ${name} twice`);
    read[name] = readers[name](value, `${field}.${key}`);
  }
  return Object.freeze(read);
}

/**
 * Copies the own properties of an options object, so that a prototype cannot add options.
 * @throws TypeError for an unknown option
 */
export function ownOptions<O extends object>(options: O, known: readonly (keyof O & string)[], method: string): O {
  for (const [key] of entriesOf(options, `The options of ${method}`)) {
    if (!(known as readonly string[]).includes(key)) {
      throw new TypeError(`${method} has no option ${quote(key)}. It takes ${known.join(', ')}`);
    }
  }
  return Object.assign(Object.create(null), options) as O;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export const flag: Reader = (value, field) => {
  if (typeof value === 'boolean') return value;
  throw new TypeError(`${field} must be true or false`);
};

export const wholeNumber: Reader = (value, field) => {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new TypeError(`${field} must be a whole number from 0 on`);
};

/** Returns a frozen copy. The copy is checked, not the original, because an array may have getters that change. */
export const texts = (value: unknown, field: string): readonly string[] => {
  const items: unknown[] | undefined = Array.isArray(value) ? [...value] : undefined;
  if (items === undefined || !items.every((item) => typeof item === 'string')) {
    throw new TypeError(`${field} must be a list of strings`);
  }
  return Object.freeze(items);
};
