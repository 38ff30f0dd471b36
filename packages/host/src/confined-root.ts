import { closeSync, constants, openSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FsError, joinPath, pathSegments } from '@scratchfs/core';
import { isDotGit } from '@scratchfs/history/internal';
import { isCode } from './host-error.js';
import { namesIn, spellingIn } from './names-in.js';
import { HAS_DESCRIPTOR_PATHS, PathHandle } from './path-handle.js';

/** Longest name that a disk takes. A name may be longer in the other case. */
const MAX_NAME_BYTES = 255;

/** Handles of the entries along a path, from the root to where the walk stopped. */
export class Trail implements Disposable {
  readonly #pathHandles: PathHandle[];
  #names: readonly string[] = [];

  /**
   * @param top handle at which paths begin; closed with the trail
   * @param root has the rules by which names count as missing
   */
  constructor(
    top: PathHandle,
    readonly root: ConfinedRoot,
  ) {
    this.#pathHandles = [top];
  }

  get pathHandles(): readonly PathHandle[] {
    return this.#pathHandles;
  }

  /** Handle of the last entry that the walk reached. */
  get last(): PathHandle {
    return this.#pathHandles.at(-1) as PathHandle;
  }

  /** True if the walk reached the end of the path. */
  get complete(): boolean {
    return this.#pathHandles.length === this.#names.length + 1;
  }

  /**
   * Walks to another normalized path, starting at the deepest entry that both paths share. Stops at a missing or hidden
   * name, or at an entry that is not a directory. @throws what the host throws
   */
  goTo(path: string): void {
    const names = pathSegments(path);
    const shared = names.findIndex((name, i) => name !== this.#names[i]);
    const held = shared < 0 ? names.length : shared;
    while (this.#pathHandles.length > held + 1) this.#pathHandles.pop()?.close();
    this.#names = names;
    while (!this.complete && this.last.kind === 'directory') {
      const next = this.#childOf(this.last, names[this.#pathHandles.length - 1] as string);
      if (next === undefined) return;
      this.#pathHandles.push(next);
    }
  }

  /**
   * If the walk stopped at a name that the disk has in another case, returns the path up to that name as it was walked
   * and as the disk spells it.
   */
  otherSpelling(): { readonly path: string; readonly onDisk: string } | undefined {
    const name = this.#names[this.#pathHandles.length - 1];
    const { last } = this;
    if (name === undefined || last.kind !== 'directory' || this.root.isHidden(name) || last.look(name) === undefined)
      return undefined;
    const onDisk = spellingIn(last.path, name);
    const parent = `/${this.#names.slice(0, this.#pathHandles.length - 1).join('/')}`;
    return onDisk === undefined ? undefined : { path: joinPath(parent, name), onDisk: joinPath(parent, onDisk) };
  }

  [Symbol.dispose](): void {
    for (const pathHandle of this.#pathHandles) pathHandle.close();
  }

  #childOf(directory: PathHandle, name: string): PathHandle | undefined {
    if (this.root.isHidden(name) || !this.root.hasSpelling(directory, name)) return undefined;
    try {
      return PathHandle.at(directory.child(name));
    } catch (error) {
      if (isCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
      throw error;
    }
  }
}

/**
 * A directory of the host that no path can leave. Paths are walked one component at a time under held descriptors,
 * without following links. On Linux, whatever another process swaps concurrently, every entry lay under the root when
 * it was reached; see {@link HAS_DESCRIPTOR_PATHS}.
 */
export class ConfinedRoot {
  /** Canonical path of the root on the host when it was opened. */
  readonly hostPath: string;
  readonly #rootPath: string;
  readonly #descriptor: number | undefined;
  /** Devices that tell names apart by case. */
  readonly #sensitiveDevices = new Set<bigint>();

  /**
   * @param hidesGit if true, names that a disk reads as `.git` count as missing
   * @param isExact if true, names that the disk has in another case count as missing
   * @throws what the host throws, such as ENOENT; FsError ENOTDIR if it is not a directory
   */
  constructor(
    directory: string,
    readonly hidesGit = false,
    readonly isExact = false,
  ) {
    this.hostPath = realpathSync(directory);
    if (!statSync(this.hostPath).isDirectory()) throw new FsError('ENOTDIR', { syscall: 'open', path: '/' });
    // Held until `close`, so that the root stays the same directory after it is moved.
    const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
    this.#descriptor = HAS_DESCRIPTOR_PATHS ? openSync(this.hostPath, flags) : undefined;
    this.#rootPath = this.#descriptor === undefined ? this.hostPath : `/proc/self/fd/${this.#descriptor}/.`;
  }

  /** A path to the root that stays valid if the root is renamed (Linux). */
  get path(): string {
    return this.#rootPath;
  }

  child(name: string): string {
    return join(this.#rootPath, name);
  }

  /** Reports whether entries of this name count as missing, in whatever directory they are. */
  isHidden(name: string): boolean {
    return name.startsWith(TEMPORARY) || (this.hidesGit && isDotGit(name));
  }

  /**
   * Returns false if `isExact` is set and a directory has a name in another case only. If an existing name with ASCII
   * letters cannot be found in another case, its device counts as one that tells names apart by case, and is not asked
   * again. A directory on it that is set to ignore case is then not noticed. On other devices each name that is found
   * costs a listing.
   */
  hasSpelling(directory: PathHandle, name: string): boolean {
    const { dev } = directory.stat;
    if (!this.isExact || this.#sensitiveDevices.has(dev)) return true;
    const inAscii = name.replace(/[a-z]/gi, inOtherCase);
    const other = inAscii === name ? inOtherCase(name) : inAscii;
    if (other === name || Buffer.byteLength(other) > MAX_NAME_BYTES) return true;
    if (directory.look(name) === undefined) return true;
    if (directory.look(other) !== undefined) return namesIn(directory.path).includes(name);
    // Disks that ignore the case of ASCII letters may not know that of others. `name` is looked at before and after
    // `other`, because another process may create or remove the entry.
    if (inAscii !== name && directory.look(name) !== undefined) this.#sensitiveDevices.add(dev);
    return true;
  }

  /**
   * Returns the current path of the root on the host: the directory may have been moved since it was opened. On
   * platforms other than Linux, returns the path at which it was opened.
   */
  currentHostPath(): string {
    return this.#descriptor === undefined ? this.hostPath : readlinkSync(`/proc/self/fd/${this.#descriptor}`);
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
  }

  /** Walks a normalized path as far as {@link Trail.goTo} does. @throws what the host throws */
  walk(path: string): Trail {
    const top = this.#descriptor === undefined ? PathHandle.at(this.hostPath) : PathHandle.of(this.#descriptor);
    const trail = new Trail(top, this);
    try {
      trail.goTo(path);
      return trail;
    } catch (error) {
      trail[Symbol.dispose]();
      throw error;
    }
  }

  /**
   * Returns the target of a link as a path of this filesystem, and reports whether it leads out. An absolute target
   * inside the root becomes a path of the filesystem; any other target stays as it is.
   * @param depth number of names on the way to the directory that holds the link
   */
  targetOf(parent: PathHandle, name: string, depth: number): { readonly target: string; readonly outside: boolean } {
    return this.translated(parent.readLink(name), depth);
  }

  /** Like {@link targetOf}, for the text of a link. */
  translated(text: string, depth: number): { readonly target: string; readonly outside: boolean } {
    if (text.startsWith('/')) {
      const inside = text === this.hostPath || text.startsWith(`${this.hostPath}/`);
      const target = text.slice(this.hostPath.length) || '/';
      return inside && !climbs(target, 0) ? { target, outside: false } : { target: text, outside: true };
    }
    return { target: text, outside: climbs(text, depth) };
  }
}

function inOtherCase(text: string): string {
  const lower = text.toLowerCase();
  return lower === text ? text.toUpperCase() : lower;
}

/** Reports whether a relative path climbs above the root from a directory `depth` levels under it. */
export function climbs(path: string, depth: number): boolean {
  let level = depth;
  for (const name of path.split(/[/\\]/)) {
    if (name === '' || name === '.') continue;
    level += name === '..' ? -1 : 1;
    if (level < 0) return true;
  }
  return false;
}

/** Returns the number of directories between a name and the root: that many `..` in a link there lead to the root. */
export function levelOf(path: string): number {
  return pathSegments(path).length - 1;
}

/**
 * Prefix of the names of staging directories and of the journal of `applyChanges`. The filesystem treats such names as
 * missing.
 */
export const TEMPORARY = '.scratchfs-tmp-';
