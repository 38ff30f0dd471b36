import { errorName, printBytes } from '../outcome.js';

/** Thrown if an expectation is not met. */
export class ExpectationError extends Error {
  override readonly name = 'ExpectationError';
}

export function fail(message: string): never {
  throw new ExpectationError(message);
}

export function ok(condition: boolean, message: string): asserts condition {
  if (!condition) fail(message);
}

/** Expects deep equality of arrays, plain objects and bytes; an `undefined` field counts as absent. */
export function equal(actual: unknown, expected: unknown, what = 'value'): void {
  const difference = findDifference(actual, expected, '');
  if (difference !== undefined) fail(`${what}${difference}: expected ${print(expected)}, got ${print(actual)}`);
}

function findDifference(actual: unknown, expected: unknown, at: string): string | undefined {
  if (Object.is(actual, expected)) return undefined;
  if (typeof actual !== 'object' || typeof expected !== 'object' || actual === null || expected === null) return at;
  if (actual instanceof Uint8Array || expected instanceof Uint8Array)
    return sameBytes(actual, expected) ? undefined : at;
  if (Array.isArray(actual) !== Array.isArray(expected)) return at;
  const [a, b] = [actual as Record<string, unknown>, expected as Record<string, unknown>];
  if (Array.isArray(actual) && actual.length !== (expected as unknown[]).length) return `${at}.length`;
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const difference = findDifference(a[key], b[key], `${at}.${key}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function sameBytes(a: object, b: object): boolean {
  if (!(a instanceof Uint8Array) || !(b instanceof Uint8Array) || a.length !== b.length) return false;
  return a.every((byte, i) => byte === b[i]);
}

export function print(value: unknown): string {
  if (value instanceof Uint8Array) return printBytes(value);
  if (value instanceof Error) return `${errorName(value)} (${value.message})`;
  try {
    const text = JSON.stringify(value, (_, inner: unknown) =>
      inner instanceof Uint8Array ? printBytes(inner) : inner,
    );
    return (text ?? String(value)).slice(0, 600);
  } catch {
    return String(value);
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a message must not carry
const RAW_CONTROLS = /[\u0000-\u001f\u007f-\u009f]/;

/**
 * Returns the error that a call throws or rejects with, and fails if it succeeds. The message must not contain raw
 * control characters.
 */
export async function errorOf(call: () => unknown, expected: string): Promise<unknown> {
  let result: unknown;
  try {
    result = await call();
  } catch (error) {
    const message = (error as { message?: unknown }).message;
    if (typeof message === 'string' && RAW_CONTROLS.test(message))
      fail(`raw control characters in the message ${JSON.stringify(message)}`);
    return error;
  }
  return fail(`expected ${expected}, but it succeeded with ${print(result)}`);
}

/** Expects that a call throws or rejects with one of these codes or error names. */
export async function rejects(call: () => unknown, ...names: readonly string[]): Promise<unknown> {
  const error = await errorOf(call, names.join(' or '));
  const name = errorName(error);
  if (!names.includes(name)) fail(`expected ${names.join(' or ')}, got ${print(error)}`);
  return error;
}
