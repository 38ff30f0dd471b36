import { realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { ObjectFormat } from '@scratchfs/history';
import { givenPath } from '../given-path.js';
import { Git, GitError } from './git.js';

/** A repository of the user on the disk. */
export interface GitRepository {
  /** Runs git in it. */
  readonly git: Git;
  /** Where its files lie; undefined for a bare one. */
  readonly workTree: string | undefined;
  /** Where this work tree's `HEAD` and `index` lie. */
  readonly gitDirectory: string;
  /** Where objects and branches lie; the same but for a linked work tree. */
  readonly commonDirectory: string;
  readonly objectsDirectory: string;
  readonly format: ObjectFormat;
  readonly isShallow: boolean;
}

/**
 * The repository whose work tree a directory is, or which it is itself; undefined where it is none. A directory somewhere
 * inside a repository is not that repository.
 * @throws TypeError for an empty path, what `stat` throws where there is no such directory, GitError where git refuses the repository
 */
export async function findRepository(path: string): Promise<GitRepository | undefined> {
  const folder = await realpath(givenPath(path));
  if (!(await stat(folder)).isDirectory()) throw new TypeError('The path of a directory is needed');
  const git = new Git(folder, { GIT_CEILING_DIRECTORIES: dirname(folder) });
  const bare = ['rev-parse', '--is-bare-repository', '--show-object-format', '--is-shallow-repository'];
  const { exitCode, stdout, stderr } = await git.run(bare, { accept: [0, 128] });
  if (exitCode !== 0) {
    if (stderr.includes('not a git repository')) return undefined;
    throw new GitError(bare, exitCode, stderr);
  }
  const [isBare, format, shallow] = stdout.toString('utf8').trimEnd().split('\n') as string[];
  // One by one: a path may have line ends.
  const asked = (question: string): Promise<string> => git.text(['rev-parse', question]);
  const [gitDirectory, common] = await Promise.all([asked('--absolute-git-dir'), asked('--git-common-dir')]);
  const commonDirectory = resolve(folder, common);
  const workTree = isBare === 'true' ? undefined : await asked('--show-toplevel');
  // What settings of the repository name as its work tree is not what the caller named.
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
