import { type FileSystem, isFsError, parentPath } from '@scratchfs/core';
import { WorkspaceError } from '../errors.js';

/** Format of the store's own records. A greater number is of a newer version. */
export const STORE_FORMAT = 1;

/**
 * Reads a record of the store: a JSON object whose `format` this version knows. Undefined if it does not exist.
 * @throws WorkspaceError `foreign-store` if it is damaged or of another format
 */
export async function readRecord<T extends object>(
  store: FileSystem,
  path: string,
  signal?: AbortSignal,
): Promise<T | undefined> {
  let text: string;
  try {
    text = await store.readText(path, { signal });
  } catch (error) {
    if (isFsError(error, 'ENOENT') || isFsError(error, 'ENOTDIR')) return undefined;
    throw error;
  }
  return parseRecord<T>(text, path);
}

/**
 * Returns a record of the store from its text. @param path for errors
 * @throws WorkspaceError `foreign-store` if it is damaged or of another format
 */
export function parseRecord<T extends object>(text: string, path: string): T {
  const record = parsed(text);
  if (record === undefined) {
    throw new WorkspaceError(
      'foreign-store',
      `${path} in the store is damaged, or something else has written it: use another store, or restore this one ` +
        'from a backup',
    );
  }
  if (record.format !== STORE_FORMAT) {
    throw new WorkspaceError(
      'foreign-store',
      `The store has format ${String(record.format)}, and this version reads format ${STORE_FORMAT}: update scratchfs`,
    );
  }
  return record as unknown as T;
}

function parsed(text: string): { readonly format: number } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'format')) return undefined;
    const { format } = value as { format: unknown };
    return Number.isSafeInteger(format) ? (value as { format: number }) : undefined;
  } catch {
    return undefined;
  }
}

export function encodeRecord(record: object): string {
  return `${JSON.stringify({ format: STORE_FORMAT, ...record })}\n`;
}

/** Creates a record, and missing directories above it. Returns false if it exists, and changes nothing then. */
export async function createRecord(
  store: FileSystem,
  path: string,
  record: object,
  signal?: AbortSignal,
): Promise<boolean> {
  const create = () => store.writeFile(path, encodeRecord(record), { flag: 'wx', signal });
  try {
    try {
      await create();
    } catch (error) {
      if (!isFsError(error, 'ENOENT')) throw error;
      await store.mkdir(parentPath(path), { recursive: true, signal });
      await create();
    }
    return true;
  } catch (error) {
    if (isFsError(error, 'EEXIST')) return false;
    throw error;
  }
}
