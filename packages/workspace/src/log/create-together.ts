import { type CallOptions, type FileSystem, isFsError, type NewEntry, systemClock } from '@scratchfs/core';
import { setManyUnless } from '@scratchfs/core/internal';
import { RENEWAL_MS } from './contents.js';

/** Contents and conditions of the step in which a record is created. */
export interface StoredTogether {
  /**
   * Contents that the record names. In a store with transactions, a content that is already there is written again only
   * if it is older than `RENEWAL_MS`, so that garbage collection does not delete it.
   */
  readonly contents?: readonly NewEntry[] | undefined;
  /** Paths that must not exist. */
  readonly absent?: readonly string[] | undefined;
}

/**
 * Creates a record exclusively, with the contents that it names. If the record or one of the paths that must not exist
 * exists, no record is created, and that path is returned. In a store with transactions this is one step; other stores
 * get the contents first.
 */
export async function createTogether(
  store: FileSystem,
  record: { readonly path: string; readonly content: string },
  { contents = [], absent = [] }: StoredTogether,
  options: CallOptions = {},
): Promise<string | undefined> {
  const isAlone = contents.length === 0 && absent.length === 0;
  if (store.capabilities.transactions && !isAlone) {
    const entries = [...contents, record];
    return store.run(setManyUnless, [entries, [record.path, ...absent], systemClock() - RENEWAL_MS], options);
  }
  for (const entry of contents) await store.writeFile(entry.path, entry.content ?? '', options);
  for (const path of absent) if (await store.exists(path, options)) return path;
  try {
    await store.writeFile(record.path, record.content, { ...options, flag: 'wx' });
    return undefined;
  } catch (error) {
    if (isFsError(error, 'EEXIST')) return record.path;
    throw error;
  }
}
