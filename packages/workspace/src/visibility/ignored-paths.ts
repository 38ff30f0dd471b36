import { statSync } from 'node:fs';
import { join } from 'node:path';
import { isWithin } from '@scratchfs/core';
import { gitDirectoryAround } from '../branch.js';
import { IgnoredDirectories } from './ignored-directories.js';
import type { ReadOnlyPaths } from './visible-backend.js';

/**
 * Ignored directories of a workspace, which are read-only. Asks git at the first call where its rules are. For a path
 * in an ignored directory, asks which files there are tracked, again only after git's index has changed.
 */
export class IgnoredPaths implements ReadOnlyPaths {
  readonly #directory: string;
  #directories: Promise<IgnoredDirectories> | undefined;
  #tracked: { readonly version: string; readonly paths: Promise<readonly string[]> } | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async ignoredOn(path: string, isDirectory: () => Promise<boolean>): Promise<string | undefined> {
    this.#directories ??= ignoredIn(this.#directory);
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
      const paths = trackedIn(this.#directory);
      this.#tracked = { version, paths };
    }
    return this.#tracked?.paths ?? Promise.resolve([]);
  }
}

async function ignoredIn(directory: string): Promise<IgnoredDirectories> {
  const { ignoreFacts } = await import('@scratchfs/host/internal');
  return new IgnoredDirectories(directory, await ignoreFacts(directory));
}

async function trackedIn(directory: string): Promise<readonly string[]> {
  const { trackedIgnored } = await import('@scratchfs/host/internal');
  return (await trackedIgnored(directory)).map((path) => `/${path}`);
}

function indexVersion(directory: string): string {
  const git = gitDirectoryAround(directory);
  const stat = git === undefined ? undefined : statSync(join(git, 'index'), { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.ino}:${stat.size}:${stat.mtimeNs}`;
}
