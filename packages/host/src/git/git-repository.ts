import { realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { quote } from '@scratchfs/core';
import type { ObjectFormat } from '@scratchfs/history';
import { givenPath } from '../given-path.js';
import { Git, GitError } from './git.js';

/** A repository of the user on disk. */
export interface GitRepository {
  /** Git that runs in the repository. */
  readonly git: Git;
  /** Directory of the files. Undefined for a bare repository. */
  readonly workTree: string | undefined;
  /** Directory of this work tree's `HEAD` and `index`. */
  readonly gitDirectory: string;
  /** Directory of objects and branches. Differs from `gitDirectory` only for a linked work tree. */
  readonly commonDirectory: string;
  readonly objectsDirectory: string;
  readonly format: ObjectFormat;
  readonly isShallow: boolean;
}

/**
 * Returns the repository whose work tree, or bare repository, is the directory `path`; undefined if it is neither. A
 * subdirectory of a work tree does not count.
 * @throws TypeError for an empty path or a file, the error of `realpath` if the path does not exist, GitError if git
 *   refuses the repository or for the `.git` directory of a work tree, Error if git cannot be started
 */
export async function findRepository(path: string): Promise<GitRepository | undefined> {
  const folder = await realpath(givenPath(path));
  if (!(await stat(folder)).isDirectory()) throw new TypeError(`${quote(folder)} is not a directory`);
  const git = new Git(folder, { GIT_CEILING_DIRECTORIES: dirname(folder) });
  const bare = ['rev-parse', '--is-bare-repository', '--show-object-format', '--is-shallow-repository'];
  const { exitCode, stdout, stderr } = await git.run(bare, { accept: [0, 128] });
  if (exitCode !== 0) {
    if (stderr.includes('not a git repository')) return undefined;
    throw new GitError(bare, exitCode, stderr);
  }
  const [isBare, format, shallow] = stdout.toString('utf8').trimEnd().split('\n') as string[];
  // One call each: a path may contain line ends.
  const asked = (question: string): Promise<string> => git.text(['rev-parse', question]);
  const [gitDirectory, common] = await Promise.all([asked('--absolute-git-dir'), asked('--git-common-dir')]);
  const commonDirectory = resolve(folder, common);
  const workTree = isBare === 'true' ? undefined : await asked('--show-toplevel');
  // A work tree set by the repository's own configuration (`core.worktree`) is not the directory that the caller named.
  if (workTree !== undefined && (await realpath(workTree)) !== folder) return undefined;
  return {
    git,
    workTree: workTree === undefined ? undefined : folder,
    gitDirectory,
    commonDirectory,
    objectsDirectory: join(commonDirectory, 'objects'),
    format: format as ObjectFormat,
    isShallow: shallow === 'true',
  };
}
