import { type BigIntStats, lstatSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { pathSegments, systemClock } from '@scratchfs/core';
import type { IgnoreFacts } from '@scratchfs/host/internal';
import { gitDirectoryAt } from '../branch.js';
import { IgnoreFile } from './ignore-file.js';

/** Maximum size of a file of rules in bytes. A larger one counts as empty. */
const MAX_FILE_BYTES = 16 * 2 ** 20;
/** Time in milliseconds after a change of a file within which it may change again without a change of its times. */
const RACY_MS = 2_000;
const MAX_CACHED_FILES = 10_000;

interface CachedFile {
  readonly version: string;
  readonly rules: IgnoreFile | undefined;
}

/**
 * Finds the directories that git ignores, by the rule files that the disk has now. Those of an attempt do not count.
 * Rules are evaluated only along the given path, and a file is read again when its stat has changed.
 */
export class IgnoredDirectories {
  readonly #directory: string;
  readonly #sources: IgnoreFacts;
  /** Names from the top of the work tree to the directory. */
  readonly #above: readonly string[];
  readonly #files = new Map<string, CachedFile>();

  /** @param directory real path of the workspace */
  constructor(directory: string, sources: IgnoreFacts) {
    this.#directory = directory;
    this.#sources = sources;
    const { top } = sources;
    this.#above =
      top === undefined
        ? []
        : relative(top, directory)
            .split(sep)
            .filter((name) => name !== '');
  }

  /**
   * Returns the highest ignored directory on a path; undefined if none is ignored. If the workspace itself lies in an
   * ignored directory, nothing in it counts as ignored.
   * @param path absolute path in the workspace @param isDirectory false if the last name is not one of a directory
   */
  on(path: string, isDirectory: boolean): string | undefined {
    const below = pathSegments(path);
    const names = [...this.#above, ...below];
    const first = this.#above.length;
    const last = isDirectory ? names.length : names.length - 1;
    /** Rules of the directories above, the deepest first; `at` is the number of names that lead to the directory. */
    let levels: { readonly at: number; readonly rules: IgnoreFile }[] = [];
    let host = this.#sources.top ?? this.#directory;
    let base = 0;
    for (let depth = 0; depth < last; depth++) {
      // As in git, a `.gitignore` that is a link does not count, but the other files may be links.
      const rules = this.#rulesIn(join(host, '.gitignore'), lstatSync);
      if (rules !== undefined) levels.unshift({ at: depth, rules });
      if (this.#ignores(names, depth + 1, base, levels))
        return depth < first ? undefined : `/${names.slice(first, depth + 1).join('/')}`;
      host = join(host, names[depth] as string);
      // A repository in the work tree has rules of its own.
      if (gitDirectoryAt(host) !== undefined) {
        levels = [];
        base = depth + 1;
      }
    }
    return undefined;
  }

  /**
   * Reports whether rules ignore the directory of the first `depth` names. The deepest file with a matching rule
   * decides.
   */
  #ignores(
    names: readonly string[],
    depth: number,
    base: number,
    levels: readonly { readonly at: number; readonly rules: IgnoreFile }[],
  ): boolean {
    for (const { at, rules } of levels) {
      const ignored = rules.ignoresDirectory(names.slice(at, depth).join('/'));
      if (ignored !== undefined) return ignored;
    }
    for (const file of this.#sources.files) {
      const ignored = this.#rulesIn(file, statSync)?.ignoresDirectory(names.slice(base, depth).join('/'));
      if (ignored !== undefined) return ignored;
    }
    return false;
  }

  #rulesIn(path: string, look: typeof statSync): IgnoreFile | undefined {
    const stat = statOf(path, look);
    if (stat === undefined || !stat.isFile() || stat.size > MAX_FILE_BYTES) {
      this.#files.delete(path);
      return undefined;
    }
    const { ino, size, mtimeNs, ctimeNs } = stat;
    const version = `${ino}:${size}:${mtimeNs}:${ctimeNs}`;
    const known = this.#files.get(path);
    if (known?.version === version) return known.rules;
    const rules = readRules(path, this.#sources.ignoreCase);
    if (this.#files.size >= MAX_CACHED_FILES) this.#files.clear();
    const isRacy = Math.abs(systemClock() - Number(ctimeNs / 1_000_000n)) < RACY_MS;
    this.#files.set(path, { version: isRacy ? '' : version, rules });
    return rules;
  }
}

function statOf(path: string, look: typeof statSync): BigIntStats | undefined {
  try {
    return look(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function readRules(path: string, ignoreCase: boolean): IgnoreFile | undefined {
  try {
    return new IgnoreFile(readFileSync(path, 'utf8'), ignoreCase);
  } catch {
    return undefined;
  }
}
