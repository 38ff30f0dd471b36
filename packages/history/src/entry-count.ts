import { HistoryError } from './errors.js';

/** Default maximum number of entries of one version. */
export const DEFAULT_MAX_ENTRIES = 1_000_000;

/** Characters of a path after which its entry counts once more, so that long paths are bounded too. */
const PATH_CHARACTERS_PER_ENTRY = 256;

/**
 * Counts the entries that one walk over trees finds, directories included. A few small trees, each of which contains
 * the next several times, can describe more entries than any memory holds.
 */
export class EntryCount {
  #found = 0;

  constructor(readonly allowed: number) {}

  /**
   * Adds entries of one directory, before it is entered, or a single entry.
   * @param pathLength length of the directory's path, or of the single entry's own
   * @throws HistoryError `too-large`
   */
  add(entries: number, pathLength: number): void {
    this.#found += entries * (1 + Math.floor(pathLength / PATH_CHARACTERS_PER_ENTRY));
    if (this.#found <= this.allowed) return;
    throw new HistoryError(
      'too-large',
      `More than ${this.allowed} files and directories are to be listed. The limit is maxEntries: raise it if the version is meant to be this large`,
    );
  }
}
