import { FsError } from './errors.js';

/** Maximum bytes of one name, as on Linux filesystems. */
export const MAX_NAME_BYTES = 255;
/** Maximum bytes of a whole path: PATH_MAX of Linux, which there counts a final NUL too. */
export const MAX_PATH_BYTES = 4096;
/** Maximum number of names in a path. */
export const MAX_DEPTH = 1000;
/** Maximum number of links followed in one path before ELOOP, as on Linux. */
export const MAX_LINK_HOPS = 40;

/**
 * Normalizes a path: `\` becomes `/`, and the result is absolute, without `.`, empty segments and (except for the root)
 * trailing `/`. `..` is resolved lexically and stops at `/`. Linear in its length. With `withNames: false`, the length
 * of single names is not checked: the walk along the path does that, and may fail at an earlier name for another
 * reason.
 * @throws TypeError if it is not a string or contains NUL (`ERR_INVALID_ARG_TYPE`, `ERR_INVALID_ARG_VALUE` in node)
 * @throws FsError ENOENT for the empty path, EINVAL for ill-formed text, ENAMETOOLONG beyond a limit
 */
export function normalizePath(path: string, syscall?: string, withNames = true): string {
  if (isNormal(path)) return path;
  checkText(path, 'path', syscall);
  if (path === '') throw new FsError('ENOENT', { syscall, path });
  const { bounds, count } = nameBounds(path);
  const depth = count / 2;
  if (depth > MAX_DEPTH) {
    throw new FsError('ENAMETOOLONG', { syscall, path, limit: 'depth', requested: depth, allowed: MAX_DEPTH });
  }
  // `join` creates a flat string; concatenation would create a rope, whose characters are slow to read.
  const segments = [''];
  for (let i = 0; i < count; i += 2) segments.push(path.slice(bounds[i], bounds[i + 1]));
  const normalized = count === 0 ? '/' : segments.join('/');
  checkLengths(segments, normalized, path, syscall, withNames);
  return normalized;
}

/** A path as the methods accept it: text, a `file:` URL, or bytes of UTF-8 such as a Buffer. */
export type Path = string | URL | Uint8Array;

/** Returns a path as text. A value that is not a path is returned unchanged, for the operation to refuse it. */
export function pathOf(path: Path): string {
  return typeof path === 'string' ? path : (textOf(path) ?? (path as never));
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOf(path: URL | Uint8Array): string | undefined {
  try {
    if (path instanceof Uint8Array) return UTF8.decode(path);
    if (!(path instanceof URL)) return undefined;
    const { protocol, hostname, pathname } = path;
    // An encoded separator would be part of a name, which cannot contain one.
    return protocol === 'file:' && hostname === '' && !/%2f|%5c/i.test(pathname)
      ? decodeURIComponent(pathname)
      : undefined;
  } catch {
    return undefined;
  }
}

/** UTF-16 units up to which a path, or a name, cannot exceed its byte limit. */
const SHORT_PATH = MAX_PATH_BYTES / 3;
const SHORT_NAME = MAX_NAME_BYTES / 3;

/** Reports whether a path is certainly normalized and within all limits, in one pass and without allocation. */
function isNormal(path: string): boolean {
  if (typeof path !== 'string' || path.length > SHORT_PATH || path.charCodeAt(0) !== SLASH) return false;
  let start = 1;
  for (let i = 1; i <= path.length; i++) {
    const unit = i < path.length ? path.charCodeAt(i) : SLASH;
    if (unit === SLASH) {
      const length = i - start;
      if (
        length === 0 ||
        length > SHORT_NAME ||
        (length <= 2 && path.charCodeAt(start) === DOT && path.charCodeAt(i - 1) === DOT)
      ) {
        return path === '/';
      }
      start = i + 1;
    } else if (unit === 0 || unit === BACKSLASH || (unit >= 0xd800 && unit < 0xe000)) return false;
  }
  return true;
}

const SLASH = 0x2f;
const BACKSLASH = 0x5c;
const DOT = 0x2e;

/** Returns the names of a normalized path; the root has none. */
export function pathSegments(normalized: string): string[] {
  return normalized === '/' ? [] : normalized.slice(1).split('/');
}

/** Joins a name to a directory's normalized path. */
export function joinPath(directory: string, name: string): string {
  return directory === '/' ? `/${name}` : `${directory}/${name}`;
}

/** Returns the parent of a normalized path; the root is its own parent. */
export function parentPath(normalized: string): string {
  const slash = normalized.lastIndexOf('/');
  return slash <= 0 ? '/' : normalized.slice(0, slash);
}

/** Returns the last segment of a normalized path; `/` for the root. */
export function baseName(normalized: string): string {
  return normalized === '/' ? '/' : normalized.slice(normalized.lastIndexOf('/') + 1);
}

/** Reports whether a normalized path is at or under another, by whole segments. */
export function isWithin(path: string, directory: string): boolean {
  return directory === '/' || path === directory || (path.startsWith(directory) && path[directory.length] === '/');
}

/**
 * Checks a name from outside (a git tree, an archive, a snapshot): it is accepted or refused, never normalized.
 * @throws TypeError, FsError EINVAL, ENAMETOOLONG
 */
export function checkName(name: string, syscall?: string): string {
  checkText(name, 'name', syscall);
  if (name === '' || name === '.' || name === '..' || name.includes('/') || name.includes('\\')) {
    throw new FsError('EINVAL', { syscall, path: name, hint: 'A name must not be empty, ., .. or contain / or \\' });
  }
  checkNameLength(name, name, syscall);
  return name;
}

/** Compares names or paths by their UTF-8 bytes, which is the order of code points. */
export function compareNames(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return utf8Rank(x) - utf8Rank(y);
  }
  return a.length - b.length;
}

/** Compares paths name by name: a directory comes before its entries, which follow it directly. */
export function comparePaths(a: string, b: string): number {
  return compareNames(a.replaceAll('/', '\0'), b.replaceAll('/', '\0'));
}

/**
 * Returns the rank of a UTF-16 unit in the order of UTF-8, which has astral characters (surrogates, D800…DFFF) after
 * E000…FFFF.
 */
export function utf8Rank(unit: number): number {
  return unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** Returns the UTF-8 length of well-formed text, in bytes. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    // Each half of a surrogate pair stands for two of its four bytes.
    if (unit >= 0x80) bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2;
  }
  return bytes;
}

/**
 * Returns the start and end of each name of a path, alternating. Names are separated by `/` and `\`; `.` and empty
 * segments are skipped; `..` removes the previous name, but never goes above the root.
 */
function nameBounds(path: string): { readonly bounds: ArrayLike<number>; readonly count: number } {
  const { length } = path;
  // Each name takes two numbers and at least two UTF-16 units, so the array is large enough. Growing a list would take
  // longer than everything else.
  const bounds = new Int32Array(length + 2);
  let count = 0;
  let start = 0;
  for (let i = 0; i <= length; i++) {
    const unit = i < length ? path.charCodeAt(i) : SLASH;
    if (unit !== SLASH && unit !== BACKSLASH) continue;
    const size = i - start;
    if (size > 0) {
      const dots = size <= 2 && path.charCodeAt(start) === DOT && path.charCodeAt(i - 1) === DOT;
      if (!dots) {
        bounds[count] = start;
        bounds[count + 1] = i;
        count += 2;
      } else if (size === 2 && count > 0) count -= 2;
    }
    start = i + 1;
  }
  return { bounds, count };
}

/** @throws TypeError if it is not a string or contains NUL, FsError EINVAL for lone surrogates */
export function checkText(text: string, what: string, syscall?: string): void {
  if (typeof text !== 'string') {
    const allowed = what === 'path' ? 'a string, a local file: URL or bytes of valid UTF-8' : 'a string';
    throw new TypeError(`The ${what} must be ${allowed}, not ${text === null ? 'null' : typeof text}`);
  }
  if (text.includes('\0')) throw new TypeError(`The ${what} must be a string without null bytes`);
  if (!text.isWellFormed()) {
    throw new FsError('EINVAL', {
      syscall,
      path: text,
      hint: `The ${what} has a lone surrogate, which UTF-8 cannot express`,
    });
  }
}

function checkLengths(
  segments: readonly string[],
  normalized: string,
  path: string,
  syscall?: string,
  withNames?: boolean,
): void {
  // The byte length is at least the length in UTF-16 units and at most three times that.
  if (normalized.length * 3 > MAX_PATH_BYTES) {
    const requested = utf8Length(normalized);
    if (requested > MAX_PATH_BYTES)
      throw new FsError('ENAMETOOLONG', { syscall, path, limit: 'path', requested, allowed: MAX_PATH_BYTES });
  }
  if (withNames) for (const segment of segments) checkNameLength(segment, path, syscall);
}

function checkNameLength(name: string, path: string, syscall?: string): void {
  if (name.length * 3 > MAX_NAME_BYTES && utf8Length(name) > MAX_NAME_BYTES) {
    throw new FsError('ENAMETOOLONG', {
      syscall,
      path,
      limit: 'name',
      requested: utf8Length(name),
      allowed: MAX_NAME_BYTES,
      hint: nameLimitHint(name),
    });
  }
}

/** Returns the sentence of an error for a name that is too long. */
export function nameLimitHint(name: string): string {
  return `A name has at most ${MAX_NAME_BYTES} bytes, this one has ${utf8Length(name)}`;
}
