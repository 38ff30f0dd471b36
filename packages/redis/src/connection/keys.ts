/**
 * The field of the head that holds the state of the filesystem itself. Forks and checkpoints have fields of their own.
 */
export const MAIN_STATE = 's';

/**
 * The Redis keys of one filesystem. They share a hash tag, so that a cluster keeps them on one server and a script may
 * use all of them.
 */
export interface Keys {
  /**
   * Hash with identity, epoch, counter, limits and the states, such as those of the filesystem, its checkpoints and
   * forks.
   */
  readonly head: string;
  /** Hash of all objects by number. */
  readonly objects: string;
  /** Hash of the additional references of objects that have more than one. */
  readonly references: string;
  /** List of objects without a reference, which wait to be freed. */
  readonly queue: string;
  /** Stream of changes committed while the filesystem was watched. Expires by itself. */
  readonly changes: string;
  /** Hash of the results of one client's operations. Expires by itself. */
  results(client: string): string;
}

/** Maximum length of a namespace or prefix. */
const MAX_PART_CHARS = 200;

/**
 * Returns the keys of a namespace.
 * @param clientPrefix prefix that the user's client puts before all of its keys
 * @throws TypeError for anything but a string; RangeError for an empty namespace, and for a namespace or prefix that is
 *   too long or has characters that are not allowed
 */
export function keysOf(prefix: string, namespace: string, clientPrefix = ''): Keys {
  checkPart(namespace, 'namespace', 1);
  checkPart(prefix, 'keyPrefix', 0);
  const base = `${clientPrefix}${prefix}{${namespace}}:`;
  return {
    head: `${base}m`,
    objects: `${base}o`,
    references: `${base}r`,
    queue: `${base}q`,
    changes: `${base}w`,
    results: (client) => `${base}u:${client}`,
  };
}

function checkPart(text: unknown, what: string, minChars: number): void {
  if (typeof text !== 'string')
    throw new TypeError(`${what} must be text, not ${text === null ? 'null' : typeof text}`);
  if (text.length < minChars || text.length > MAX_PART_CHARS)
    throw new RangeError(`${what} must have ${minChars} to ${MAX_PART_CHARS} characters, not ${text.length}`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a key must not contain these characters
  if (/[{}\u0000-\u001f\u007f]/.test(text) || !text.isWellFormed())
    throw new RangeError(`${what} must not contain { } or control characters: all keys have to share one hash tag`);
}
