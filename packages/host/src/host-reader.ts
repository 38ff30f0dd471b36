import { type BigIntStats, closeSync, constants, fstatSync, openSync, read, readSync } from 'node:fs';
import { promisify } from 'node:util';
import {
  checkName,
  compareNames,
  isFsError,
  type Listing,
  type LoadRequest,
  type LoadResult,
  type NodeId,
  type NodeRecord,
  parentPath,
  UNKNOWN_VERSION,
} from '@scratchfs/core';
import type { ConfinedRoot, Trail } from './confined-root.js';
import { isTurnDue, nextTurn } from './event-loop.js';
import { isCode } from './host-error.js';
import type { NodeIds } from './node-ids.js';
import { kindOf, type PathHandle } from './path-handle.js';

const NOTHING = { size: 0, files: 0, directories: 0, linked: 0 };

type PathRequest = Extract<LoadRequest, { kind: 'path' }>;

/** Loads the records of the entries under the root for the engine. */
export class HostReader {
  constructor(
    readonly root: ConfinedRoot,
    readonly ids: NodeIds,
  ) {}

  /**
   * Loads the content, listing or tree of a node. Returns `gone` if the path does not lead to the node, or if a node of
   * its kind does not have what is requested.
   */
  async load(request: Exclude<LoadRequest, PathRequest>, signal?: AbortSignal): Promise<LoadResult> {
    signal?.throwIfAborted();
    using trail = this.root.walk(request.at.path);
    const pathHandle = trail.last;
    if (!trail.complete || this.ids.of(pathHandle.stat) !== request.at.id) return { kind: 'gone' };
    const depth = trail.pathHandles.length - 1;
    if (request.kind === 'content') {
      if (pathHandle.kind !== 'file') return { kind: 'gone' };
      const bytes = await readRange(pathHandle, request.offset, request.length);
      return { kind: 'content', file: this.record(pathHandle.stat), offset: request.offset, bytes };
    }
    if (pathHandle.kind !== 'directory') return { kind: 'gone' };
    if (request.kind === 'tree') return await this.#tree(pathHandle, depth, request.budget, request.contents, signal);
    const { names, nodes, isComplete } = await this.#listing(pathHandle, depth, signal, request.after, request.limit);
    return { kind: 'list', directory: this.record(pathHandle.stat), names, nodes, complete: isComplete };
  }

  /** Loads a path. @param trail any trail of the root, which is moved to the directory above the path */
  async path({ path, content }: PathRequest, trail: Trail): Promise<LoadResult> {
    trail.goTo(parentPath(path));
    const nodes: (NodeRecord | null)[] = [];
    for (const [depth, pathHandle] of trail.pathHandles.entries()) {
      const parent = trail.pathHandles[depth - 1];
      const record = this.#recordOf(pathHandle.stat, parent, nameAt(path, depth), depth - 1);
      if (record === undefined) return { kind: 'path', nodes: [...nodes, null] };
      nodes.push(record);
    }
    const { last, complete, pathHandles } = trail;
    if (path === '/' || last.kind !== 'directory') return { kind: 'path', nodes };
    // Looking at the last name takes one call. Opening it takes three, and throws if the name is missing.
    const name = nameAt(path, pathHandles.length);
    const isShown = complete && !this.root.isHidden(name) && this.root.hasSpelling(last, name);
    const stat = isShown ? last.look(name) : undefined;
    const record = stat && this.#recordOf(stat, last, name, pathHandles.length - 1);
    nodes.push(record ?? null);
    if (record?.kind !== 'file' || record.size > content) return { kind: 'path', nodes };
    using file = last.enter(name);
    // The content of a file that has changed in between is left out.
    if (file === undefined || versionOf(file.stat) !== record.version) return { kind: 'path', nodes };
    const bytes = await readRange(file, 0, record.size);
    return bytes.length === record.size ? { kind: 'path', nodes, content: bytes } : { kind: 'path', nodes };
  }

  /** Reports whether a directory holds entries, but none that is shown. */
  async hidesAll(path: string): Promise<boolean> {
    using trail = this.root.walk(path);
    const pathHandle = trail.last;
    if (!trail.complete || pathHandle.kind !== 'directory') return false;
    if ((await pathHandle.names()).length === 0) return false;
    return (await this.#listing(pathHandle, trail.pathHandles.length - 1)).names.length === 0;
  }

  record(stat: BigIntStats, link?: { readonly target: string; readonly outside: boolean }): NodeRecord {
    const kind = stat.isDirectory() ? 'directory' : link === undefined ? 'file' : 'symlink';
    const meta = {
      mode: Number(stat.mode) & 0o7777,
      uid: Number(stat.uid),
      gid: Number(stat.gid),
      atime: Number(stat.atimeMs),
      mtime: Number(stat.mtimeMs),
      ctime: Number(stat.ctimeMs),
      birthtime: Number(stat.birthtimeMs),
    };
    const [id, version] = [this.ids.of(stat), versionOf(stat)];
    if (kind === 'directory') {
      // A disk neither counts the entries under a directory nor reports when one of them has changed.
      const directory = { listing: version, tree: UNKNOWN_VERSION, count: 0, totals: NOTHING, counted: false };
      return { id, kind, meta, version, size: 0, links: 1, directory };
    }
    const links = Number(stat.nlink);
    if (link === undefined) return { id, kind, meta, version, size: Number(stat.size), links };
    return { id, kind, meta, version, size: Buffer.byteLength(link.target), links, ...link };
  }

  /**
   * Returns undefined for sockets, pipes and devices, which count as missing, and for a link that was removed or
   * replaced just now.
   */
  #recordOf(stat: BigIntStats, parent: PathHandle | undefined, name: string, depth: number): NodeRecord | undefined {
    const kind = kindOf(stat);
    if (kind === 'special') return undefined;
    if (kind !== 'symlink' || parent === undefined) return this.record(stat);
    try {
      return this.record(stat, this.root.targetOf(parent, name, depth));
    } catch (error) {
      if (isCode(error, 'ENOENT', 'EINVAL')) return undefined;
      throw error;
    }
  }

  /** Lists the shown entries of a directory in the order of their names: at most `limit`, with names after `after`. */
  async #listing(
    directory: PathHandle,
    depth: number,
    signal?: AbortSignal,
    after?: string,
    limit = Number.POSITIVE_INFINITY,
  ): Promise<{ readonly names: string[]; readonly nodes: NodeRecord[]; readonly isComplete: boolean }> {
    const names: string[] = [];
    const nodes: NodeRecord[] = [];
    const found = (await directory.names())
      .filter((name) => (after === undefined || compareNames(name, after) > 0) && this.#isShown(name))
      .sort(compareNames);
    for (const name of found) {
      if (isTurnDue()) await nextTurn();
      signal?.throwIfAborted();
      const stat = directory.look(name);
      const record = stat && this.#recordOf(stat, directory, name, depth);
      if (record === undefined) continue;
      if (names.length >= limit) return { names, nodes, isComplete: false };
      names.push(name);
      nodes.push(record);
    }
    return { names, nodes, isComplete: true };
  }

  /**
   * Reports whether a name is shown. Hidden names and names that a filesystem cannot hold count as missing, and so do
   * names with U+FFFD, because Node decodes invalid UTF-8 to it.
   */
  #isShown(name: string): boolean {
    if (name.includes('\ufffd') || this.root.isHidden(name)) return false;
    try {
      checkName(name);
      return true;
    } catch (error) {
      if (isFsError(error)) return false;
      throw error;
    }
  }

  /** Lists a directory and, depth first as a walk needs it, the directories under it until the budget is used. */
  async #tree(
    top: PathHandle,
    depth: number,
    budget: number,
    withContents: boolean,
    signal?: AbortSignal,
  ): Promise<LoadResult> {
    const listings: Listing[] = [];
    let used = 0;
    const list = async (path: string, directory: PathHandle, level: number): Promise<void> => {
      const { names, nodes } = await this.#listing(directory, depth + level, signal);
      used += names.length * 160;
      const contents: (Uint8Array | undefined)[] = [];
      if (withContents) {
        for (const [i, record] of nodes.entries()) {
          if (record.kind !== 'file' || record.size > MAX_BYTES_READ_SYNC || used + record.size > budget) continue;
          if (isTurnDue()) await nextTurn();
          contents[i] = contentOf(directory, names[i] as string, record);
          used += contents[i]?.length ?? 0;
        }
      }
      listings.push({ path, names, nodes, ...(withContents && { contents }) });
      for (const [i, record] of nodes.entries()) {
        if (used >= budget || level === MAX_LEVELS) return;
        if (record.kind !== 'directory') continue;
        const name = names[i] as string;
        using child = openChild(directory, name, record.id, this.ids);
        if (child !== undefined) await list(path === '' ? name : `${path}/${name}`, child, level + 1);
      }
    };
    await list('', top, 0);
    return { kind: 'tree', directory: this.record(top.stat), listings };
  }
}

/** Maximum number of levels under a directory that one request loads. On each level one descriptor is held. */
const MAX_LEVELS = 64;

function openChild(parent: PathHandle, name: string, id: NodeId, ids: NodeIds): PathHandle | undefined {
  try {
    const pathHandle = parent.enter(name);
    if (pathHandle?.kind === 'directory' && ids.of(pathHandle.stat) === id) return pathHandle;
    pathHandle?.close();
    return undefined;
  } catch (error) {
    if (isCode(error, 'EACCES')) return undefined;
    throw error;
  }
}

function nameAt(path: string, depth: number): string {
  return depth === 0 ? '' : (path.split('/')[depth] as string);
}

/**
 * Returns a version of an entry, made of its times of change and, unless it is a directory, of its inode, size, mode
 * and number of names.
 */
export function versionOf(stat: BigIntStats): string {
  const { ino, size, mtimeNs, ctimeNs, nlink, mode } = stat;
  // A file that replaces another one within a tick of the clock may differ only by its inode.
  // `join` makes one flat string. A template makes a rope of 12 strings, which took half of the memory of a cached
  // record.
  return (stat.isDirectory() ? [mtimeNs, ctimeNs] : [ino, size, mtimeNs, ctimeNs, nlink, mode]).join(':');
}

/** Reads of up to this many bytes take no longer than finding the file, so they are synchronous. */
const MAX_BYTES_READ_SYNC = 2 ** 16;

const readAside = promisify(read);

async function readRange(pathHandle: PathHandle, offset: number, length: number): Promise<Uint8Array> {
  if (length === 0) return new Uint8Array();
  const file = openToRead(pathHandle);
  try {
    const bytes = new Uint8Array(length);
    let done = 0;
    while (done < length) {
      const read =
        length <= MAX_BYTES_READ_SYNC
          ? readSync(file, bytes, done, length - done, offset + done)
          : (await readAside(file, bytes, done, length - done, offset + done)).bytesRead;
      if (read === 0) break;
      done += read;
    }
    return bytes.subarray(0, done);
  } finally {
    closeSync(file);
  }
}

/** Reads a small file of a directory. Returns undefined if it is no longer what the record says, or cannot be read. */
function contentOf(directory: PathHandle, name: string, { size, version }: NodeRecord): Uint8Array | undefined {
  let file: number | undefined;
  try {
    file = openQuietly((flags) =>
      openSync(directory.child(name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | flags),
    );
    if (versionOf(fstatSync(file, { bigint: true })) !== version) return undefined;
    const bytes = new Uint8Array(size);
    let done = 0;
    for (let read = -1; read !== 0 && done < size; done += read) read = readSync(file, bytes, done, size - done, done);
    return done === size ? bytes : undefined;
  } catch {
    // The error concerns reads of the file itself, not listings.
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Opens a file for reading without changing its access time if the host allows that. */
function openToRead(pathHandle: PathHandle): number {
  return openQuietly((flags) => pathHandle.openToRead(flags));
}

function openQuietly(open: (flags: number) => number): number {
  try {
    return open(constants.O_NOATIME ?? 0);
  } catch (error) {
    if (!isCode(error, 'EPERM')) throw error;
    return open(0);
  }
}
