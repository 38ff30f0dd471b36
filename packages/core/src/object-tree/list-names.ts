import { StorageError } from '../errors.js';
import type { ObjectStore } from './object-store.js';
import type { StoreCalls } from './store-calls.js';

/** Maximum number of consecutive pages without a new name. */
const MAX_EMPTY_PAGES = 1_000;
/** Default and greatest value of `maxDeleteNames`. */
export const MAX_DELETE_NAMES = 1_000;

/**
 * Returns all names that begin with a prefix, each once.
 * @throws StorageError, such as `unavailable` if {@link MAX_EMPTY_PAGES} pages in a row have no new name
 */
export async function listNames(
  store: ObjectStore,
  calls: StoreCalls,
  prefix: string,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const names = new Set<string>();
  let emptyPages = 0;
  for (let cursor: string | undefined; ; ) {
    const from = cursor;
    const page = await calls.retrying(signal, (call) => store.list(prefix, from, call));
    const before = names.size;
    for (const name of page.names) names.add(name);
    if (page.cursor === undefined) return [...names];
    emptyPages = names.size > before ? 0 : emptyPages + 1;
    if (emptyPages === MAX_EMPTY_PAGES)
      throw new StorageError('unavailable', 'A listing goes on without new names', {
        retryable: false,
        mayHaveHappened: false,
      });
    cursor = page.cursor;
  }
}

/** Returns names in groups for requests that delete. */
export function groupNames(
  names: readonly string[],
  { maxDeleteNames = MAX_DELETE_NAMES }: Pick<ObjectStore, 'maxDeleteNames'>,
): (readonly string[])[] {
  const groups: (readonly string[])[] = [];
  for (let at = 0; at < names.length; at += maxDeleteNames) groups.push(names.slice(at, at + maxDeleteNames));
  return groups;
}
