import { constants } from 'node:fs';
import {
  chmod,
  chown,
  copyFile,
  type FileHandle,
  link,
  lutimes,
  mkdir,
  open,
  readdir,
  readlink,
  rename,
  rmdir,
  symlink,
  unlink,
  utimes,
} from 'node:fs/promises';
import { baseName, FsError, type Metadata, type Part, parentPath, pathSegments, type Write } from '@scratchfs/core';
import { Anchor } from './anchor.js';
import { type ConfinedRoot, climbs } from './confined-root.js';
import { hostError } from './host-error.js';
import type { NodeIds } from './node-ids.js';
import type { Workshop } from './workshop.js';

/** Larger files are changed where they lie; smaller ones are written anew and take the place of the old in one step. */
const REPLACED_WHOLE = 16 * 2 ** 20;

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

/** Does to the host what the engine has decided. Each write is one step for others, but for files that are changed in place. */
export class HostWrites {
  constructor(
    readonly root: ConfinedRoot,
    readonly ids: NodeIds,
    readonly workshop: Workshop,
  ) {}

  async apply(writes: readonly Write[]): Promise<void> {
    for (const [i, write] of writes.entries()) {
      try {
        if (write.kind === 'remove' && isReplaced(write.path, writes.slice(i + 1))) continue;
        await this.#apply(write);
      } catch (error) {
        throw hostError(error, SYSCALLS[write.kind], 'path' in write ? write.path : 'to' in write ? write.to : '/');
      }
    }
  }

  async #apply(write: Write): Promise<void> {
    if (write.kind === 'create') return this.#create(write);
    if (write.kind === 'remove') return this.#at(write.path, (path) => this.#remove(path));
    if (write.kind === 'write') return this.#at(write.path, (path) => this.#write(path, write));
    if (write.kind === 'meta') return this.#at(write.path, (path) => setMetadata(path, write.meta));
    if (write.kind === 'link') return this.#both(write.from, write.path, link);
    if (write.kind === 'move') return this.#both(write.from, write.to, rename);
    if (write.kind === 'copy') return this.#both(write.from, write.to, (from, to) => this.#copy(from, to, write));
    if (write.kind === 'clear')
      throw new FsError('ENOTSUP', {
        syscall: 'restore',
        hint: 'A directory of the host is not replaced whole; restore into an overlay of it',
      });
  }

  /** Calls with the path of a name beneath its directory's descriptor. */
  async #at<T>(path: string, use: (hostPath: string) => Promise<T>): Promise<T> {
    await using trail = await this.root.walk(parentPath(path));
    const parent = trail.anchors.at(-1) as Anchor;
    if (!trail.complete || parent.kind !== 'directory') throw new FsError('ENOENT', { path });
    // Awaited here: the descriptors are closed when this returns.
    return await use(path === '/' ? this.root.path : parent.child(baseName(path)));
  }

  #both(from: string, to: string, use: (from: string, to: string) => Promise<void>): Promise<void> {
    return this.#at(from, (source) => this.#at(to, (destination) => use(source, destination)));
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
    const anchor = await Anchor.at(path);
    try {
      this.ids.give(anchor.stat, id);
      // Whatever the process takes away from the modes of what it makes.
      if (mode !== undefined && anchor.kind === 'directory') await chmod(anchor.path, mode);
    } finally {
      await anchor.close();
    }
  }

  async #remove(path: string): Promise<void> {
    const anchor = await Anchor.at(path);
    try {
      if (anchor.kind !== 'directory') await unlink(path);
      else if ((await readdir(anchor.path)).length === 0) await rmdir(path);
      else {
        const place = await this.workshop.place();
        await rename(path, place);
        await this.workshop.clear(place);
      }
      if (anchor.stat.nlink <= 1n || anchor.kind === 'directory') this.ids.forget(anchor.stat);
    } finally {
      await anchor.close();
    }
  }

  async #write(path: string, { size, parts, meta }: Extract<Write, { kind: 'write' }>): Promise<void> {
    const anchor = await Anchor.at(path);
    try {
      if (anchor.kind !== 'file') throw new FsError('EINVAL');
      const inPlace = anchor.stat.nlink > 1n || Math.max(size, Number(anchor.stat.size)) > REPLACED_WHOLE;
      if (inPlace) await patch(await anchor.open(constants.O_RDWR), size, parts);
      else {
        const place = await this.workshop.place();
        try {
          await fill(place, await changed(anchor, size, parts), meta.mode);
          await keepOwner(place, anchor);
          await rename(place, path);
          await this.#named(path, this.ids.of(anchor.stat));
        } finally {
          await this.workshop.clear(place);
        }
      }
    } finally {
      await anchor.close();
    }
  }

  async #copy(from: string, to: string, write: Extract<Write, { kind: 'copy' }>): Promise<void> {
    const place = await this.workshop.place();
    const source = await Anchor.at(from);
    try {
      await copyTree(source, from, place, write.keepTimes);
      await rename(place, to);
      await setMetadata(to, write.meta, write.keepTimes);
      await this.#named(to, write.id);
    } finally {
      await source.close();
      await this.workshop.clear(place);
    }
  }
}

/** Whether what is removed is replaced by a rename that follows: the host does that in one step. */
function isReplaced(path: string, following: readonly Write[]): boolean {
  const next = following.find(({ kind }) => kind !== 'touch' && kind !== 'meta');
  return next?.kind === 'move' && next.to === path;
}

/** A link that leads out would lead other programs out too. */
function checkTarget(target: string, path: string): void {
  if (!target.startsWith('/') && !climbs(target, pathSegments(parentPath(path)).length)) return;
  const hint = 'In a directory of the host a link must be relative and stay inside';
  throw new FsError('EACCES', { syscall: 'symlink', path, hint });
}

async function fill(place: string, content: Uint8Array, mode: number): Promise<void> {
  const handle = await open(place, 'wx', 0o600);
  try {
    await writeAll(handle, content, 0);
    await handle.chmod(mode & 0o7777);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

async function writeAll(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

async function patch(handle: FileHandle, size: number, parts: readonly Part[]): Promise<void> {
  try {
    await handle.truncate(size);
    for (const { offset, bytes } of parts) await writeAll(handle, bytes, offset);
  } finally {
    await handle.close();
  }
}

/** The content of a file with what changes in it. */
async function changed(anchor: Anchor, size: number, parts: readonly Part[]): Promise<Uint8Array> {
  const [only] = parts;
  if (parts.length === 1 && only?.offset === 0 && only.bytes.length === size) return only.bytes;
  const content = new Uint8Array(size);
  const handle = await anchor.open(constants.O_RDONLY);
  try {
    const held = await handle.readFile();
    content.set(held.subarray(0, size));
  } finally {
    await handle.close();
  }
  for (const { offset, bytes } of parts) content.set(bytes, offset);
  return content;
}

/** What takes a file's place belongs to whom it belonged, where this process may say so. */
async function keepOwner(place: string, { stat }: Anchor): Promise<void> {
  if (Number(stat.uid) === process.getuid?.() && Number(stat.gid) === process.getgid?.()) return;
  await chown(place, Number(stat.uid), Number(stat.gid)).catch(() => undefined);
}

async function setMetadata(path: string, meta: Metadata, times = true): Promise<void> {
  const anchor = await Anchor.at(path);
  try {
    const { stat } = anchor;
    if (anchor.kind !== 'symlink') {
      if ((Number(stat.mode) & 0o7777) !== meta.mode) await chmod(anchor.path, meta.mode);
      if (Number(stat.uid) !== meta.uid || Number(stat.gid) !== meta.gid) await chown(anchor.path, meta.uid, meta.gid);
    }
    if (!times || (Number(stat.atimeMs) === Math.floor(meta.atime) && Number(stat.mtimeMs) === Math.floor(meta.mtime)))
      return;
    if (anchor.kind === 'symlink') await lutimes(path, meta.atime / 1_000, meta.mtime / 1_000);
    else await utimes(anchor.path, meta.atime / 1_000, meta.mtime / 1_000);
  } finally {
    await anchor.close();
  }
}

/** Copies what lies at an anchor to a place that nobody sees yet. Pipes, sockets and devices are left out. */
async function copyTree(source: Anchor, name: string, place: string, keepTimes: boolean): Promise<void> {
  if (source.kind === 'symlink') await symlink(await readlink(name), place);
  else if (source.kind === 'file') await copyFile(source.path, place, constants.COPYFILE_FICLONE);
  else if (source.kind === 'directory') {
    await mkdir(place);
    for (const child of await readdir(source.path)) {
      const anchor = await Anchor.at(source.child(child));
      try {
        await copyTree(anchor, source.child(child), `${place}/${child}`, keepTimes);
      } finally {
        await anchor.close();
      }
    }
  }
  if (source.kind === 'special' || source.kind === 'symlink') return;
  await chmod(place, Number(source.stat.mode) & 0o7777);
  if (keepTimes) await utimes(place, Number(source.stat.atimeMs) / 1_000, Number(source.stat.mtimeMs) / 1_000);
}
