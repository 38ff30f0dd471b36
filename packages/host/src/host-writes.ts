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
import { Anchor } from './anchor.js';
import { checkLinks } from './check-links.js';
import { type ConfinedRoot, climbs, levelOf, TEMPORARY } from './confined-root.js';
import { copyTree } from './copy-tree.js';
import type { GitProtection } from './git-protection.js';
import { hostError, isCode } from './host-error.js';
import { KnownNames } from './known-names.js';
import type { NodeIds } from './node-ids.js';
import type { Workshop } from './workshop.js';

/** Larger files are changed where they lie; smaller ones are written anew and take the place of the old in one step. */
const REPLACED_WHOLE = 16 * 2 ** 20;

const RESERVED = `Names that begin with ${TEMPORARY} are for what is not finished`;

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
 * How a file is changed that has other hard links, not all of which are known to lie inside the root. `break`: the name gets a
 * file of its own with the new content or mode, and the other names keep the old file. `in-place`: the file itself changes, under
 * all its names, those outside the root included.
 */
export type HardLinks = 'break' | 'in-place';

/** Does to the host what the engine has decided. Each write is one step for others, but for files that are changed in place. */
export class HostWrites {
  readonly #names: KnownNames;

  constructor(
    readonly root: ConfinedRoot,
    readonly ids: NodeIds,
    readonly workshop: Workshop,
    readonly hardLinks: HardLinks,
    /** Undefined if repositories may be changed. */
    readonly protection: GitProtection | undefined,
  ) {
    this.#names = new KnownNames(root);
  }

  async apply(writes: readonly Write[]): Promise<void> {
    await this.#checkProtection(writes);
    for (let i = 0; i < writes.length; i++) {
      const write = writes[i] as Write;
      try {
        if (write.kind === 'remove' && isReplaced(write.path, writes.slice(i + 1))) continue;
        if (write.kind === 'write') {
          // What changes a file several times is one step for others.
          const all = contentWrites(write.path, writes.slice(i));
          await this.#at(write.path, (path) => this.#write(path, all));
          i += all.length - 1;
        } else await this.#apply(write);
      } catch (error) {
        throw failureOf(write, error);
      }
    }
  }

  /** Checks all writes before the first one, so that nothing has changed when one is refused. */
  async #checkProtection(writes: readonly Write[]): Promise<void> {
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

  async #apply(write: Write): Promise<void> {
    if (write.kind === 'create') return this.#create(write);
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
        hint: 'A directory of the host is not replaced whole; restore into an overlay of it',
      });
  }

  /** Calls with the path of a name beneath its directory's descriptor. */
  async #at<T>(path: string, use: (hostPath: string) => Promise<T>): Promise<T> {
    if (baseName(path).startsWith(TEMPORARY)) throw new FsError('EACCES', { path, hint: RESERVED });
    using trail = this.root.walk(parentPath(path));
    const parent = trail.last;
    if (!trail.complete || parent.kind !== 'directory') throw new FsError('ENOENT', { path });
    // Awaited here: the descriptors are closed when this returns.
    return await use(path === '/' ? this.root.path : parent.child(baseName(path)));
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
      using anchor = Anchor.at(destination);
      this.#names.linked(anchor.stat, from, to);
    });
  }

  async #create(write: Extract<Write, { kind: 'create' }>): Promise<void> {
    await this.#at(write.path, async (path) => {
      if (write.type === 'directory') {
        await mkdir(path, { mode: write.meta.mode });
      } else if (write.type === 'symlink') {
        checkTarget(write.target ?? '', write.path);
        await symlink(write.target ?? '', path);
      } else {
        const place = await this.workshop.place();
        try {
          await fill(place, write.content ?? new Uint8Array(), write.meta.mode);
          // A link never replaces what somebody else has put there meanwhile.
          await link(place, path);
        } finally {
          await this.workshop.clear(place);
        }
      }
      await this.#named(path, write.id, write.type === 'directory' ? write.meta.mode : undefined);
    });
  }

  async #named(path: string, id: Extract<Write, { kind: 'create' }>['id'], mode?: number): Promise<void> {
    using anchor = Anchor.at(path);
    this.ids.give(anchor.stat, id);
    // Whatever the process takes away from the modes of what it makes.
    if (mode !== undefined && anchor.kind === 'directory' && modeOf(anchor.stat) !== mode)
      await chmod(anchor.path, mode);
  }

  async #remove(path: string): Promise<void> {
    using anchor = Anchor.at(path);
    const isEmpty = anchor.kind === 'directory' && (await anchor.names()).length === 0;
    // What nobody holds any more is freed, which may take long: not by this close.
    anchor.close();
    if (anchor.kind !== 'directory') await unlink(path);
    else if (isEmpty) await rmdir(path);
    else {
      const place = await this.workshop.place();
      await rename(path, place);
      await this.workshop.clear(place);
    }
    if (anchor.stat.nlink <= 1n || anchor.kind === 'directory') this.ids.forget(anchor.stat);
  }

  async #write(path: string, writes: readonly ContentWrite[]): Promise<void> {
    using anchor = Anchor.at(path);
    if (anchor.kind !== 'file') throw new FsError('EINVAL');
    const isBroken = this.#isBroken(anchor);
    // Awaited here: the anchor is closed when this returns.
    if (!isBroken && anchor.stat.nlink > 1n) return await patch(anchor, writes);
    if (isPatched(anchor, writes)) {
      if (!isBroken) return await patch(anchor, writes);
      return await this.#replaceByCopy(path, anchor, (copy) => patch(copy, writes));
    }
    const place = await this.workshop.place();
    try {
      await fill(place, await changed(anchor, writes), (writes.at(-1) as ContentWrite).meta.mode, anchor);
      // As in #remove.
      anchor.close();
      await rename(place, path);
    } catch (error) {
      await this.workshop.clear(place);
      throw error;
    }
    const id = this.ids.of(anchor.stat);
    if (isBroken) this.ids.renew(anchor.stat);
    await this.#named(path, id);
  }

  async #setMetadata(path: string, meta: Metadata): Promise<void> {
    using anchor = Anchor.at(path);
    if (!this.#isBroken(anchor)) return await setMetadata(anchor, path, meta);
    await this.#replaceByCopy(path, anchor, (copy, place) => setMetadata(copy, place, meta));
  }

  /** Reports whether a file must not be changed itself, because it may have a name outside the root. */
  #isBroken({ stat, kind }: Anchor): boolean {
    return this.hardLinks === 'break' && kind !== 'directory' && !this.#names.areAll(stat);
  }

  /** Changes a copy of a file, which then takes the name in one step. The file's other names keep the file as it was. */
  async #replaceByCopy(
    path: string,
    original: Anchor,
    change: (copy: Anchor, place: string) => Promise<void>,
  ): Promise<void> {
    const place = await this.workshop.place();
    try {
      await copyTree(original, path, place, true);
      await giveOwner(place, original);
      using copy = Anchor.at(place);
      await change(copy, place);
      await rename(place, path);
      const id = this.ids.of(original.stat);
      this.ids.renew(original.stat);
      this.ids.give(copy.stat, id);
    } catch (error) {
      await this.workshop.clear(place);
      throw error;
    }
  }

  async #copy(from: string, to: string, write: Extract<Write, { kind: 'copy' }>): Promise<void> {
    const place = await this.workshop.place();
    using source = Anchor.at(from);
    try {
      await copyTree(source, from, place, write.keepTimes);
      await rename(place, to);
    } catch (error) {
      await this.workshop.clear(place);
      throw error;
    }
    using copy = Anchor.at(to);
    await setMetadata(copy, to, write.meta, { times: write.keepTimes, isNew: true });
    await this.#named(to, write.id);
  }
}

function failureOf(write: Write, error: unknown): Error {
  return hostError(error, SYSCALLS[write.kind], 'path' in write ? write.path : 'to' in write ? write.to : '/');
}

/** Whether what is removed is replaced by a rename that follows: the host does that in one step. */
function isReplaced(path: string, following: readonly Write[]): boolean {
  const next = following.find(({ kind }) => kind !== 'touch' && kind !== 'meta');
  return next?.kind === 'move' && next.to === path;
}

/** A link that leads out would lead other programs out too. */
function checkTarget(target: string, path: string): void {
  if (!target.startsWith('/') && !climbs(target, levelOf(path))) return;
  const hint = 'In a directory of the host a link must be relative and stay inside';
  throw new FsError('EACCES', { syscall: 'symlink', path, hint });
}

/** @param owned whose owner the file gets, where this process may say so */
async function fill(place: string, content: Uint8Array, mode: number, owned?: Anchor): Promise<void> {
  const handle = await open(place, 'wx', mode & 0o777);
  try {
    await writeAll(handle, content, 0);
    if (owned !== undefined && !isOwn(owned))
      await handle.chown(Number(owned.stat.uid), Number(owned.stat.gid)).catch(() => undefined);
    // Whatever the process takes away, and writing and other owners do from the set-id bits.
    if (modeOf(fstatSync(handle.fd, { bigint: true })) !== (mode & 0o7777)) await handle.chmod(mode & 0o7777);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

/** Gives a copy the owner of the original where this process may, and the set-id bits that a change of the owner takes away. */
async function giveOwner(place: string, original: Anchor): Promise<void> {
  if (isOwn(original)) return;
  using copy = Anchor.at(place);
  const [uid, gid] = [Number(original.stat.uid), Number(original.stat.gid)];
  if (copy.kind === 'symlink') return await lchown(place, uid, gid).catch(() => undefined);
  await chown(copy.path, uid, gid).catch(() => undefined);
  await chmod(copy.path, modeOf(original.stat));
}

function isOwn({ stat }: Anchor): boolean {
  return Number(stat.uid) === process.getuid?.() && Number(stat.gid) === process.getgid?.();
}

async function writeAll(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

type ContentWrite = Extract<Write, { kind: 'write' }>;

/** The writes that follow each other on one file. */
function contentWrites(path: string, writes: readonly Write[]): ContentWrite[] {
  const all: ContentWrite[] = [];
  for (const write of writes) {
    if (write.kind !== 'write' || write.path !== path) break;
    all.push(write);
  }
  return all;
}

/** Reports whether a file is too large to be written anew for a part of it. */
function isPatched(anchor: Anchor, writes: readonly ContentWrite[]): boolean {
  const largest = Math.max(Number(anchor.stat.size), ...writes.map(({ size }) => size));
  return largest > REPLACED_WHOLE && !writes.some(isWholeWrite);
}

/** Changes a file where it lies. Where that fails in the middle, what it held is put back: for that there is room. */
async function patch(anchor: Anchor, writes: readonly ContentWrite[]): Promise<void> {
  const handle = await anchor.open(constants.O_RDWR);
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

/** Bytes of a file, none where there are less. */
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

/** The content of a file with what changes in it. */
async function changed(anchor: Anchor, writes: readonly ContentWrite[]): Promise<Uint8Array> {
  const last = writes.findLastIndex(isWholeWrite);
  let content = last < 0 ? await contentOf(anchor) : new Uint8Array();
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

async function contentOf(anchor: Anchor): Promise<Uint8Array> {
  const handle = await anchor.open(constants.O_RDONLY);
  try {
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

interface HowSet {
  readonly times?: boolean;
  /** What this process has just made is its own where it may not give it away. */
  readonly isNew?: boolean;
}

/** @param path leads to the anchor; links have no other way to be changed */
async function setMetadata(
  anchor: Anchor,
  path: string,
  meta: Metadata,
  { times = true, isNew = false }: HowSet = {},
): Promise<void> {
  const { stat, kind } = anchor;
  const isLink = kind === 'symlink';
  if (Number(stat.uid) !== meta.uid || Number(stat.gid) !== meta.gid) {
    try {
      await (isLink ? lchown(path, meta.uid, meta.gid) : chown(anchor.path, meta.uid, meta.gid));
    } catch (error) {
      if (!isNew || !isCode(error, 'EPERM')) throw error;
    }
  }
  // After the owner, which takes the set-id bits away. A link's own mode is the same on every Linux.
  if (!isLink && modeOf(stat) !== meta.mode) await chmod(anchor.path, meta.mode);
  if (!times || (Number(stat.atimeMs) === Math.floor(meta.atime) && Number(stat.mtimeMs) === Math.floor(meta.mtime)))
    return;
  const given = [meta.atime / 1_000, meta.mtime / 1_000] as const;
  await (isLink ? lutimes(path, ...given) : utimes(anchor.path, ...given));
}

function modeOf({ mode }: BigIntStats): number {
  return Number(mode) & 0o7777;
}
