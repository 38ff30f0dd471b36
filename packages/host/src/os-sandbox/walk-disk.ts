import type { BigIntStats } from 'node:fs';
import { dirname } from 'node:path';
import { DirectoryHandle } from '../directory-handle.js';
import { isTurnDue, nextTurn } from '../event-loop.js';
import { isCode } from '../host-error.js';
import type { RawName } from '../path-handle.js';

export interface DiskEntry {
  /** Path relative to the start, without a leading slash. */
  readonly path: string;
  /** Bytes if the name is not UTF-8. */
  readonly name: RawName;
  readonly stat: BigIntStats;
  /** The directory that has the name. Open only during the call. */
  readonly above: DirectoryHandle;
}

export interface WalkDiskOptions {
  /** Path under the start to which the walk is limited. No link on the way is followed. Default: everything. */
  readonly within?: string | undefined;
  /** Enter also directories whose modes keep their owner out, after changing these modes. Default false. */
  readonly asOwner?: boolean | undefined;
  /** Called for a directory that the process may not read, which is not entered. Default: the walk fails with EACCES. */
  readonly onUnreadable?: ((path: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Calls `visit` for everything under a directory of the host, parents first. A directory is entered if `visit` returns
 * true. Links are not followed. Entries that disappear are left out; if the start does not exist, nothing is visited.
 */
export async function walkDisk(
  start: string,
  visit: (entry: DiskEntry) => boolean | Promise<boolean>,
  { within = '', asOwner = false, onUnreadable, signal }: WalkDiskOptions = {},
): Promise<void> {
  const frames: { directory: DirectoryHandle; prefix: string; names: RawName[] }[] = [];
  const enter = (path: string, open: () => DirectoryHandle): void => {
    let directory: DirectoryHandle | undefined;
    try {
      directory = open();
      // Reversed, so that `pop` returns the names in their order.
      frames.push({ directory, prefix: path === '' ? '' : `${path}/`, names: directory.names().reverse() });
    } catch (error) {
      directory?.[Symbol.dispose]();
      if (isGone(error)) return;
      if (onUnreadable === undefined || !isCode(error, 'EACCES')) throw error;
      onUnreadable(path);
    }
  };
  try {
    enter(within, () => descend(start, within, asOwner));
    for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
      const name = frame.names.pop();
      if (name === undefined) {
        frames.pop()?.directory[Symbol.dispose]();
        continue;
      }
      if (isTurnDue()) {
        await nextTurn();
        signal?.throwIfAborted();
      }
      const above = frame.directory;
      const stat = above.stat(name);
      if (stat === undefined) continue;
      const path = frame.prefix + String(name);
      const visited = visit({ path, name, stat, above });
      if (!(typeof visited === 'boolean' ? visited : await visited) || !stat.isDirectory()) continue;
      enter(path, () => (asOwner ? above.enterAsOwner(name) : above.enter(name)));
    }
  } finally {
    for (const { directory } of frames) directory[Symbol.dispose]();
  }
}

/** Opens directories under one of the host by their paths, without following links, and keeps the last one open. */
export class DirectoryCache implements Disposable {
  #path: string | undefined;
  #open: DirectoryHandle | undefined;

  constructor(
    readonly top: string,
    readonly asOwner = false,
  ) {}

  /**
   * Returns the directory that holds the entry at a path; undefined if something on the way is missing or is not a
   * directory.
   */
  above(path: string): DirectoryHandle | undefined {
    const directory = dirname(path);
    if (directory !== this.#path) {
      this[Symbol.dispose]();
      this.#open = unlessGone(() => descend(this.top, directory, this.asOwner));
      this.#path = directory;
    }
    return this.#open;
  }

  [Symbol.dispose](): void {
    this.#open?.[Symbol.dispose]();
    this.#open = undefined;
    this.#path = undefined;
  }
}

/**
 * Opens a directory under another one, without following links. @throws what `open` throws, such as ENOENT or ENOTDIR
 */
function descend(top: string, path: string, asOwner: boolean): DirectoryHandle {
  let at = DirectoryHandle.at(top);
  for (const name of path.split('/')) {
    if (name === '.' || name === '') continue;
    using above = at;
    at = asOwner ? above.enterAsOwner(name) : above.enter(name);
  }
  return at;
}

function unlessGone<T>(open: () => T): T | undefined {
  try {
    return open();
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

function isGone(error: unknown): boolean {
  return isCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP');
}
