import { isUtf8 } from 'node:buffer';
import { chmodSync, lstatSync } from 'node:fs';
import { basename, join } from 'node:path';
import { FsError } from '@scratchfs/core';
import type { RawName } from '../path-handle.js';
import type { GivenEntry } from './copy-index.js';
import type { AllLimits } from './limits.js';
import { type CopySource, copyStateOf, kindOf, type PersistentCopy } from './persistent-copy.js';
import { reasonAgainst } from './reason-against.js';
import { DirectoryCache, walkDisk } from './walk-disk.js';

/** Entry as a command left it. */
export interface LeftEntry {
  readonly kind: GivenEntry['kind'];
  /** Permission bits; 0 for a link. */
  readonly mode: number;
  /** Content of a file; target of a link. Empty for a directory, and if contents were not read. */
  readonly body: Uint8Array;
  readonly copy: string;
}

/** Difference between what a command was given and what it left. */
export interface CopyChange {
  /** Relative path. */
  readonly path: string;
  readonly before: GivenEntry | undefined;
  readonly after: LeftEntry | undefined;
}

export interface CopyChanges {
  /** Removed entries first, children before their directories; then the others, parents first. */
  readonly changes: readonly CopyChange[];
  /** Entries that cannot be taken. */
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
  readonly removable: readonly { readonly above: string; readonly name: RawName }[];
}

/** Bytes of ignored entries that commands may leave, besides dependencies. */
const MAX_OWN_BYTES = 2 ** 31;

/**
 * Compares a copy with what the command was given. The command must have ended. No link that it left is followed.
 * @param limits without it no content is read, and a file or link counts as changed if its stats have changed
 * @throws FsError EFBIG for more than `copyBackBytes` or `copyBackFiles`
 */
export async function changesOf(
  copy: PersistentCopy,
  source: Pick<CopySource, 'visibilityOf'>,
  limits?: Pick<AllLimits, 'copyBackBytes' | 'copyBackFiles'>,
  signal?: AbortSignal,
): Promise<CopyChanges> {
  const { entries, own, mounts } = copy.index;
  const gone = new Map(entries);
  const written: CopyChange[] = [];
  const refused: { path: string; reason: string }[] = [];
  const removable: { above: string; name: RawName }[] = [];
  let bytes = 0;
  await walkDisk(
    copy.files,
    async ({ path, name, stat, above }) => {
      if (mounts.has(path)) return false;
      const kind = kindOf(stat);
      const before = entries.get(path);
      const refuse = (reason: string): false => {
        refused.push({ path: `/${path}`, reason });
        removable.push({ above: path.slice(0, path.length - String(name).length), name });
        return false;
      };
      if (before === undefined && typeof name === 'string') {
        const visibility = name === '.git' ? 'hidden' : await source.visibilityOf(path, kind === 'directory');
        if (visibility === 'ignored') {
          own.add(path);
          return false;
        }
        if (visibility === 'hidden') return refuse(name === '.git' ? A_REPOSITORY : A_SECRET);
      }
      const reason = reasonAgainst(name, path, kind);
      if (reason !== undefined || kind === undefined || typeof name !== 'string')
        return refuse(reason ?? 'it is a pipe, a socket or a device');
      gone.delete(path);
      const mode = kind === 'symlink' ? 0 : Number(stat.mode) & 0o777;
      if (kind === 'directory') {
        // In the copy every directory is open to its owner, whatever its mode in the source.
        const isSame = before?.kind === 'directory' && (before.mode | 0o700) === (mode | 0o700);
        if (!isSame) written.push({ path, before, after: { kind, mode, body: NOTHING, copy: '' } });
        return true;
      }
      const state = copyStateOf(stat);
      if (before?.copy === state) return false;
      if (limits === undefined) {
        written.push({ path, before, after: { kind, mode, body: NOTHING, copy: state } });
        return false;
      }
      const body = kind === 'file' ? above.read(name)?.bytes : above.readLink(name);
      if (body === undefined) return refuse('it cannot be read');
      if (kind === 'symlink' && !isUtf8(body)) return refuse('its target is not UTF-8');
      const kept = before?.kind === kind && before.size === body.length ? copy.index.contentOf(before) : undefined;
      if (before !== undefined && before.mode === mode && kept !== undefined && Buffer.compare(kept, body) === 0) {
        entries.set(path, { ...before, copy: state });
        return false;
      }
      bytes += body.length;
      if (bytes > limits.copyBackBytes) throw tooMuch('copyBackBytes', limits.copyBackBytes, bytes);
      written.push({ path, before, after: { kind, mode, body, copy: state } });
      return false;
    },
    { asOwner: true, signal },
  );
  // An entry that a refused one replaced does not count as removed, nor does anything under it.
  for (const { path } of refused)
    for (const one of gone.keys()) if (`/${one}` === path || `/${one}`.startsWith(`${path}/`)) gone.delete(one);
  const removed = [...gone].map(([path, before]): CopyChange => ({ path, before, after: undefined })).reverse();
  const changes = [...removed, ...written];
  if (limits !== undefined && changes.length > limits.copyBackFiles)
    throw tooMuch('copyBackFiles', limits.copyBackFiles, changes.length);
  return { changes, refused, removable };
}

/**
 * Ends a command whose changes were taken: the copy stays as the command left it, without refused entries. The next
 * update compares the changed paths with the source.
 */
export function takeChanges(copy: PersistentCopy, { changes, removable }: CopyChanges): void {
  const { entries } = copy.index;
  removeRefused(copy, removable);
  for (const { path, after } of changes) {
    if (after === undefined) {
      entries.delete(path);
      continue;
    }
    const { kind, mode, body } = after;
    const at = kind === 'file' ? copy.index.keep(body) : undefined;
    const target = kind === 'symlink' ? Buffer.from(body).toString('utf8') : undefined;
    const size = kind === 'directory' ? 0 : body.length;
    entries.set(path, { kind, mode, size, source: '', stat: '', copy: after.copy, target, at });
  }
}

/** Ends a command whose changes were not taken: they are removed, and the next update brings back what was there. */
export function dropChanges(copy: PersistentCopy, { changes, removable }: CopyChanges): void {
  const { entries } = copy.index;
  using directories = new DirectoryCache(copy.files, true);
  removeRefused(copy, removable);
  // From the end, so that children come before their directories.
  for (const { path, before, after } of [...changes].reverse()) {
    if (after?.kind === 'directory' && before?.kind === 'directory') {
      const place = directories.above(path)?.child(basename(path));
      if (place !== undefined && lstatSync(place).isDirectory()) chmodSync(place, before.mode | 0o700);
      continue;
    }
    if (after !== undefined) {
      directories.above(path)?.remove(basename(path));
      directories[Symbol.dispose]();
    }
    entries.delete(path);
  }
}

function removeRefused({ files, index }: PersistentCopy, removable: CopyChanges['removable']): void {
  using directories = new DirectoryCache(files, true);
  for (const { above, name } of removable) {
    directories.above(`${above}x`)?.remove(name);
    directories[Symbol.dispose]();
    const path = above + String(name);
    for (const one of index.entries.keys()) if (one === path || one.startsWith(`${path}/`)) index.entries.delete(one);
  }
}

/**
 * Removes the largest ignored entries until the others take at most {@link MAX_OWN_BYTES}, and returns their paths.
 * @param isKept reports whether a path is one of the dependencies, which may be large
 */
export async function limitOwn(copy: PersistentCopy, isKept: (path: string) => boolean): Promise<string[]> {
  const { own } = copy.index;
  const sizes = new Map<string, number>();
  let all = 0;
  for (const path of own) {
    const stat = lstatSync(join(copy.files, path), { throwIfNoEntry: false });
    if (stat === undefined || isKept(path)) continue;
    let size = stat.blocks * 512;
    if (stat.isDirectory())
      await walkDisk(
        join(copy.files, path),
        (entry) => {
          size += Number(entry.stat.blocks) * 512;
          return true;
        },
        { asOwner: true },
      );
    sizes.set(path, size);
    all += size;
  }
  const removed: string[] = [];
  using directories = new DirectoryCache(copy.files, true);
  for (const [path, size] of [...sizes].sort(([, a], [, b]) => b - a)) {
    if (all <= MAX_OWN_BYTES) break;
    directories.above(path)?.remove(basename(path));
    own.delete(path);
    removed.push(path);
    all -= size;
  }
  return removed;
}

const NOTHING = new Uint8Array();
const A_REPOSITORY = 'a command cannot make repositories: .git is not part of the files';
const A_SECRET = 'the name is that of a secret, which commands neither see nor create';

function tooMuch(limit: string, allowed: number, requested: number): FsError {
  return new FsError('EFBIG', { syscall: 'copy', hint: `More than limits.${limit} allows`, limit, allowed, requested });
}
