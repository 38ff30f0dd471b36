import type { BigIntStats } from 'node:fs';
import { isWithin } from '@scratchfs/core';
import type { ConfinedRoot } from './confined-root.js';
import { inodeKey } from './node-ids.js';

/** Maximum number of files whose names are remembered. A forgotten file counts as one with names outside the root. */
const MAX_REMEMBERED_FILES = 100_000;

/**
 * The names of files with several hard links, as far as this filesystem has created them. A disk does not tell where
 * the other names of a file are, so a link made by another program may lie outside the root.
 */
export class KnownNames {
  readonly #pathsByFile = new Map<string, Set<string>>();

  constructor(readonly root: ConfinedRoot) {}

  /** Remembers that a file has been given the name `to` in addition to `from`. */
  linked(file: BigIntStats, from: string, to: string): void {
    const key = inodeKey(file);
    const paths = this.#pathsByFile.get(key) ?? new Set();
    this.#pathsByFile.delete(key);
    this.#pathsByFile.set(key, paths.add(from).add(to));
    for (const oldest of this.#pathsByFile.keys()) {
      if (this.#pathsByFile.size <= MAX_REMEMBERED_FILES) break;
      this.#pathsByFile.delete(oldest);
    }
  }

  /** Follows a rename of a file, or of a directory with everything in it. */
  moved(from: string, to: string): void {
    for (const paths of this.#pathsByFile.values()) {
      for (const path of [...paths]) {
        if (!isWithin(path, from)) continue;
        paths.delete(path);
        paths.add(to + path.slice(from.length));
      }
    }
  }

  /**
   * Reports whether all current names of a file are known: it has only one, or as many remembered paths lead to it as
   * it has links. Looks up each of these paths.
   */
  areAll(file: BigIntStats): boolean {
    if (file.nlink <= 1n) return true;
    const key = inodeKey(file);
    const paths = this.#pathsByFile.get(key) ?? new Set();
    for (const path of paths) {
      using trail = this.root.walk(path);
      if (!trail.complete || inodeKey(trail.last.stat) !== key) paths.delete(path);
    }
    if (paths.size === 0) this.#pathsByFile.delete(key);
    return BigInt(paths.size) === file.nlink;
  }
}
