import type { Mode, TimeLike } from '../argument-types.js';
import type { Content } from '../content.js';
import { FsError, quote } from '../errors.js';
import { MAX_FILE_SIZE } from './view/limit-error.js';

/**
 * Returns a copy of a caller's options with their own keys; inherited ones are ignored. Methods whose first option is
 * `encoding` or `mode` also take its value in place of the options.
 * @throws TypeError for any other value that is not an object, an unknown key, and a `signal` that is not an
 * AbortSignal
 */
export function checkOptions<O extends object>(
  options: O | string | number | null | undefined,
  known: readonly string[],
  method: string,
  takesSignal = true,
): Partial<O> {
  if (options === undefined) return NO_OPTIONS as Partial<O>;
  if (typeof options !== 'object' || options === null) {
    // As in node:fs.
    const [first] = known;
    if (first === 'encoding' && options === null) return NO_OPTIONS as Partial<O>;
    if ((first === 'encoding' || first === 'mode') && (typeof options === 'string' || typeof options === 'number'))
      return ownKeys({ [first]: options }) as Partial<O>;
    throw new TypeError(
      `The options of ${method} must be an object, not ${options === null ? 'null' : typeof options}`,
    );
  }
  for (const key of Object.keys(options)) {
    if (known.includes(key) || (takesSignal && key === 'signal')) continue;
    const all = takesSignal ? [...known, 'signal'] : known;
    throw new TypeError(`${method} has no option ${quote(key)}. It takes ${all.join(', ')}`);
  }
  const given: Partial<O> & { signal?: unknown } = ownKeys(options);
  if (takesSignal) checkSignal(given.signal);
  return given;
}

/** @throws TypeError if the value is neither an AbortSignal nor undefined */
export function checkSignal(signal: unknown): AbortSignal | undefined {
  if (signal === undefined) return undefined;
  if (signal instanceof AbortSignal) return signal;
  throw new TypeError(`signal must be an AbortSignal, not ${describe(signal)}`);
}

const NO_OPTIONS = Object.freeze(Object.create(null) as object);

export function checkBoolean(value: unknown, name: string): boolean {
  if (value === undefined) return false;
  if (typeof value !== 'boolean') throw new TypeError(`${name} must be true or false, not ${describe(value)}`);
  return value;
}

/** @throws TypeError unless the value is undefined or text that is not empty */
export function checkVersion(value: unknown): void {
  if (value !== undefined && (typeof value !== 'string' || value === ''))
    throw new TypeError(`ifVersion must be the version of an entry, as in its stats, not ${describe(value)}`);
}

/** Returns permission bits, masked to 0o7777, or the fallback. */
export function checkMode(mode: Mode | undefined, fallback: number): number {
  return mode === undefined ? fallback : checkNewMode(mode);
}

/** Checks permission bits and masks them to 0o7777. Text is octal, as in node. @throws TypeError, RangeError */
export function checkNewMode(mode: Mode): number {
  const bits = typeof mode === 'string' && /^[0-7]+$/.test(mode) ? Number.parseInt(mode, 8) : mode;
  return checkInteger(bits as number, 'mode', 0, 0xffff_ffff) & 0o7777;
}

export function checkOneOf<T extends string>(value: T, allowed: readonly T[], name: string): T {
  if (allowed.includes(value)) return value;
  throw new TypeError(`${name} must be one of ${allowed.join(', ')}, not ${describe(value)}`);
}

/** @throws TypeError if it is not a number, RangeError if it is not an integer in the range */
export function checkInteger(value: number, name: string, min = 0, max = Number.MAX_SAFE_INTEGER): number {
  if (typeof value !== 'number') throw new TypeError(`${name} must be a number, not ${describe(value)}`);
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new RangeError(`${name} must be an integer from ${min} to ${max}, not ${value}`);
  }
  return value;
}

/** Checks the size of a file. @throws TypeError, RangeError; FsError EFBIG above 8 TiB */
export function checkSize(size: number, syscall: string, path: string): number {
  checkInteger(size, 'length');
  if (size > MAX_FILE_SIZE) throw new FsError('EFBIG', { syscall, path, requested: size, allowed: MAX_FILE_SIZE });
  return size;
}

/** Reports whether a time in epoch milliseconds is one that a Date can hold. */
export function isTime(ms: unknown): ms is number {
  return typeof ms === 'number' && Math.abs(ms) <= 8.64e15;
}

/** Checks a time that a clock returned, and returns it. @throws TypeError if a Date cannot hold it */
export function checkNow(now: number): number {
  if (!isTime(now)) throw new TypeError(`clock must return milliseconds from -8.64e15 to 8.64e15, not ${String(now)}`);
  return now;
}

/**
 * Converts one of node's times (a Date, or epoch seconds as a number or text) to epoch milliseconds. @throws TypeError,
 * RangeError
 */
export function checkTime(time: TimeLike, name: string): number {
  const isNumber = typeof time === 'number' || (typeof time === 'string' && String(Number(time)) === time);
  const ms = time instanceof Date ? time.getTime() : isNumber ? Number(time) * 1000 : undefined;
  if (ms === undefined) throw new TypeError(`${name} must be a Date or a number of seconds, not ${describe(time)}`);
  if (!isTime(ms)) {
    throw new RangeError(`${name} must be a valid Date or a finite number of seconds, not ${String(time)}`);
  }
  return ms;
}

/** Returns a caller's bytes without copying them: the caller may change them later. */
export function contentBytes(content: Exclude<Content, string>): Uint8Array {
  if (content instanceof Uint8Array) return plainBytes(content);
  if (ArrayBuffer.isView(content)) return new Uint8Array(content.buffer, content.byteOffset, content.byteLength);
  if (content instanceof ArrayBuffer || isSharedArrayBuffer(content)) return new Uint8Array(content);
  throw new TypeError(`Content must be a string, an ArrayBuffer or a view on one, not ${describe(content)}`);
}

const { fill } = Uint8Array.prototype;
const TYPED_ARRAY = Object.getPrototypeOf(Uint8Array.prototype) as object;
const lengthOf = Object.getOwnPropertyDescriptor(TYPED_ARRAY, 'length')?.get as () => number;

/**
 * Returns the same bytes as a plain Uint8Array, without the methods of a subclass. @throws TypeError if the buffer was
 * detached or has shrunk
 */
function plainBytes(bytes: Uint8Array): Uint8Array {
  if (lengthOf.call(bytes) === 0) {
    try {
      fill.call(bytes, 0, 0, 0);
    } catch (cause) {
      throw new TypeError('Content must not be a view on a buffer that was detached or has shrunk', { cause });
    }
  }
  if (bytes.constructor === Uint8Array) return bytes;
  return new Uint8Array(bytes.buffer, bytes.byteOffset, lengthOf.call(bytes));
}

/** @throws TypeError if a value lacks one of these methods */
export function checkMethods(value: unknown, methods: readonly string[], what: string): void {
  const object = Object(value) as Record<string, unknown>;
  const missing = methods.filter((name) => typeof object[name] !== 'function');
  if (missing.length > 0)
    throw new TypeError(`${what} must have the methods ${methods.join(', ')}: ${missing.join(', ')} is missing`);
}

/** Reports whether `copyFile` must not replace a file: by its option, or by COPYFILE_EXCL in node's mode. */
export function checkExclusive(options: { readonly exclusive?: boolean | undefined } | number | undefined): boolean {
  if (typeof options === 'number') return (checkInteger(options, 'mode', 0, 7) & 1) === 1;
  return checkBoolean(checkOptions(options, ['exclusive'], 'copyFile').exclusive, 'exclusive');
}

/** Captures content, so that later changes of the caller's buffer have no effect. */
export function captureContent(content: Content): string | Uint8Array {
  return typeof content === 'string' ? content : copyBytes(contentBytes(content));
}

/** Captures a date, or the own keys of an object; bytes, iterables and other values are returned unchanged. */
export function captureArgument<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return new Date(value.getTime()) as T;
  return isBytes(value) || Symbol.iterator in value ? value : (ownKeys(value) as T);
}

function ownKeys<T extends object>(value: T): T {
  return Object.assign(Object.create(null) as T, value);
}

/**
 * Returns the own `signal` of arbitrary options, if any. @throws TypeError if it is neither an AbortSignal nor
 * undefined
 */
export function signalIn(options: unknown): AbortSignal | undefined {
  if (typeof options !== 'object' || options === null || options === NO_OPTIONS) return undefined;
  if (!Object.hasOwn(options, 'signal')) return undefined;
  return checkSignal((options as { readonly signal: unknown }).signal);
}

/** Reports whether a value is a promise, or an object that can be awaited like one. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function';
}

/** Copies bytes, also of a subclass whose `slice` does not copy, such as node's Buffer. */
export function copyBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}

/** Reports whether a value is bytes in any form that content can have. */
export function isBytes(value: unknown): value is Exclude<Content, string> {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer || isSharedArrayBuffer(value);
}

function isSharedArrayBuffer(value: unknown): value is ArrayBuffer {
  return typeof SharedArrayBuffer !== 'undefined' && value instanceof SharedArrayBuffer;
}

export function describe(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return quote(value);
  return typeof value === 'object' || typeof value === 'function' ? `a value of type ${typeof value}` : String(value);
}
