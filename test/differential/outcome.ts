import { kernelCode } from './reference-calls.js';

/** Result of an operation in a form that both sides share. */
export type Outcome =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      readonly code: string;
      readonly syscall?: string;
      readonly path?: string;
      readonly dest?: string;
      /** Node's code for a refused argument, and its message up to the value that it shows. */
      readonly refusal?: string;
      /**
       * True if all fields of the error are here; `but for paths` if another path was asked, so that the paths are left
       * out.
       */
      readonly isWhole?: boolean | 'but for paths' | undefined;
      /** Codes of other errors that are also true and may be reported instead. */
      readonly alternative?: readonly string[];
    };

/** The fields of `stat` that are the same on every filesystem. */
export interface StatValue {
  readonly kind: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Undefined for directories: each filesystem has its own figure. */
  readonly nlink?: number;
  readonly size?: number;
}

interface ErrorShape {
  readonly code?: unknown;
  readonly errno?: unknown;
  readonly syscall?: unknown;
  readonly path?: unknown;
  readonly dest?: unknown;
  readonly alternative?: unknown;
}

/** Reads an error of either side; `toVirtual` maps its paths. The text of a link is compared byte for byte. */
export function failure(error: unknown, isLinkText: boolean, toVirtual: (path: string) => string): Outcome {
  if (error instanceof TypeError) return { ok: false, code: 'TypeError', ...refusalOf(error) };
  if (error instanceof RangeError) return { ok: false, code: 'RangeError', ...refusalOf(error) };
  const { code, errno, syscall, path, dest, alternative } = (error ?? {}) as ErrorShape;
  if (typeof code !== 'string') throw error;
  return {
    ok: false,
    code: kernelCode(code),
    // An error with a number comes from the system and is not made up by the comparison.
    ...(typeof errno === 'number' ? { isWhole: true } : {}),
    ...(typeof syscall === 'string' ? { syscall } : {}),
    ...(typeof path === 'string' ? { path: isLinkText ? path : toVirtual(path) } : {}),
    ...(typeof dest === 'string' ? { dest: toVirtual(dest) } : {}),
    ...(Array.isArray(alternative) ? { alternative } : {}),
  };
}

function refusalOf(error: Error & { readonly code?: unknown }): { readonly refusal?: string } {
  if (typeof error.code !== 'string') return {};
  return { refusal: `${error.code}: ${error.message.replace(/\. Received .*/s, '')}` };
}

export interface CompareOptions {
  readonly syscall: boolean;
  readonly paths: boolean;
  /** Treats a field that only one side has as a difference. */
  readonly strict?: boolean;
}

/**
 * Returns the first difference between two outcomes, or undefined. With `strict`, fields that only one side has count.
 */
export function differenceOf(expected: Outcome, actual: Outcome, options: CompareOptions): string | undefined {
  if (expected.ok !== actual.ok) return 'outcome';
  if (expected.ok && actual.ok) return isEqual(expected.value, actual.value) ? undefined : 'value';
  if (expected.ok || actual.ok) return undefined;
  if (expected.code !== actual.code) return expected.alternative?.includes(actual.code) ? undefined : 'code';
  const isStrict = options.strict === true && (expected.isWhole !== undefined || expected.refusal !== undefined);
  if ((isStrict || (expected.refusal && actual.refusal)) && expected.refusal !== actual.refusal) return 'refusal';
  const fields = [
    ...(options.syscall ? (['syscall'] as const) : []),
    ...(options.paths ? (['path', 'dest'] as const) : []),
  ];
  return fields.find((field) => {
    const [a, b] = [expected[field], actual[field]];
    const isUnknown = field !== 'syscall' && expected.isWhole === 'but for paths';
    return a !== b && ((isStrict && !isUnknown) || (a !== undefined && b !== undefined));
  });
}

/** Reports deep equality of plain data and bytes. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a instanceof Uint8Array || b instanceof Uint8Array) {
    return a instanceof Uint8Array && b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  }
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every(
    (key) => Object.hasOwn(b, key) && isEqual((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
  );
}

/** Formats an outcome as one line. */
export function describe(outcome: Outcome): string {
  if (!outcome.ok) {
    const { code, refusal, syscall, path, dest } = outcome;
    return [code, refusal, syscall, path && JSON.stringify(path), dest && `-> ${JSON.stringify(dest)}`]
      .filter(Boolean)
      .join(' ');
  }
  return `ok ${show(outcome.value)}`;
}

function show(value: unknown): string {
  const text = JSON.stringify(value, (_, inner: unknown) =>
    inner instanceof Uint8Array ? `${inner.length} bytes ${Buffer.from(inner.subarray(0, 24)).toString('hex')}` : inner,
  );
  return text === undefined ? 'undefined' : text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
