import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { checkName, type EntryKind, normalizePath, pathSegments, quote } from '@scratchfs/core';
import type { FileSystemDiff } from '@scratchfs/core/diff';
import { isTurnDue, nextTurn } from '../event-loop.js';
import type { PathHandle } from '../path-handle.js';

/** Mode bits that `applyChanges` compares and sets: all but set-user-ID and set-group-ID. */
export const MODE_BITS = 0o1777;

/** State of a path before or after a change. An entry of a `diff` with contents is one. */
export interface PathState {
  readonly kind: EntryKind;
  /**
   * Permission bits. Default: before a change, any mode; after it, that of the file or directory before, if the kind is
   * the same, or else what the umask of the process leaves of 0o666 or 0o777. Ignored for a symlink. The set-user-ID
   * and set-group-ID bits are ignored: no change sets them, and a directory keeps those that it has.
   */
  readonly mode?: number | undefined;
  /** Content of a file. Required for a file after a change. */
  readonly data?: Uint8Array | string | undefined;
  /** SHA-256 of the content in lower-case hexadecimal digits, in place of `data` before a change. */
  readonly sha256?: string | undefined;
  /** Target of a symlink. */
  readonly target?: string | undefined;
}

/** Change of one path. A side is undefined if the path does not exist there. */
export interface PathChange {
  /** Absolute path in the directory. */
  readonly path: string;
  readonly before?: PathState | undefined;
  readonly after?: PathState | undefined;
}

/** A checked state, with content as bytes. */
export interface KnownState {
  readonly kind: EntryKind;
  readonly mode: number | undefined;
  readonly data: Uint8Array | undefined;
  readonly sha256: string | undefined;
  readonly target: string | undefined;
}

export interface KnownChange {
  readonly path: string;
  readonly before: KnownState | undefined;
  readonly after: KnownState | undefined;
}

/**
 * Returns the changes of a diff or list, checked and sorted by path, parents first.
 * @throws TypeError for malformed changes, such as a state without what its kind needs or a path given twice; FsError
 *   for an impossible path
 */
export function knownChanges(changes: readonly PathChange[] | FileSystemDiff): KnownChange[] {
  const all = Array.isArray(changes) ? (changes as readonly PathChange[]) : changesOf(changes as FileSystemDiff);
  const byPath = new Map<string, KnownChange>();
  for (const change of all) {
    if (typeof change !== 'object' || change === null) throw new TypeError('A change must be an object');
    const path = normalizePath(change.path);
    if (path === '/') throw new TypeError('A change must name a path under the directory, not the directory itself');
    for (const name of pathSegments(path)) checkName(name);
    if (byPath.has(path)) throw new TypeError(`The changes name ${quote(path)} twice: combine them into one`);
    const before = knownState(change.before, path, 'before');
    const after = knownState(change.after, path, 'after');
    if (before === undefined && after === undefined)
      throw new TypeError(`The change of ${quote(path)} needs \`before\`, \`after\` or both`);
    byPath.set(path, { path, before, after });
  }
  // Every path comes after the directories above it, because their paths are prefixes of it.
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function changesOf(diff: FileSystemDiff): PathChange[] {
  const lists = [diff?.added, diff?.removed, diff?.changed];
  if (!lists.every(Array.isArray))
    throw new TypeError('The changes must be a list of changes, or a diff made with `contents: true`');
  return [
    ...diff.added.map((after) => ({ path: after.path, after })),
    ...diff.removed.map((before) => ({ path: before.path, before })),
    ...diff.changed,
  ];
}

function knownState(state: PathState | undefined, path: string, side: 'before' | 'after'): KnownState | undefined {
  if (state === undefined) return undefined;
  const what = `\`${side}\` of ${quote(path)}`;
  if (typeof state !== 'object' || state === null) throw new TypeError(`${what} must be an object`);
  const { kind, mode, data, sha256, target } = state;
  if (!['file', 'directory', 'symlink'].includes(kind))
    throw new TypeError(`The kind of ${what} must be 'file', 'directory' or 'symlink'`);
  if (mode !== undefined && (!Number.isInteger(mode) || mode < 0 || mode > 0xffff_ffff))
    throw new TypeError(`The mode of ${what} must be permission bits`);
  if (kind === 'symlink' && typeof target !== 'string') throw new TypeError(`${what} needs a target`);
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  if (bytes !== undefined && !(bytes instanceof Uint8Array))
    throw new TypeError(`The data of ${what} must be bytes or text`);
  const hasHash = typeof sha256 === 'string' && /^[\da-f]{64}$/.test(sha256);
  if (sha256 !== undefined && !hasHash) throw new TypeError(`sha256 of ${what} must be 64 digits 0-9, a-f`);
  if (kind === 'file' && bytes === undefined && (side === 'after' || !hasHash))
    throw new TypeError(`${what} has no data: make the diff with \`contents: true\``);
  return { kind, mode: mode === undefined ? undefined : mode & MODE_BITS, data: bytes, sha256, target };
}

/** Reports whether the entry that a handle holds is in a state. */
export async function isInState(handle: PathHandle, target: () => string, state: KnownState): Promise<boolean> {
  const { kind, stat } = handle;
  if (kind !== state.kind) return false;
  if (kind === 'symlink') return target() === state.target;
  if (state.mode !== undefined && (Number(stat.mode) & MODE_BITS) !== state.mode) return false;
  return kind === 'directory' || (await hasContent(handle, state));
}

const READ_BYTES = 2 ** 20;

async function hasContent(handle: PathHandle, { data, sha256 }: KnownState): Promise<boolean> {
  if (data !== undefined && handle.stat.size !== BigInt(data.length)) return false;
  const file = await handle.open(constants.O_RDONLY);
  try {
    const hash = createHash('sha256');
    const buffer = Buffer.alloc(Math.min(READ_BYTES, Math.max(1, Number(handle.stat.size) + 1)));
    for (let at = 0; ; ) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
      const read = buffer.subarray(0, bytesRead);
      if (data === undefined) hash.update(read);
      else if (!read.equals(data.subarray(at, at + bytesRead))) return false;
      at += bytesRead;
      if (bytesRead === 0) return data === undefined ? hash.digest('hex') === sha256 : at === data.length;
      if (isTurnDue()) await nextTurn();
    }
  } finally {
    await file.close();
  }
}
