import { type FileSystem, isFsError } from '@scratchfs/core';
import { AttemptIndex } from './attempts/attempt-index.js';
import { MOVED } from './store/moved-directories.js';
import { readRecord } from './store/records.js';
import type { GarbageResult } from './workspace-types.js';

/** Number of the newest operations of an open attempt whose records are kept. */
const KEPT_OPERATIONS = 1_000;
/** Number of the newest approvals whose records are kept, expired or not. */
const KEPT_APPROVALS = 1_000;
/** Age in milliseconds at which a note about a moved directory is deleted. */
const KEPT_MOVES_MS = 90 * 86_400_000;
/** Default of `graceMs` in milliseconds. */
export const DEFAULT_GRACE_MS = 3_600_000;

const CONTENTS = '/contents';
const APPROVALS = '/approvals';
const HASH = /[0-9a-f]{64}/g;
const NUMBER = /^\d{9}$/;
/** Number of files that are read or deleted at the same time. */
const AT_ONCE = 16;

export interface GarbageOptions {
  /** Epoch milliseconds. */
  readonly now: number;
  /** Epoch milliseconds of the clock that approvals expire by. Default `now`. */
  readonly approvalsNow?: number | undefined;
  /** Nothing younger is deleted. */
  readonly graceMs: number;
  /** Number of the newest operations of each open attempt to keep. Default 1,000. */
  readonly keptOperations?: number | undefined;
  /** Number of the newest approvals to keep, expired or not. Default 1,000. */
  readonly keptApprovals?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Deletes from a store what no attempt needs any more: operations beyond the newest 1,000 of an open attempt (up to a
 * stored head, from which the rest can be replayed), everything of discarded attempts except the records that they
 * existed and ended, expired approvals beyond the newest 1,000, notes about directories that were moved more than 90
 * days ago, and contents that no record names.
 *
 * Other processes may work at the same time: they store a content before the record that names it, so files younger
 * than the grace period stay. A file is deleted only in the version that was checked.
 */
export async function collectGarbage(
  store: FileSystem,
  index: AttemptIndex,
  options: GarbageOptions,
): Promise<GarbageResult> {
  const { now, graceMs, keptOperations = KEPT_OPERATIONS, signal } = options;
  const oldest = now - graceMs;
  const result = { deleted: 0, bytes: 0, kept: 0 };
  const remove = async (path: string): Promise<void> => {
    signal?.throwIfAborted();
    try {
      const { size, mtimeMs, version } = await store.stat(path, { signal });
      if (mtimeMs > oldest) {
        result.kept++;
        return;
      }
      await store.rm(path, { ifVersion: version, signal });
      result.deleted++;
      result.bytes += size;
    } catch (error) {
      // Another process has deleted or renewed it.
      if (isFsError(error, 'ECHANGED')) result.kept++;
      else if (!isFsError(error, 'ENOENT')) throw error;
    }
  };

  for (const { name, state } of await index.list(signal)) {
    const folder = AttemptIndex.directoryOf(name);
    if (state === 'discarded') {
      if (!(await isOld(store, `${folder}/discarded`, oldest))) continue;
      const files = (await filesUnder(store, folder)).filter(
        (path) => !['attempt', 'discarded'].includes(path.slice(folder.length + 1)),
      );
      await each(files, remove);
    } else await each(await replaced(store, folder, keptOperations), remove);
  }

  const { approvalsNow = now, keptApprovals = KEPT_APPROVALS } = options;
  const expired = await expiredApprovals(store, approvalsNow - graceMs, keptApprovals, signal);
  // Requests first: a decision without a request is ignored, but a request without its decision would be pending again.
  await each(expired.filter(isRequest), remove);
  await each(
    expired.filter((path) => !isRequest(path)),
    remove,
  );

  await each(await filesUnder(store, MOVED), async (path) => {
    if (await isOld(store, path, now - KEPT_MOVES_MS)) await remove(path);
  });

  const named = new Set<string>();
  await each(await filesUnder(store, '/attempts'), async (path) => {
    signal?.throwIfAborted();
    for (const [hash] of (await textOf(store, path)).matchAll(HASH)) named.add(hash);
  });
  await each(await filesUnder(store, CONTENTS), async (path) => {
    if (named.has(path.slice(path.lastIndexOf('/') + 1))) result.kept++;
    else await remove(path);
  });
  return result;
}

/**
 * Returns the records and heads of an attempt that are not needed for its newest `kept` operations, each oldest first.
 */
async function replaced(store: FileSystem, folder: string, kept: number): Promise<string[]> {
  const operations = await numbersIn(store, `${folder}/operations`);
  const states = await numbersIn(store, `${folder}/state`);
  const last = Math.max(0, ...operations);
  const start = Math.max(0, ...states.filter((id) => id <= last - kept));
  const path = (kind: string, id: number): string => `${folder}/${kind}/${String(id).padStart(9, '0')}`;
  return [
    // The head that the attempt began with stays.
    ...states.filter((id) => id > 0 && id < start).map((id) => path('state', id)),
    ...operations.filter((id) => id <= start).map((id) => path('operations', id)),
  ];
}

const isRequest = (path: string): boolean => !path.includes('.');

/** Returns the records of approvals that have expired or lost their request, without the newest ones. */
async function expiredApprovals(
  store: FileSystem,
  oldest: number,
  kept: number,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const last = Math.max(0, ...(await numbersIn(store, APPROVALS)));
  const paths = (await filesUnder(store, APPROVALS)).filter(
    (path) => Number(path.slice(APPROVALS.length + 1).slice(0, 9)) <= last - kept,
  );
  const expired: string[] = [];
  await each(paths, async (path) => {
    const request = path.replace(/\..*$/, '');
    const record = await readRecord<{ readonly expiresAt: number }>(store, request, signal);
    if (record === undefined || record.expiresAt <= oldest) expired.push(path);
  });
  return expired;
}

async function numbersIn(store: FileSystem, directory: string): Promise<number[]> {
  try {
    const names = await store.readdir(directory);
    return names
      .filter((name) => NUMBER.test(name))
      .map(Number)
      .sort((a, b) => a - b);
  } catch (error) {
    if (isFsError(error, 'ENOENT')) return [];
    throw error;
  }
}

async function filesUnder(store: FileSystem, directory: string): Promise<string[]> {
  const files: string[] = [];
  try {
    for await (const { path, kind } of store.walk(directory)) if (kind === 'file') files.push(path);
  } catch (error) {
    if (!isFsError(error, 'ENOENT')) throw error;
  }
  return files;
}

async function textOf(store: FileSystem, path: string): Promise<string> {
  try {
    return Buffer.from(await store.readFile(path)).toString('latin1');
  } catch (error) {
    if (isFsError(error, 'ENOENT')) return '';
    throw error;
  }
}

/** Reports whether a file is as old as that. False if another process has deleted it. */
async function isOld(store: FileSystem, path: string, oldest: number): Promise<boolean> {
  try {
    return (await store.stat(path)).mtimeMs <= oldest;
  } catch (error) {
    if (isFsError(error, 'ENOENT')) return false;
    throw error;
  }
}

async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items].reverse();
  const worker = async (): Promise<void> => {
    for (let item = rest.pop(); item !== undefined; item = rest.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
