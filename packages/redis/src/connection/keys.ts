/** The keys of one filesystem. All have the same hash tag, so that a cluster keeps them together and one script may use them all. */
export interface Keys {
  /** Identity, epoch, counter, the states of the filesystem, its checkpoints and forks: a hash. */
  readonly head: string;
  /** Everything the filesystem consists of, by number: a hash. */
  readonly objects: string;
  /** Objects with more than one reference, and how many more: a hash. */
  readonly references: string;
  /** Objects without a reference, waiting to be freed: a list. */
  readonly queue: string;
  /** What was committed while somebody watched: a stream that expires by itself. */
  readonly changes: string;
  /** What became of a client's operations: a hash that expires by itself. */
  results(client: string): string;
}

const MAX_NAME = 200;

/**
 * The keys of a namespace; `clientPrefix` is what the user's client puts before all of its keys.
 * @throws TypeError for anything but text; RangeError where it is empty, too long, or would break the hash tag
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

function checkPart(text: unknown, what: string, least: number): void {
  if (typeof text !== 'string')
    throw new TypeError(`${what} must be text, not ${text === null ? 'null' : typeof text}`);
  if (text.length < least || text.length > MAX_NAME)
    throw new RangeError(`${what} must have ${least} to ${MAX_NAME} characters, not ${text.length}`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters a key must not carry
  if (/[{}\u0000-\u001f\u007f]/.test(text) || !text.isWellFormed())
    throw new RangeError(`${what} must not contain { } or control characters: all keys have to share one hash tag`);
}
