import type { Metadata, NodeRecord } from '../backend.js';
import type { EntryInfo, Stats } from '../entry.js';
import { FsError, isFsError } from '../errors.js';
import type { Unloaded } from '../tree/node.js';

/**
 * Converts the stats of an entry of the lower filesystem to a record for the overlay's tree. The record of a directory
 * lacks its `directory` part, with the totals.
 */
export function recordOf(path: string, stats: Stats, target: string | undefined): NodeRecord {
  const { kind, size, nlink } = stats;
  const meta: Metadata = {
    mode: stats.mode & 0o7777,
    uid: stats.uid,
    gid: stats.gid,
    atime: stats.atimeMs,
    mtime: stats.mtimeMs,
    ctime: stats.ctimeMs,
    birthtime: stats.birthtimeMs,
  };
  const links = kind === 'directory' ? 1 : nlink;
  const record = { id: idOf(path, stats), kind, meta, version: versionOf(size, meta.mtime, meta.ctime), size, links };
  return target === undefined ? record : { ...record, target };
}

/**
 * Returns the record of a listed entry. Undefined for a file or link that needs `lstat`, because it has several names
 * or the size 0.
 */
export function recordOfEntry(info: EntryInfo): NodeRecord | undefined {
  // A listing does not know the size of a file whose content a function returns, if none was given: it says 0.
  if ((info.links > 1 || info.size === 0) && info.kind !== 'directory') return undefined;
  const meta: Metadata = {
    mode: info.mode,
    uid: info.uid,
    gid: info.gid,
    atime: info.accessedAt,
    mtime: info.modifiedAt,
    ctime: info.changedAt,
    birthtime: info.createdAt,
  };
  const { kind, size } = info;
  const record = {
    id: `lower:${info.path}`,
    kind,
    meta,
    version: versionOf(size, meta.mtime, meta.ctime),
    size,
    links: 1,
  };
  return info.target === undefined ? record : { ...record, target: info.target };
}

/**
 * Returns the id: for a file with several names, its device and inode; for others, the path. It is a string, so it
 * never equals an id of the overlay.
 */
function idOf(path: string, stats: Stats): string {
  return stats.nlink > 1 && stats.kind !== 'directory' ? `lower#${stats.dev}:${stats.ino}` : `lower:${path}`;
}

/** Returns a version. It misses a change that leaves the size and both times equal, such as within one clock tick. */
function versionOf(size: number, mtime: number, ctime: number): string {
  return `${size}:${mtime}:${ctime}`;
}

/** Result of reading a range of a file's content, with the file's stats right after. */
export interface LowerContent {
  readonly offset: number;
  /** Number of requested bytes. */
  readonly asked: number;
  readonly bytes: Uint8Array;
  /** Undefined if the file was gone; see `error`. */
  readonly stats?: Stats;
  readonly error?: unknown;
}

/** Returns the bytes if they are complete and the file is still the one first seen. @throws FsError ESTALE */
export function checkContent(file: Unloaded, { bytes, asked, stats, error }: Omit<LowerContent, 'offset'>): Uint8Array {
  if (bytes.byteLength === asked && stats?.kind === 'file') {
    if (versionOf(stats.size, stats.mtimeMs, stats.ctimeMs) === file.version) return bytes;
  }
  throw staleError(file, error);
}

export function staleError(file: Unloaded, cause?: unknown): FsError {
  return new FsError('ESTALE', {
    syscall: 'read',
    path: file.address.path,
    hint: 'The filesystem under the overlay has changed the file since it was first read',
    cause,
  });
}

/** Reports whether an error means that nothing exists at a path. */
export function isAbsent(error: unknown): boolean {
  return isFsError(error, 'ENOENT') || isFsError(error, 'ENOTDIR');
}
