import { type BigIntStats, constants, fstatSync } from 'node:fs';
import {
  chmod,
  chown,
  type FileHandle,
  lchown,
  link,
  lutimes,
  mkdir,
  open,
  rename,
  rmdir,
  symlink,
  unlink,
  utimes,
} from 'node:fs/promises';
import { baseName, FsError, isWholeWrite, type Metadata, type Part, parentPath, type Write } from '@scratchfs/core';
import { checkLinks } from './check-links.js';
import { type ConfinedRoot, climbs, levelOf, TEMPORARY } from './confined-root.js';
import { copyTree } from './copy-tree.js';
import type { GitProtection } from './git-protection.js';
import { hostError, isCode } from './host-error.js';
import { KnownNames } from './known-names.js';
import type { NodeIds } from './node-ids.js';
import { PathHandle } from './path-handle.js';
import type { StagingDirectory } from './staging-directory.js';

/** Size in bytes up to which a file is written anew when a part of it changes. A larger file is patched. */
const MAX_REPLACED_BYTES = 16 * 2 ** 20;

export const RESERVED = `Names that begin with ${TEMPORARY} are reserved for unfinished files`;

const SYSCALLS: Readonly<Record<Write['kind'], string>> = {
  create: 'open',
  link: 'link',
  remove: 'rm',
  move: 'rename',
  copy: 'cp',
  write: 'write',
  meta: 'chmod',
  touch: 'utime',
  clear: 'restore',
};

/**
 * Treatment of a changed file that has other hard links, not all of which are known to lie inside the root. `break`:
 * the name gets a new file with the new content or metadata, and the other names keep the old file. `in-place`: the
 * file itself changes, under all its names, including those outside the root.
 */
export type HardLinks = 'break' | 'in-place';

/**
 * Applies the engine's writes to the host. Other processes see a file's content as it was before a write or after it,
 * except in files changed in place.
 */
export class HostWrites {
  readonly #names: KnownNames;

  constructor(
    readonly root: ConfinedRoot,
    readonly ids: NodeIds,
    readonly staging: StagingDirectory,
    readonly hardLinks: HardLinks,
    /** Undefined if repositories may be changed. */
    readonly protection: GitProtection | undefined,
  ) {
    this.#names = new KnownNames(root);
  }

  async apply(writes: readonly Write[]): Promise<void> {
    await this.checkProtection(writes);
    const touched = new Set(writes.flatMap((write) => (write.kind === 'touch' ? write.path : [])));
    for (let i = 0; i < writes.length; i++) {
      const write = writes[i] as Write;
      try {
        if (write.kind === 'remove' && isReplaced(write.path, writes.slice(i + 1))) continue;
        if (write.kind === 'write') {
          // Consecutive writes to one file are applied together.
          const all = contentWrites(write.path, writes.slice(i));
          await this.#at(write.path, (path) => this.#write(path, all));
          i += all.length - 1;
        } else if (write.kind === 'create') await this.#create(write, !touched.has(parentPath(write.path)));
        else await this.#apply(write);
      } catch (error) {
        throw failureOf(write, error);
      }
    }
  }

  /**
   * Throws if the protection of repositories refuses one of the writes. Called before the first is applied, so that a
   * refused batch changes nothing.
   */
  async checkProtection(writes: readonly Write[]): Promise<void> {
    const batch = this.protection?.forBatch();
    if (batch === undefined) return;
    for (const write of writes) {
      try {
        await batch.check(write);
      } catch (error) {
        throw failureOf(write, error);
      }
    }
  }

  async #apply(write: Exclude<Write, { kind: 'create' }>): Promise<void> {
    if (write.kind === 'remove') return this.#at(write.path, (path) => this.#remove(path));
    if (write.kind === 'meta') return this.#at(write.path, (path) => this.#setMetadata(path, write.meta));
    if (write.kind === 'link') return this.#link(write.from, write.path);
    if (write.kind === 'move') {
      await this.#both(write.from, write.to, rename);
      this.#names.moved(write.from, write.to);
      return;
    }
    if (write.kind === 'copy') return this.#both(write.from, write.to, (from, to) => this.#copy(from, to, write));
    if (write.kind === 'clear')
      throw new FsError('ENOTSUP', {
        syscall: 'restore',
        hint: 'A directory of the host cannot be replaced as a whole: restore into an overlay of it',
      });
  }

  /** Calls `use` with a host path of the entry and with its directory, both valid until `use` settles. */
  async #at<T>(path: string, use: (hostPath: string, parent: PathHandle) => Promise<T>): Promise<T> {
    if (baseName(path).startsWith(TEMPORARY)) throw new FsError('EACCES', { path, hint: RESERVED });
    using trail = this.root.walk(parentPath(path));
    const parent = trail.last;
    if (!trail.complete || parent.kind !== 'directory') throw new FsError('ENOENT', { path });
    // Awaited here: the descriptors are closed when this returns.
    return await use(path === '/' ? this.root.path : parent.child(baseName(path)), parent);
  }

  #both(from: string, to: string, use: (from: string, to: string) => Promise<void>): Promise<void> {
    return this.#at(from, (source) =>
      this.#at(to, async (destination) => {
        await checkLinks(source, from, to);
        await use(source, destination);
      }),
    );
  }

  #link(from: string, to: string): Promise<void> {
    return this.#both(from, to, async (source, destination) => {
      await link(source, destination);
      using pathHandle = PathHandle.at(destination);
      this.#names.linked(pathHandle.stat, from, to);
    });
  }

  /** @param keepsTimes true if the directory keeps its times, as far as this process may set them */
  async #create(write: Extract<Write, { kind: 'create' }>, keepsTimes: boolean): Promise<void> {
    await this.#at(write.path, async (path, { path: directory, stat }) => {
      if (write.type === 'directory') {
        await mkdir(path, { mode: write.meta.mode });
      } else if (write.type === 'symlink') {
        checkTarget(write.target ?? '', write.path);
        await symlink(write.target ?? '', path);
      } else {
        const place = await this.staging.place();
        try {
          await fill(place, write.content ?? new Uint8Array(), write.meta.mode);
          // `link` fails if another process has created the name. `rename` would replace its file.
          await link(place, path);
        } finally {
          await this.staging.clear(place);
        }
      }
      await this.#named(path, write.id, write.type === 'directory' ? write.meta.mode : undefined);
      if (keepsTimes)
        await utimes(directory, Number(stat.atimeNs) / 1e9, Number(stat.mtimeNs) / 1e9).catch(() => undefined);
    });
  }

  async #named(path: string, id: Extract<Write, { kind: 'create' }>['id'], mode?: number): Promise<void> {
    using pathHandle = PathHandle.at(path);
    this.ids.give(pathHandle.stat, id);
    // The umask of the process may have removed bits.
    if (mode !== undefined && pathHandle.kind === 'directory' && modeOf(pathHandle.stat) !== mode)
      await chmod(pathHandle.path, mode);
  }

  async #remove(path: string): Promise<void> {
    using pathHandle = PathHandle.at(path);
    const isEmpty = pathHandle.kind === 'directory' && (await pathHandle.names()).length === 0;
    // Closed before the removal: the asynchronous call then frees the file, not a synchronous close, which may block
    // for long.
    pathHandle.close();
    if (pathHandle.kind !== 'directory') await unlink(path);
    else if (isEmpty) await rmdir(path);
    else {
      const place = await this.staging.place();
      await rename(path, place);
      await this.staging.clear(place);
    }
    if (pathHandle.stat.nlink <= 1n || pathHandle.kind === 'directory') this.ids.forget(pathHandle.stat);
  }

  async #write(path: string, writes: readonly ContentWrite[]): Promise<void> {
    using pathHandle = PathHandle.at(path);
    if (pathHandle.kind !== 'file') throw new FsError('EINVAL');
    const isBroken = this.#isBroken(pathHandle);
    const isInParts = isPatched(pathHandle, writes);
    // Awaited here: the handle is closed when this returns.
    if (!isBroken && (isInParts || pathHandle.stat.nlink > 1n)) return await patch(pathHandle, writes);
    if (isInParts) return await this.#replaceByCopy(path, pathHandle, (copy) => patch(copy, writes));
    const place = await this.staging.place();
    try {
      await fill(place, await changed(pathHandle, writes), (writes.at(-1) as ContentWrite).meta.mode, pathHandle);
      // As in #remove.
      pathHandle.close();
      await rename(place, path);
    } catch (error) {
      await this.staging.clear(place);
      throw error;
    }
    const id = this.ids.of(pathHandle.stat);
    this.ids.renew(pathHandle.stat);
    await this.#named(path, id);
  }

  async #setMetadata(path: string, meta: Metadata): Promise<void> {
    using pathHandle = PathHandle.at(path);
    if (!this.#isBroken(pathHandle)) return await setMetadata(pathHandle, path, meta);
    await this.#replaceByCopy(path, pathHandle, (copy, place) => setMetadata(copy, place, meta));
  }

  /** Reports whether a file must not be changed in place, because it may have a name outside the root. */
  #isBroken({ stat, kind }: PathHandle): boolean {
    return this.hardLinks === 'break' && kind !== 'directory' && !this.#names.areAll(stat);
  }

  /** Changes a copy of a file, which then takes the name atomically. The file's other names keep the old file. */
  async #replaceByCopy(
    path: string,
    original: PathHandle,
    change: (copy: PathHandle, place: string) => Promise<void>,
  ): Promise<void> {
    const place = await this.staging.place();
    try {
      await copyTree(original, path, place, true);
      await giveOwner(place, original);
      using copy = PathHandle.at(place);
      await change(copy, place);
      await rename(place, path);
      const id = this.ids.of(original.stat);
      this.ids.renew(original.stat);
      this.ids.give(copy.stat, id);
    } catch (error) {
      await this.staging.clear(place);
      throw error;
    }
  }

  async #copy(from: string, to: string, write: Extract<Write, { kind: 'copy' }>): Promise<void> {
    const place = await this.staging.place();
    using source = PathHandle.at(from);
    try {
      await copyTree(source, from, place, write.keepTimes);
      await rename(place, to);
    } catch (error) {
      await this.staging.clear(place);
      throw error;
    }
    using copy = PathHandle.at(to);
    await setMetadata(copy, to, write.meta, { times: write.keepTimes, isNew: true });
    await this.#named(to, write.id);
  }
}

function failureOf(write: Write, error: unknown): Error {
  return hostError(error, SYSCALLS[write.kind], 'path' in write ? write.path : 'to' in write ? write.to : '/');
}

/** Reports whether a removed entry is replaced by a rename that follows, which the host does in one step. */
function isReplaced(path: string, following: readonly Write[]): boolean {
  const next = following.find(({ kind }) => kind !== 'touch' && kind !== 'meta');
  return next?.kind === 'move' && next.to === path;
}

/** Refuses a link whose target is absolute or leads out: other programs would follow it. */
export function checkTarget(target: string, path: string): void {
  if (!target.startsWith('/') && !climbs(target, levelOf(path))) return;
  const hint = 'In a directory of the host the target of a link must be relative and inside the directory';
  throw new FsError('EACCES', { syscall: 'symlink', path, hint });
}

/**
 * Creates a file, with its content on the disk when this resolves.
 * @param owned file whose owner the new file gets, if this process may change owners
 */
export async function fill(place: string, content: Uint8Array, mode: number, owned?: PathHandle): Promise<void> {
  const handle = await open(place, 'wx', mode & 0o777);
  try {
    await writeAll(handle, content, 0);
    if (owned !== undefined && !isOwn(owned))
      await handle.chown(Number(owned.stat.uid), Number(owned.stat.gid)).catch(() => undefined);
    // Sets bits that the umask removed, and the set-id bits, which writing or changing the owner would have cleared.
    if (modeOf(fstatSync(handle.fd, { bigint: true })) !== (mode & 0o7777)) await handle.chmod(mode & 0o7777);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

/** Gives a copy the owner of the original if this process may, and restores the set-id bits that this clears. */
async function giveOwner(place: string, original: PathHandle): Promise<void> {
  if (isOwn(original)) return;
  using copy = PathHandle.at(place);
  const [uid, gid] = [Number(original.stat.uid), Number(original.stat.gid)];
  if (copy.kind === 'symlink') return await lchown(place, uid, gid).catch(() => undefined);
  await chown(copy.path, uid, gid).catch(() => undefined);
  await chmod(copy.path, modeOf(original.stat));
}

function isOwn({ stat }: PathHandle): boolean {
  return Number(stat.uid) === process.getuid?.() && Number(stat.gid) === process.getgid?.();
}

async function writeAll(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

type ContentWrite = Extract<Write, { kind: 'write' }>;

/** Returns the leading consecutive writes to one file. */
function contentWrites(path: string, writes: readonly Write[]): ContentWrite[] {
  const all: ContentWrite[] = [];
  for (const write of writes) {
    if (write.kind !== 'write' || write.path !== path) break;
    all.push(write);
  }
  return all;
}

/** Reports whether the writes change only parts of a file that is too large to be written anew. */
function isPatched(pathHandle: PathHandle, writes: readonly ContentWrite[]): boolean {
  const largest = Math.max(Number(pathHandle.stat.size), ...writes.map(({ size }) => size));
  return largest > MAX_REPLACED_BYTES && !writes.some(isWholeWrite);
}

/** Changes a file in place. If a write fails, tries to put the old bytes back. */
async function patch(pathHandle: PathHandle, writes: readonly ContentWrite[]): Promise<void> {
  const handle = await pathHandle.open(constants.O_RDWR);
  try {
    const before = Number((await handle.stat()).size);
    const held: Part[] = [];
    try {
      const effective = writes.slice(Math.max(0, writes.findLastIndex(isWholeWrite)));
      for (const [i, { size, parts }] of effective.entries()) {
        for (const { offset, bytes } of parts) {
          held.push({ offset, bytes: await readAt(handle, offset, Math.min(bytes.length, before - offset)) });
          await writeAll(handle, bytes, offset);
        }
        const isLast = i === effective.length - 1;
        if (size < before && !isLast) held.push({ offset: size, bytes: await readAt(handle, size, before - size) });
        await handle.truncate(size);
      }
    } catch (error) {
      await putBack(handle, before, held).catch(() => undefined);
      throw error;
    }
  } finally {
    await handle.close();
  }
}

async function putBack(handle: FileHandle, size: number, held: readonly Part[]): Promise<void> {
  for (const { offset, bytes } of held.toReversed()) await writeAll(handle, bytes, offset);
  await handle.truncate(size);
}

/** Reads bytes of a file; fewer if it ends earlier. */
async function readAt(handle: FileHandle, offset: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(Math.max(0, length));
  let done = 0;
  while (done < bytes.length) {
    const { bytesRead } = await handle.read(bytes, done, bytes.length - done, offset + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}

/** Returns the content of a file with the writes applied. */
async function changed(pathHandle: PathHandle, writes: readonly ContentWrite[]): Promise<Uint8Array> {
  const last = writes.findLastIndex(isWholeWrite);
  let content = last < 0 ? await contentOf(pathHandle) : new Uint8Array();
  for (const write of writes.slice(Math.max(0, last))) {
    const { size, parts } = write;
    if (isWholeWrite(write)) {
      content = parts[0]?.bytes ?? new Uint8Array();
      continue;
    }
    const next = new Uint8Array(size);
    next.set(content.subarray(0, size));
    for (const { offset, bytes } of parts) next.set(bytes, offset);
    content = next;
  }
  return content;
}

async function contentOf(pathHandle: PathHandle): Promise<Uint8Array> {
  const handle = await pathHandle.open(constants.O_RDONLY);
  try {
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

interface HowSet {
  readonly times?: boolean;
  /** True for the top entry of a copy that was just made: it keeps its owner if that cannot be changed. */
  readonly isNew?: boolean;
}

/** @param path path of the entry, by which the metadata of a link is changed */
async function setMetadata(
  pathHandle: PathHandle,
  path: string,
  meta: Metadata,
  { times = true, isNew = false }: HowSet = {},
): Promise<void> {
  const { stat, kind } = pathHandle;
  const isLink = kind === 'symlink';
  if (Number(stat.uid) !== meta.uid || Number(stat.gid) !== meta.gid) {
    try {
      await (isLink ? lchown(path, meta.uid, meta.gid) : chown(pathHandle.path, meta.uid, meta.gid));
    } catch (error) {
      if (!isNew || !isCode(error, 'EPERM')) throw error;
    }
  }
  // The mode is set after the owner, because changing the owner clears set-id bits. On Linux all links have the same
  // mode.
  if (!isLink && modeOf(stat) !== meta.mode) await chmod(pathHandle.path, meta.mode);
  if (!times || (Number(stat.atimeMs) === Math.floor(meta.atime) && Number(stat.mtimeMs) === Math.floor(meta.mtime)))
    return;
  const given = [meta.atime / 1_000, meta.mtime / 1_000] as const;
  await (isLink ? lutimes(path, ...given) : utimes(pathHandle.path, ...given));
}

function modeOf({ mode }: BigIntStats): number {
  return Number(mode) & 0o7777;
}
