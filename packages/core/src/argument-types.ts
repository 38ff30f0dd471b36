import type { CallOptions } from './call-options.js';

/** Decides whether `cp` copies an entry, by the paths of the entry and of its copy. */
export type CopyFilter = (source: string, destination: string) => unknown;

/** Permission bits; text is octal, such as `'755'`. */
export type Mode = number | string;

/** A time: a Date, or epoch *seconds*, also as text. */
export type TimeLike = number | string | Date;

/** An encoding of text, as in Node's Buffer. All but `utf8` and `utf-8` need `import 'scratchfs/encodings'`. */
export type TextEncoding =
  | 'utf8'
  | 'utf-8'
  | 'utf16le'
  | 'utf-16le'
  | 'ucs2'
  | 'ucs-2'
  | 'latin1'
  | 'binary'
  | 'ascii'
  | 'hex'
  | 'base64'
  | 'base64url';

export interface ReadFileOptions extends CallOptions {
  /** Return text instead of bytes; malformed UTF-8 becomes U+FFFD. Default: bytes. */
  readonly encoding?: TextEncoding | 'buffer' | null | undefined;
  /** Default `r`. */
  readonly flag?: 'r' | 'r+' | undefined;
}
/** Options of `readFile` that return bytes. */
export type BytesOptions = ReadFileOptions & { readonly encoding?: 'buffer' | null | undefined };
