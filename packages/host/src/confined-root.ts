import { closeSync, constants, openSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FsError, pathSegments } from '@scratchfs/core';
import { isDotGit } from '@scratchfs/history';
import { Anchor, HAS_DESCRIPTOR_PATHS } from './anchor.js';
import { isCode } from './host-error.js';

/** What was found on the way along a path: every anchor from the root on, held; the last name may be missing. */
export class Trail implements Disposable {
  readonly #anchors: Anchor[];
  #names: readonly string[] = [];

  /**
   * @param top where paths begin; let go of with the trail
   * @param isHidden reports for a name whether it counts as missing
   */
  constructor(
    top: Anchor,
    readonly isHidden: (name: string) => boolean,
  ) {
    this.#anchors = [top];
  }

  get anchors(): readonly Anchor[] {
    return this.#anchors;
  }

  /** The furthest that was found. */
  get last(): Anchor {
    return this.#anchors.at(-1) as Anchor;
  }

  /** Whether every name of the path was there. */
  get complete(): boolean {
    return this.#anchors.length === this.#names.length + 1;
  }

  /**
   * Goes to another normalized path, from the last directory that both have. Stops at a link, a file or a name that is
   * missing. @throws what the host throws
   */
  goTo(path: string): void {
    const names = pathSegments(path);
    const shared = names.findIndex((name, i) => name !== this.#names[i]);
    const held = shared < 0 ? names.length : shared;
    while (this.#anchors.length > held + 1) this.#anchors.pop()?.close();
    this.#names = names;
    while (!this.complete && this.last.kind === 'directory') {
      const next = this.#childOf(this.last, names[this.#anchors.length - 1] as string);
      if (next === undefined) return;
      this.#anchors.push(next);
    }
  }

  [Symbol.dispose](): void {
    for (const anchor of this.#anchors) anchor.close();
  }

  #childOf(directory: Anchor, name: string): Anchor | undefined {
    if (this.isHidden(name)) return undefined;
    try {
      return Anchor.at(directory.child(name));
    } catch (error) {
      if (isCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
      throw error;
    }
  }
}

/**
 * A directory of the host from which no name leads out: paths are walked one component at a time beneath held
 * descriptors, and links are never followed here. Whatever another process swaps meanwhile, what is reached lay beneath
 * the root when it was reached.
 */
export class ConfinedRoot {
  /** The canonical path of the root on the host. */
  readonly hostPath: string;
  readonly #anchorPath: string;
  readonly #descriptor: number | undefined;

  /**
   * @param hidesGit whether names that a disk reads as `.git` count as missing
   * @throws what `realpath` throws where the directory does not exist, Error where it is none
   */
  constructor(
    directory: string,
    readonly hidesGit = false,
  ) {
    this.hostPath = realpathSync(directory);
    if (!statSync(this.hostPath).isDirectory()) throw new FsError('ENOTDIR', { syscall: 'open', path: '/' });
    // Held for good, so that a root that is moved away is still the same directory.
    const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
    this.#descriptor = HAS_DESCRIPTOR_PATHS ? openSync(this.hostPath, flags) : undefined;
    this.#anchorPath = this.#descriptor === undefined ? this.hostPath : `/proc/self/fd/${this.#descriptor}/.`;
  }

  /** Where the root is found, whatever becomes of its name. */
  get path(): string {
    return this.#anchorPath;
  }

  child(name: string): string {
    return join(this.#anchorPath, name);
  }

  /** Reports whether a name counts as missing wherever it stands. */
  isHidden(name: string): boolean {
    return name.startsWith(TEMPORARY) || (this.hidesGit && isDotGit(name));
  }

  /** Returns the path of the root on the host as it is now: the directory may have been moved since it was opened. */
  currentHostPath(): string {
    return this.#descriptor === undefined ? this.hostPath : readlinkSync(`/proc/self/fd/${this.#descriptor}`);
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
  }

  /** Walks a normalized path. Stops at a link, a file or a name that is missing. @throws what the host throws */
  walk(path: string): Trail {
    const top = this.#descriptor === undefined ? Anchor.at(this.hostPath) : Anchor.of(this.#descriptor);
    const trail = new Trail(top, (name) => this.isHidden(name));
    try {
      trail.goTo(path);
      return trail;
    } catch (error) {
      trail[Symbol.dispose]();
      throw error;
    }
  }

  /**
   * The text of a link as it means inside, and whether it leads out. Absolute ones inside the root are turned into paths of
   * the filesystem; of others the text stays.
   * @param depth names on the way to the directory in which the link lies
   */
  targetOf(parent: Anchor, name: string, depth: number): { readonly target: string; readonly outside: boolean } {
    const text = parent.readLink(name);
    if (text.startsWith('/')) {
      const inside = text === this.hostPath || text.startsWith(`${this.hostPath}/`);
      const target = text.slice(this.hostPath.length) || '/';
      return inside && !climbs(target, 0) ? { target, outside: false } : { target: text, outside: true };
    }
    return { target: text, outside: climbs(text, depth) };
  }
}

/** Whether a path goes up above where it may, from a directory so many levels beneath the root. */
export function climbs(path: string, depth: number): boolean {
  let level = depth;
  for (const name of path.split(/[/\\]/)) {
    if (name === '' || name === '.') continue;
    level += name === '..' ? -1 : 1;
    if (level < 0) return true;
  }
  return false;
}

/** How many directories of the root are around a name: so many `..` of a link that lies there lead to the root. */
export function levelOf(path: string): number {
  return pathSegments(path).length - 1;
}

/** How names begin that are given to what is not finished: such names are not there for anybody. */
export const TEMPORARY = '.scratchfs-tmp-';
