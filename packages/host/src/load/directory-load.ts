import { closeSync, fstatSync, read, readSync } from 'node:fs';
import { promisify } from 'node:util';
import {
  checkName,
  compareNames,
  type EntryKind,
  FsError,
  isFsError,
  MAX_DEPTH,
  MAX_PATH_BYTES,
} from '@scratchfs/core';
import { isDotGit } from '@scratchfs/history/internal';
import type { ConfinedRoot } from '../confined-root.js';
import { isTurnDue, nextTurn } from '../event-loop.js';
import { hostError, isCode } from '../host-error.js';
import type { PathHandle } from '../path-handle.js';

/**
 * Reason for which a path was not loaded. `ignored`: by `ignore` or `gitignore`, a directory with everything in it;
 * `git`: a name that a disk reads as `.git`; `name`: a name that a filesystem cannot hold, such as one that is not
 * UTF-8, or a path that is too long or too deep; `special`: a pipe, a socket or a device; `unreadable`: a file that the
 * process may not read, or a directory, which is then loaded without its entries.
 */
export type LeftOutReason = 'ignored' | 'git' | 'name' | 'special' | 'unreadable';

/** Number of paths left out for each reason, and the first ones, at most 20. */
export type LeftOut = Readonly<Record<LeftOutReason, { readonly count: number; readonly first: readonly string[] }>>;

const MAX_FIRST = 20;

/** An entry as `setMany` takes it. */
export interface LoadedEntry {
  readonly path: string;
  readonly kind: EntryKind;
  readonly mode: number;
  readonly modifiedAt: number;
  readonly content?: Uint8Array;
  readonly target?: string;
}

export interface DirectoryLoadOptions {
  /** Reports whether a pattern of the caller matches a path relative to the root. */
  readonly isMatched: (path: string, isDirectory: boolean) => boolean;
  /**
   * Returns a predicate of the paths under a directory of the host that git ignores; undefined if the rules of the
   * directory around it stay in force. Called for the root and for each repository in it. If the option is undefined,
   * git's rules do not count.
   */
  readonly ignoredAt: ((place: string, isTop: boolean) => Promise<((path: string) => boolean) | undefined>) | undefined;
  readonly maxEntries: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal | undefined;
}

/** A directory whose names are being loaded. */
interface Frame {
  readonly handle: PathHandle;
  /** Path relative to the root, with `/` at its end; empty for the root. */
  readonly prefix: string;
  readonly names: readonly string[];
  at: number;
  /** Reports whether git ignores a path relative to the root. */
  readonly isIgnored: (path: string) => boolean;
}

/** Reads the entries under a root, parents first, and counts those that are loaded and those left out. */
export class DirectoryLoad {
  files = 0;
  directories = 0;
  symlinks = 0;
  bytes = 0;
  readonly #leftOut = leftOutLists();

  constructor(
    readonly root: ConfinedRoot,
    readonly options: DirectoryLoadOptions,
  ) {}

  get leftOut(): LeftOut {
    return this.#leftOut;
  }

  async *entries(): AsyncGenerator<LoadedEntry> {
    using trail = this.root.walk('/');
    const frames = [await this.#frame(trail.last, '', () => false)];
    try {
      for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
        const name = frame.names[frame.at++];
        if (name === undefined) {
          frames.pop();
          if (frame.handle !== trail.last) frame.handle.close();
          continue;
        }
        if (isTurnDue()) await nextTurn();
        this.options.signal?.throwIfAborted();
        const path = frame.prefix + name;
        if (!this.#isNamed(name, path, frames.length)) continue;
        let handle: PathHandle | undefined;
        try {
          handle = frame.handle.enter(name);
          if (handle === undefined) continue;
          const entry = await this.#entry(frame, name, path, handle);
          if (entry === undefined) continue;
          yield entry;
          if (entry.kind !== 'directory') continue;
          frames.push(await this.#frame(handle, `${path}/`, frame.isIgnored));
          // The handle is closed with its frame.
          handle = undefined;
        } catch (error) {
          if (isCode(error, 'ENOENT', 'ESTALE')) continue;
          if (!isCode(error, 'EACCES', 'EPERM')) throw hostError(error, 'open', `/${path}`);
          this.#leaveOut('unreadable', path);
        } finally {
          handle?.close();
        }
      }
    } finally {
      for (const { handle } of frames) if (handle !== trail.last) handle.close();
    }
  }

  async #frame(handle: PathHandle, prefix: string, inherited: Frame['isIgnored']): Promise<Frame> {
    const names = (await handle.names()).sort(compareNames);
    const { ignoredAt } = this.options;
    let isIgnored = inherited;
    // A repository has rules of its own, and the one around it does not look into it.
    if (ignoredAt !== undefined && (prefix === '' || names.includes('.git'))) {
      const isIgnoredHere = await ignoredAt(`${this.root.currentHostPath()}/${prefix}`, prefix === '');
      if (isIgnoredHere !== undefined) isIgnored = (path) => isIgnoredHere(path.slice(prefix.length));
    }
    return { handle, prefix, names, at: 0, isIgnored };
  }

  #isNamed(name: string, path: string, depth: number): boolean {
    if (this.root.isHidden(name)) return false;
    if (isDotGit(name)) return this.#leaveOut('git', path);
    if (name.includes('\ufffd') || depth > MAX_DEPTH || Buffer.byteLength(path) >= MAX_PATH_BYTES)
      return this.#leaveOut('name', path);
    try {
      checkName(name);
      return true;
    } catch (error) {
      if (!isFsError(error)) throw error;
      return this.#leaveOut('name', path);
    }
  }

  #leaveOut(reason: LeftOutReason, path: string): false {
    const list = this.#leftOut[reason];
    list.count += 1;
    if (list.first.length < MAX_FIRST) list.first.push(`/${path}`);
    return false;
  }

  /** Returns an entry without what is under it; undefined if it is ignored or a special file. */
  async #entry(frame: Frame, name: string, path: string, handle: PathHandle): Promise<LoadedEntry | undefined> {
    const { kind, stat } = handle;
    const isDirectory = kind === 'directory';
    if (this.options.isMatched(path, isDirectory) || frame.isIgnored(path)) return void this.#leaveOut('ignored', path);
    if (kind === 'special') return void this.#leaveOut('special', path);
    const entry = { path: `/${path}`, kind, mode: Number(stat.mode) & 0o7777, modifiedAt: Number(stat.mtimeMs) };
    if (kind === 'file') {
      const content = await this.#contentOf(handle, path);
      this.#count(1, content.length);
      this.files += 1;
      return { ...entry, content };
    }
    this.#count(1, 0);
    if (isDirectory) this.directories += 1;
    else this.symlinks += 1;
    if (isDirectory) return entry;
    return { ...entry, target: this.root.targetOf(frame.handle, name, frame.prefix.split('/').length - 1).target };
  }

  #count(entries: number, bytes: number): void {
    const { maxEntries, maxBytes } = this.options;
    if (this.files + this.directories + this.symlinks + entries > maxEntries) throw tooMuch('maxEntries', maxEntries);
    this.#checkBytes(bytes, maxBytes);
    this.bytes += bytes;
  }

  #checkBytes(bytes: number, maxBytes: number): void {
    if (this.bytes + bytes > maxBytes) throw tooMuch('maxBytes', maxBytes);
  }

  async #contentOf(handle: PathHandle, path: string): Promise<Uint8Array> {
    if (handle.stat.size === 0n) return new Uint8Array();
    const file = handle.openToRead(0);
    try {
      const size = Number(fstatSync(file).size);
      this.#checkBytes(size, this.options.maxBytes);
      const bytes = new Uint8Array(size);
      let done = 0;
      while (done < size) {
        this.options.signal?.throwIfAborted();
        const length = Math.min(size - done, MAX_READ_BYTES);
        const count =
          size <= MAX_BYTES_READ_SYNC
            ? readSync(file, bytes, done, length, done)
            : (await readAside(file, bytes, done, length, done)).bytesRead;
        if (count === 0) break;
        done += count;
      }
      return bytes.subarray(0, done);
    } catch (error) {
      throw isFsError(error) ? error : hostError(error, 'read', `/${path}`);
    } finally {
      closeSync(file);
    }
  }
}

/** Files of up to this many bytes are read synchronously, which takes no longer than finding them. */
const MAX_BYTES_READ_SYNC = 2 ** 16;
const MAX_READ_BYTES = 2 ** 24;
const readAside = promisify(read);

function leftOutLists(): Record<LeftOutReason, { count: number; first: string[] }> {
  const none = () => ({ count: 0, first: [] });
  return { ignored: none(), git: none(), name: none(), special: none(), unreadable: none() };
}

function tooMuch(limit: 'maxEntries' | 'maxBytes', allowed: number): FsError {
  const hint = `The directory has more than ${limit} allows: raise it, or leave files out with ignore or gitignore`;
  return new FsError('EFBIG', { syscall: 'load', path: '/', hint, limit, allowed });
}
