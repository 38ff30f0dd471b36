import { inspect, inspectCut, received } from './received.js';

/** Gives an error a code, which its `toString` shows too. */
export function coded<E extends Error>(error: E, code: string): E & { readonly code: string } {
  Object.defineProperty(error, 'toString', { value: textWithCode, writable: true, configurable: true });
  return Object.assign(error, { code });
}

function textWithCode(this: Error & { readonly code: string }): string {
  return `${this.name} [${this.code}]: ${this.message}`;
}

function subject(name: string): string {
  return name.includes('.') ? 'property' : 'argument';
}

/** `expected` uses Node's words: `of type number`, `an instance of AbortSignal`. */
export function invalidType(name: string, expected: string, actual: unknown): Error {
  const message = `The "${name}" ${subject(name)} must be ${expected}. Received ${received(actual)}`;
  return coded(new TypeError(message), 'ERR_INVALID_ARG_TYPE');
}

export function invalidValue(name: string, actual: unknown, reason = 'is invalid'): Error {
  const message = `The ${subject(name)} '${name}' ${reason}. Received ${inspectCut(actual)}`;
  return coded(new TypeError(message), 'ERR_INVALID_ARG_VALUE');
}

export function outOfRange(name: string, range: string, actual: unknown): Error {
  const message = `The value of "${name}" is out of range. It must be ${range}. Received ${inspectNumber(actual)}`;
  return coded(new RangeError(message), 'ERR_OUT_OF_RANGE');
}

const MIN_GROUPED_DIGITS_VALUE = 2 ** 32;

/** Large whole numbers have `_` between groups of three digits. */
function inspectNumber(value: unknown): string {
  const isBig =
    typeof value === 'bigint'
      ? value > MIN_GROUPED_DIGITS_VALUE || value < -MIN_GROUPED_DIGITS_VALUE
      : Number.isInteger(value) && Math.abs(value as number) > MIN_GROUPED_DIGITS_VALUE;
  if (!isBig) return inspect(value);
  return String(value).replace(/\d(?=(\d{3})+$)/g, '$&_') + (typeof value === 'bigint' ? 'n' : '');
}

export function invalidState(reason: string): Error {
  return coded(new Error(`Invalid state: ${reason}`), 'ERR_INVALID_STATE');
}
