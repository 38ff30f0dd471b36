import { baseName } from '@scratchfs/core';
import { directoriesAbove, directoryOf } from './tree-path.js';

/**
 * Reason for which renames of a directory's files are needed: `none`; `ancestor`, because an ancestor may have moved;
 * `self`, because the directory itself may have moved.
 */
export type Relevance = 'none' | 'ancestor' | 'self';

/**
 * Detects directory renames by the file renames of one side. The most frequent target wins, as in git's merge
 * (Documentation/technical/directory-rename-detection.txt).
 */
export class DirectoryRenames {
  readonly #counts = new Map<string, Map<string, number>>();

  /** @param removed directories that the side does not have, by relevance; updated when a directory is decided */
  constructor(readonly removed: Map<string, Relevance>) {}

  /**
   * Records a file rename: a vote on the new place of the file's directory, if that is among the removed ones, and of
   * its ancestors marked `self`, as long as the names of the directories in between stay the same.
   */
  record(from: string, to: string): void {
    let [old, now] = [from, to];
    for (let isFile = true; ; isFile = false) {
      const [above, nowAbove] = [directoryOf(old), directoryOf(now)];
      const relevance = this.removed.get(above);
      if (relevance === undefined) return;
      if (!isFile && baseName(old) !== baseName(now)) return;
      if (relevance === 'self' || isFile) this.#increment(above, nowAbove);
      if (relevance === 'none' || above === '' || nowAbove === '') return;
      [old, now] = [above, nowAbove];
    }
  }

  /** Returns the most frequent target of a directory so far. */
  guess(directory: string): string | undefined {
    let best: string | undefined;
    let most = 0;
    for (const [target, count] of this.#counts.get(directory) ?? []) if (count > most) [best, most] = [target, count];
    return best;
  }

  /**
   * Decides directories whose result no further rename can change.
   * @param open removed files that are not paired yet
   */
  decideEarly(open: readonly string[]): void {
    const unknown = new Map<string, number>();
    for (const path of open)
      for (let at = directoryOf(path); at !== '' && this.#matters(at); at = directoryOf(at))
        unknown.set(at, (unknown.get(at) ?? 0) + 1);
    for (const [directory, targets] of this.#counts) {
      if (this.removed.get(directory) !== 'self') continue;
      const [first = 0, second = 0] = [...targets.values()].sort((a, b) => b - a);
      if (first > second + (unknown.get(directory) ?? 0)) this.removed.set(directory, 'ancestor');
    }
  }

  /** Reports whether a rename of this file can still decide a directory above it. */
  isOpen(path: string): boolean {
    for (let at = directoryOf(path); this.#matters(at); at = directoryOf(at)) {
      if (this.removed.get(at) === 'self') return true;
      if (at === '') return false;
    }
    return false;
  }

  /**
   * Returns the new path of each renamed directory, and the directories of which several targets are equally the most
   * frequent.
   */
  decide(): { readonly renames: Map<string, string>; readonly split: string[] } {
    const renames = new Map<string, string>();
    const split: string[] = [];
    for (const [directory, targets] of this.#counts) {
      if (!this.#matters(directory)) continue;
      const most = Math.max(...targets.values());
      const best = [...targets].filter(([, count]) => count === most);
      if (best.length > 1) split.push(directory);
      else renames.set(directory, best[0]?.[0] as string);
    }
    return { renames, split };
  }

  #matters(directory: string): boolean {
    return (this.removed.get(directory) ?? 'none') !== 'none';
  }

  #increment(from: string, to: string): void {
    let targets = this.#counts.get(from);
    if (targets === undefined) this.#counts.set(from, (targets = new Map()));
    targets.set(to, (targets.get(to) ?? 0) + 1);
  }
}

/**
 * Returns where a path goes with the innermost renamed directory above it, and the new path of that directory.
 * Undefined if no directory above it was renamed.
 */
export function movedWith(
  renames: ReadonlyMap<string, string>,
  path: string,
): { readonly directory: string; readonly path: string } | undefined {
  for (const at of directoriesAbove(path)) {
    const directory = renames.get(at);
    if (directory !== undefined)
      return { directory, path: directory === '' ? path.slice(at.length + 1) : directory + path.slice(at.length) };
  }
  return undefined;
}
