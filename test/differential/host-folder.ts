import {
  closeSync,
  existsSync,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  type Stats,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { namesOf, parentOf } from './virtual-path.js';

/** Kinds of targets before an operation, as the coverage table names them. A path can have several. */
export const KINDS = [
  'missing',
  'missing-parent',
  'file',
  'hard-linked',
  'empty-directory',
  'full-directory',
  'link-to-file',
  'link-to-directory',
  'dangling-link',
  'link-loop',
  'through-file',
  'through-link',
  'root',
  'deep',
] as const;

export type Kind = (typeof KINDS)[number];

/** End of a path, found hop by hop; `..` in a link's target stops at the folder. */
export interface Place {
  /** The host path without links before the last name; with `follow`, without any link. */
  readonly physical: string;
  /**
   * True if a link on the path has a `..` that would leave the folder. The kernel then gets the physical path instead.
   */
  readonly climbed: boolean;
  /** True if the walk followed more than 40 links. */
  readonly loop: boolean;
}

/** The entry that a path leads to. */
export interface Look {
  /** The path resolved without following a link in its last name. */
  readonly plain: Place;
  /** Stats of `plain`; undefined if nothing exists there. */
  readonly stats: Stats | undefined;
  /** The path resolved with a link in its last name followed. */
  readonly end: Place;
}

/** Links that Linux follows on one path. */
const MAX_LINKS = 40;
/** Names from which a path counts as deep. */
const DEEP = 5;
/** Encodes `\` in a link's target: means `/` to the kernel, and no generated path contains it. */
const BACKSLASH = '/.//./';
/** Encodes a trailing slash: means nothing to the kernel at the start of a path. */
const END_SLASH = './//';

/** A fresh host directory that stands for the root of a filesystem. */
export class HostFolder {
  readonly root: string;
  /** A file beside the folder; only its change time matters. */
  readonly #clock: number;
  readonly #looks = new Map<string, Look>();
  readonly #seen = new Map<string, Stats | undefined>();

  constructor() {
    this.root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : realpathSync(tmpdir()), 'scratchfs-'));
    this.#clock = openSync(`${this.root}.clock`, 'w');
  }

  /**
   * Returns the host's file timestamp in ms; no later change gets an older one. It moves in ticks and may lag the
   * process clock by any number of them.
   */
  now(): number {
    fchmodSync(this.#clock, 0o600);
    return fstatSync(this.#clock).ctimeMs;
  }

  /** Returns the host path of a lexically resolved path. */
  toHost(path: string): string {
    return path === '/' ? this.root : this.root + path;
  }

  /** Returns the virtual path of a host path in this folder. */
  toVirtual(path: string): string {
    return path === this.root ? '/' : path.startsWith(`${this.root}/`) ? path.slice(this.root.length) : path;
  }

  /** Encodes a link target for the host: an absolute one leads into the folder, and trailing slashes mean nothing. */
  encodeTarget(target: string): string {
    const [, start = '', middle = '', end = ''] = /^([/\\]?)(.*?)(\/*)$/s.exec(target) ?? [];
    const slashes = middle === '' ? end : '';
    const marks = middle === '' ? '' : END_SLASH.repeat(end.length);
    return ((start === '' ? '' : this.root + start) + marks + middle + slashes).replaceAll('\\', BACKSLASH);
  }

  decodeTarget(target: string): string {
    const own = target === this.root || target.startsWith(`${this.root}/`) ? target.slice(this.root.length) : target;
    const text = own.replaceAll(BACKSLASH, '\\');
    const [, start = '', marks = '', rest = ''] = /^([/\\]?)((?:\.\/\/\/)*)(.*)$/s.exec(text) ?? [];
    return start + rest + '/'.repeat(marks.length / END_SLASH.length);
  }

  lstat(hostPath: string): Stats | undefined {
    try {
      return lstatSync(hostPath, { throwIfNoEntry: false });
    } catch {
      return undefined;
    }
  }

  /** Like `lstat`, cached until `forget`. */
  #see(hostPath: string): Stats | undefined {
    if (this.#seen.has(hostPath)) return this.#seen.get(hostPath);
    const stats = this.lstat(hostPath);
    this.#seen.set(hostPath, stats);
    return stats;
  }

  /** Walks a lexically resolved path, one name at a time. */
  locate(path: string, follow: boolean): Place {
    const rest = namesOf(path).reverse();
    const stack: string[] = [];
    let climbed = false;
    let links = 0;
    while (rest.length > 0) {
      const name = rest.pop() as string;
      if (name === '.') continue;
      if (name === '..') {
        if (stack.pop() === undefined) climbed = true;
        continue;
      }
      const here = this.#join(stack, name);
      const isLast = rest.length === 0;
      const stats = isLast && !follow ? undefined : this.#see(here);
      if (stats?.isSymbolicLink()) {
        if (++links > MAX_LINKS) return { physical: here, climbed, loop: true };
        const target = this.decodeTarget(readlinkSync(here));
        if (/^[/\\]/.test(target)) stack.length = 0;
        for (const part of target.split(/[/\\]/).reverse()) if (part !== '') rest.push(part);
        continue;
      }
      stack.push(name);
      if (stats?.isDirectory() || isLast) continue;
      // A missing name or a non-directory ends the walk; the names after it decide the kernel's error.
      return { physical: this.#join(stack, rest.reverse().join('/')), climbed, loop: false };
    }
    return { physical: stack.length === 0 ? this.root : `${this.root}/${stack.join('/')}`, climbed, loop: false };
  }

  /** Resolves a path both ways, cached until `forget`. */
  look(path: string): Look {
    let look = this.#looks.get(path);
    if (look === undefined) {
      const plain = this.locate(path, false);
      const stats = plain.loop ? undefined : this.#see(plain.physical);
      const end = stats?.isSymbolicLink() ? this.locate(path, true) : plain;
      look = { plain, stats, end };
      this.#looks.set(path, look);
    }
    return look;
  }

  /** Reports whether a directory contains links. */
  hasLinks(path: string): boolean {
    const { plain } = this.look(path);
    return readdirSync(plain.physical, { withFileTypes: true }).some((entry) => entry.isSymbolicLink());
  }

  /** Reports whether the parent directory of a path exists. */
  isInDirectory(path: string): boolean {
    const { end } = this.look(parentOf(path));
    return !end.loop && this.#see(end.physical)?.isDirectory() === true;
  }

  /** Reports whether the path, or a directory on it, is a dangling link. */
  isThroughDangling(path: string): boolean {
    if (path === '/') return false;
    const { stats, end } = this.look(path);
    const isDangling = stats?.isSymbolicLink() === true && !end.loop && this.#see(end.physical) === undefined;
    return isDangling || this.isThroughDangling(parentOf(path));
  }

  /** Clears the caches. Call it after each operation. */
  forget(): void {
    this.#looks.clear();
    this.#seen.clear();
  }

  /** Returns all kinds of a lexically resolved path, seen with and without following the last link. */
  kindsOf(path: string): Kind[] {
    if (path === '/') return ['root'];
    const { plain, stats, end } = this.look(path);
    const kinds: Kind[] = [];
    if (namesOf(path).length >= DEEP) kinds.push('deep');
    if (!plain.loop && plain.physical !== this.root + path) kinds.push('through-link');
    if (stats === undefined) {
      const parent = this.look(parentOf(path));
      const above = parent.end.loop ? undefined : this.#see(parent.end.physical);
      if (above?.isDirectory()) kinds.push('missing');
      else if (above !== undefined || this.#isThroughFile(parent.end.physical)) kinds.push('through-file');
      else kinds.push('missing-parent');
    } else if (stats.isDirectory()) {
      kinds.push(readdirSync(plain.physical).length === 0 ? 'empty-directory' : 'full-directory');
    } else if (stats.isSymbolicLink()) {
      const target = end.loop ? undefined : this.#see(end.physical);
      if (end.loop) kinds.push('link-loop');
      else if (target === undefined) kinds.push('dangling-link');
      else kinds.push(target.isDirectory() ? 'link-to-directory' : 'link-to-file');
    } else {
      kinds.push('file');
      if (stats.nlink > 1) kinds.push('hard-linked');
    }
    return kinds;
  }

  remove(): void {
    closeSync(this.#clock);
    rmSync(`${this.root}.clock`);
    rmSync(this.root, { recursive: true, force: true });
  }

  #join(stack: readonly string[], name: string): string {
    return [this.root, ...stack, name].join('/');
  }

  #isThroughFile(hostPath: string): boolean {
    for (let at = hostPath; at.length > this.root.length; at = at.slice(0, at.lastIndexOf('/'))) {
      const stats = this.#see(at);
      if (stats !== undefined) return !stats.isDirectory();
    }
    return false;
  }
}
