import type { Stats } from '../entry.js';
import { type FsErrorCode, isFsError } from '../errors.js';
import type { FileSystem } from '../file-system.js';
import { joinPath, MAX_LINK_HOPS, parentPath } from '../paths.js';
import { type CallSequence, invoke } from './call-sequence.js';

/**
 * A position in a path that is walked name by name and link by link, over filesystems that are known only by their
 * methods. The caller looks at each name and decides whether to enter it, to follow it as a link, or to stop.
 */
export class PathWalk {
  /** Path reached so far, without links. */
  at = '/';
  /** Names after the current one, last one first. They may be `.` and `..`. */
  readonly rest: string[];
  /** True if the current name, and not only those before it, comes from the target of a link. */
  isInLink = false;
  #hops = 0;
  /** Number of names in `rest` from the path itself. Names from link targets are at the end of `rest`. */
  #own: number;

  constructor(path: string) {
    this.rest = namesOf(path);
    this.#own = this.rest.length;
  }

  get isLast(): boolean {
    return this.rest.length === 0;
  }

  /** Moves to the next name and returns its path, or undefined at the end. Each `..` on the way moves `at` up. */
  next(): string | undefined {
    for (let name = this.rest.pop(); name !== undefined; name = this.rest.pop()) {
      this.isInLink = this.rest.length >= this.#own;
      this.#own = Math.min(this.#own, this.rest.length);
      if (name === '..') this.at = parentPath(this.at);
      else if (name !== '.') return joinPath(this.at, name);
    }
    return undefined;
  }

  /** Counts a link that the caller is about to follow. Returns false if there were too many. */
  hop(): boolean {
    return ++this.#hops <= MAX_LINK_HOPS;
  }

  /** Continues at the target of a link in `at`. */
  follow(target: string): void {
    if (target[0] === '/' || target[0] === '\\') this.at = '/';
    for (const name of namesOf(target)) this.rest.push(name);
  }
}

/** Returns the names of a path, last one first. */
function namesOf(path: string): string[] {
  return path
    .split(/[/\\]/)
    .filter((name) => name !== '')
    .reverse();
}

/** Returns the stats at a path, or the code of the error if the path leads nowhere. */
export function* lookAt(fileSystem: FileSystem, path: string): CallSequence<Stats | FsErrorCode> {
  try {
    return yield* invoke<Stats>(fileSystem, 'lstat', [path]);
  } catch (error) {
    if (isFsError(error) && LEADS_NOWHERE.has(error.code)) return error.code;
    throw error;
  }
}

const LEADS_NOWHERE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EINVAL']);
