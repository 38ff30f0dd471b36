import { quote } from '@scratchfs/core';
import type { InputSchema, PropertySchema, StringSchema } from './tool.js';

/** Thrown for invalid input. Its message is for the model that sent the input. */
export class InputError extends Error {
  override readonly name = 'InputError';
}

/**
 * Validates the input of a tool against its schema. Returns a new object with own properties only and defaults filled
 * in.
 * @throws InputError
 */
export function readInput(schema: InputSchema, input: unknown): Record<string, unknown> {
  return readObject(schema, input, 'The input');
}

/** @param what name of the object in messages */
function readObject(schema: InputSchema, input: unknown, what: string): Record<string, unknown> {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new InputError(`${what} must be an object with ${listed(Object.keys(schema.properties))}.`);
  }
  for (const key of Object.keys(input)) {
    if (Object.hasOwn(schema.properties, key)) continue;
    throw new InputError(
      `There is no parameter ${quote(key)}. The parameters are ${listed(Object.keys(schema.properties))}.`,
    );
  }
  const read = Object.create(null) as Record<string, unknown>;
  for (const [name, property] of Object.entries(schema.properties)) {
    const value: unknown = Object.hasOwn(input, name) ? (input as Record<string, unknown>)[name] : undefined;
    if (value !== undefined && value !== null) read[name] = checked(name, property, value);
    else if (schema.required.includes(name))
      throw new InputError(
        `The parameter ${name} is missing${property.description ? `: ${property.description}` : '.'}`,
      );
    else if ('default' in property) read[name] = property.default;
  }
  return read;
}

function checked(name: string, property: PropertySchema, value: unknown): unknown {
  if (property.type === 'array') {
    if (!Array.isArray(value) || value.length < property.minItems)
      throw new InputError(`${name} must be a list with ${property.minItems} item or more, not ${shown(value)}.`);
    const { items } = property;
    return Array.from(value, (item, i) =>
      items.type === 'object' ? readObject(items, item, `${name}[${i}]`) : checked(`${name}[${i}]`, items, item),
    );
  }
  if (property.type === 'integer') {
    const { minimum, maximum = Number.MAX_SAFE_INTEGER } = property;
    if (typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum) return value;
    const range = property.maximum === undefined ? `from ${minimum} on` : `from ${minimum} to ${maximum}`;
    throw new InputError(`${name} must be a whole number ${range}, not ${shown(value)}.`);
  }
  if (typeof value !== property.type) {
    throw new InputError(
      `${name} must be ${property.type === 'string' ? 'a string' : 'true or false'}, not ${shown(value)}.`,
    );
  }
  if (property.type === 'string') checkString(name, property, value as string);
  return value;
}

function checkString(name: string, { minLength = 0, pattern, enum: values }: StringSchema, value: string): void {
  if (value.length < minLength) throw new InputError(`${name} must not be empty.`);
  if (values !== undefined && !values.includes(value))
    throw new InputError(`${name} must be ${values.join(' or ')}, not ${quote(value)}.`);
  if (pattern === undefined || (new RegExp(pattern, 'u').test(value) && value.isWellFormed())) return;
  throw new InputError(`${name} must be plain text without null characters, not ${quote(value)}.`);
}

/** Checks a path from a model. @throws InputError if it contains a null character, which no file name has */
export function checkPath(path: string): void {
  if (path.includes('\0')) throw new InputError(`A path must be text without null characters, not ${quote(path)}.`);
}

function shown(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (value === null || typeof value !== 'object') return String(value);
  return Array.isArray(value) ? 'a list' : 'an object';
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'no parameters' : names.join(', ');
}
