import { kernelCode } from './reference-calls.js';

/** What an operation answered, in a form that both sides share. */
export type Outcome =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      readonly code: string;
      readonly syscall?: string;
      readonly path?: string;
      readonly dest?: string;
      /** Of an argument that node refuses: its code, and its words up to the value that it shows. */
      readonly refusal?: string;
      /** Whether everything that the error said is here, or all but the paths, because another one was asked. */
      readonly isWhole?: boolean | 'but for paths' | undefined;
      /** Other things that are wrong too, and may be named instead. */
      readonly alternative?: readonly string[];
    };

/** What can be seen of a node by `stat` and is the same on every file system. */
export interface StatValue {
  readonly kind: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Of a directory each file system answers its own figure: left out. */
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

/** Reads an error of either side; `toVirtual` maps the paths it carries. Of a link's text every byte counts. */
export function failure(error: unknown, isLinkText: boolean, toVirtual: (path: string) => string): Outcome {
  if (error instanceof TypeError) return { ok: false, code: 'TypeError', ...refusalOf(error) };
  if (error instanceof RangeError) return { ok: false, code: 'RangeError', ...refusalOf(error) };
  const { code, errno, syscall, path, dest, alternative } = (error ?? {}) as ErrorShape;
  if (typeof code !== 'string') throw error;
  return {
    ok: false,
    code: kernelCode(code),
    // What has a number comes from the system, and is not made up by the comparison.
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
  /** Whether a field that only one side has is a difference. */
  readonly strict?: boolean;
}

/** What differs between two outcomes, or undefined. Fields that only one side has are compared where that is asked for. */
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

/** Deep equality of plain data and bytes. */
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

/** An outcome in one line. */
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
