import { FsError, factsOf, isFsError, isStorageError, OutcomeUnknownError, StorageError } from '../../errors.js';
import { hideUse } from './hide-use.js';

type IsShown = (name: string) => boolean;

/**
 * Returns an error without anything that the caller must not see. A path that is neither visible nor an argument of the
 * caller is replaced by the caller's. Causes, unknown fields, and hints that name something else are dropped; hints of
 * `edit` stay, because they quote a file that the caller may read. An argument error, and one of a lower guard, keeps
 * its text if that names nothing else. Every other error is replaced by one with a fixed text, because no scan finds
 * every name in a text.
 * @param isOfGuard A lower guard has thrown the error, so that its texts name paths of this filesystem only.
 */
export function shownError(error: unknown, args: readonly unknown[], isVisible: IsShown, isOfGuard = false): unknown {
  const own = args.filter((arg) => typeof arg === 'string');
  // A guard that hides only some places finds paths of the host visible too, so it cannot tell what a text names.
  const isKnown = isOfGuard || !isVisible(UNKNOWN_PATH);
  const mayName: IsShown = (name) => own.includes(name) || (isKnown && isVisible(name));
  if (isFsError(error)) return hideUse(plainFsError(error, own, isVisible, mayName));
  if (error instanceof OutcomeUnknownError) return new OutcomeUnknownError(error.operationId);
  if (isStorageError(error)) {
    const { kind, retryable, mayHaveHappened } = error;
    return new StorageError(kind, UNNAMED, { retryable, mayHaveHappened });
  }
  for (const Type of [TypeError, RangeError])
    if (error instanceof Type) {
      const isClean = namesIn(error.message).every((name) => !/[/\\]./.test(name) || mayName(name));
      // Without further fields it has a stack and a message.
      if (isClean && error.constructor === Type && Reflect.ownKeys(error).length <= 2) return error;
      return new Type(isClean ? error.message : UNNAMED);
    }
  if (isOfGuard && error instanceof Error && isPlain(error, mayName)) return error;
  return new StorageError('unavailable', UNNAMED, { retryable: false });
}

function plainFsError(error: FsError, own: readonly string[], isVisible: IsShown, mayName: IsShown): FsError {
  const { code, syscall } = error;
  const shown = (path: string | undefined, given: string | undefined): string | undefined =>
    path === undefined || own.includes(path) || isVisible(path) ? path : given;
  const path = shown(error.path, own[0]);
  const dest = shown(error.dest, own[1]);
  const isClean: IsShown = (name) => name === path || name === dest || mayName(name);
  // The hints of an edit quote the edited file, which the caller may read.
  const hint = syscall === 'edit' || namesIn(error.hint).every(isClean) ? error.hint : undefined;
  const plain = new FsError(code, { ...factsOf(error), syscall, path, dest, hint });
  const isSame =
    error.message === plain.message &&
    error.path === path &&
    error.dest === dest &&
    Reflect.ownKeys(error).length === Reflect.ownKeys(plain).length;
  // An error of a subclass, which has fields of its own, is kept if nothing in it names anything hidden.
  return isSame || (error.cause === undefined && error.constructor !== FsError && isPlain(error, isClean))
    ? error
    : plain;
}

/** Reports whether `isClean` accepts every name in an error's fields and message. The stack repeats the message. */
function isPlain(error: Error, isClean: IsShown): boolean {
  const { stack: _stack, ...fields } = Object.getOwnPropertyDescriptors(error);
  return (
    Object.values(fields).every(({ value }) => isPlainValue(value, isClean)) && namesIn(error.message).every(isClean)
  );
}

/** Like {@link isPlain}, for one value. False for deep values, and for objects that are neither records nor arrays. */
function isPlainValue(value: unknown, isClean: IsShown, depth = 0): boolean {
  if (typeof value === 'string') return namesIn(value).every(isClean);
  if (typeof value !== 'object' || value === null) return true;
  const isRecord = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  return (
    isRecord &&
    depth <= MAX_FIELD_DEPTH &&
    Object.values(value).every((field) => isPlainValue(field, isClean, depth + 1))
  );
}

/** Returns what may be a name in a text: everything in quotes and every path. */
function namesIn(text = ''): string[] {
  const found = text.matchAll(/'([^']+)'|"([^"]+)"|([/\\][^\s'",;:)]+)/g);
  return Array.from(found, ([, single, double, path]) => single ?? double ?? path ?? '');
}

const UNNAMED =
  'The storage failed; the reason is shown without the restriction only, because it may name what is hidden';
const MAX_FIELD_DEPTH = 4;
/** A path that a guard finds visible only if it shows everything that it does not know. */
const UNKNOWN_PATH = '/…';
