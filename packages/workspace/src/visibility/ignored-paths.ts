import { statSync } from 'node:fs';
import { join } from 'node:path';
import { isWithin } from '@scratchfs/core';
import { ignoreFacts, trackedIgnored } from '@scratchfs/host/internal';
import { gitDirectoryAround } from '../branch.js';
import { IgnoredDirectories } from './ignored-directories.js';
import type { ReadOnlyPaths } from './visible-backend.js';

/**
 * Ignored directories of a workspace, which are read-only. git is asked once where its rules are, and which files in
 * ignored directories are tracked when its index has changed; nothing is asked before the first change.
 */
export class IgnoredPaths implements ReadOnlyPaths {
  readonly #directory: string;
  #directories: Promise<IgnoredDirectories> | undefined;
  #tracked: { readonly version: string; readonly paths: Promise<readonly string[]> } | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async ignoredOn(path: string, isDirectory: () => Promise<boolean>): Promise<string | undefined> {
    this.#directories ??= ignoreFacts(this.#directory).then((facts) => new IgnoredDirectories(this.#directory, facts));
    const directories = await this.#directories;
    const found = directories.on(path, true);
    if (found === undefined || (found === path && !(await isDirectory()))) return undefined;
    const tracked = await this.#trackedPaths();
    return tracked.some((one) => isWithin(one, path)) ? undefined : found;
  }

  /** Returns tracked files in ignored directories, as absolute paths of the workspace. */
  #trackedPaths(): Promise<readonly string[]> {
    const version = indexVersion(this.#directory);
    if (this.#tracked?.version !== version) {
      const paths = trackedIgnored(this.#directory).then((found) => found.map((path) => `/${path}`));
      this.#tracked = { version, paths };
    }
    return this.#tracked?.paths ?? Promise.resolve([]);
  }
}

function indexVersion(directory: string): string {
  const git = gitDirectoryAround(directory);
  const stat = git === undefined ? undefined : statSync(join(git, 'index'), { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.ino}:${stat.size}:${stat.mtimeNs}`;
}
