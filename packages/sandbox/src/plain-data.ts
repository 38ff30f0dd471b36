import { quote } from '@scratchfs/core';

/** Reads one value, or throws an error that names the field. */
export type Reader<T> = (value: unknown, field: string) => T;
export type Fields = Readonly<Record<string, Reader<unknown>>>;
export type Read<F extends Fields> = { readonly [K in keyof F]: ReturnType<F[K]> };

/** Describes a value for a message. */
export function describe(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (value === null || typeof value !== 'object') return typeof value === 'function' ? 'a function' : String(value);
  return Array.isArray(value) ? 'a list' : 'an object';
}

/**
 * Returns the own properties of plain data. Inherited ones do not count, and getters are refused, because they could
 * return something else the next time.
 * @throws TypeError
 */
export function entriesOf(value: unknown, field: string): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !isPlain(value)) {
    throw new TypeError(`${field} must be a plain object, not ${describe(value)}`);
  }
  return Reflect.ownKeys(value).map((key) => {
    if (typeof key === 'symbol') throw new TypeError(`${field} must not have symbols as keys`);
    return [key, ownValue(value, key, `${field}.${key}`)];
  });
}

/** Reports whether an object has no prototype, or one that has none itself, like plain objects of any realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function ownValue(value: object, key: PropertyKey, field: string): unknown {
  const property = Object.getOwnPropertyDescriptor(value, key);
  if (property === undefined || !('value' in property)) {
    throw new TypeError(`${shown(field)} must be a plain value, not a getter`);
  }
  return property.value;
}

/** Escapes a field's name for a message, because it may contain the caller's keys. */
function shown(field: string): string {
  return quote(field).slice(1, -1);
}

/**
 * Parses an object with known keys, all in camelCase or all in snake_case. The reader of a missing field receives
 * undefined.
 * @throws TypeError for an unknown key, a duplicate, and mixed spellings
 */
export function readObject<F extends Fields>(value: unknown, field: string, fields: F, spelling: Spelling): Read<F> {
  const given = new Map<string, { readonly key: string; readonly value: unknown }>();
  for (const [key, item] of entriesOf(value, field)) {
    const name = Object.hasOwn(fields, key) ? key : Object.keys(fields).find((known) => snakeCase(known) === key);
    if (name === undefined) {
      const known = Object.keys(fields).map((each) => spelling.of(each));
      throw new TypeError(`${field} has no field ${quote(key)}. It takes ${known.join(', ')}`);
    }
    spelling.note(key);
    given.set(name, { key, value: item });
  }
  const read = Object.entries(fields).map(([name, reader]) => {
    const found = given.get(name);
    return [name, reader(found?.value, `${field}.${found?.key ?? spelling.of(name)}`)];
  });
  return Object.freeze(Object.fromEntries(read)) as Read<F>;
}

/** Spelling of a document's keys, which must be consistent. */
export class Spelling {
  #first: { readonly key: string; readonly isSnake: boolean } | undefined;

  /** @throws TypeError if the document has used the other spelling before */
  note(key: string): void {
    const isSnake = key.includes('_');
    if (!isSnake && !/[A-Z]/.test(key)) return;
    this.#first ??= { key, isSnake };
    if (this.#first.isSnake === isSnake) return;
    throw new TypeError(
      `${quote(this.#first.key)} and ${quote(key)} mix two spellings: use snake_case or camelCase, not both`,
    );
  }

  /** Returns a field's name in the document's spelling. */
  of(name: string): string {
    return this.#first?.isSnake === true ? snakeCase(name) : name;
  }
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export const flag =
  (fallback: boolean): Reader<boolean> =>
  (value, field) => {
    if (value === undefined) return fallback;
    if (typeof value !== 'boolean') throw new TypeError(`${field} must be true or false, not ${describe(value)}`);
    return value;
  };

export const text: Reader<string> = (value, field) => {
  if (typeof value !== 'string') throw new TypeError(`${field} must be a string, not ${describe(value)}`);
  if (value === '') throw new RangeError(`${field} must not be empty`);
  return value;
};

export const oneOf =
  <T extends string>(fallback: T, ...allowed: readonly T[]): Reader<T> =>
  (value, field) => {
    if (value === undefined) return fallback;
    const found = allowed.find((each) => each === value);
    if (found === undefined) throw new TypeError(`${field} must be ${allowed.join(' or ')}, not ${describe(value)}`);
    return found;
  };

/** Accepts a missing or null field. */
export const optional =
  <T>(reader: Reader<T>): Reader<T | undefined> =>
  (value, field) =>
    value === undefined || value === null ? undefined : reader(value, field);

/** @throws TypeError if it is not a number, RangeError if it is not a whole number ≥ 0 */
export const wholeNumber: Reader<number> = (value, field) => {
  if (typeof value !== 'number') throw new TypeError(`${field} must be a number, not ${describe(value)}`);
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new RangeError(`${field} must be a whole number from 0 on, not ${value}`);
  }
  return value;
};

/** Returns a frozen copy of a list without holes. */
export const list =
  <T>(reader: Reader<T>): Reader<readonly T[]> =>
  (value, field) => {
    if (!Array.isArray(value)) throw new TypeError(`${field} must be a list, not ${describe(value)}`);
    const items = Array.from({ length: value.length }, (_, i) => ownValue(value, i, `${field}[${i}]`));
    return Object.freeze(items.map((item, i) => reader(item, `${field}[${i}]`)));
  };
