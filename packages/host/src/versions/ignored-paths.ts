import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { directoriesAbove } from '../directories-above.js';
import { Git, GitError } from '../git/git.js';

const IGNORED = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--directory'];

/**
 * Returns a predicate that reports whether the repository around a directory ignores a path or a directory above it, as
 * `git status` does in the directory: tracked files are not ignored, and all rule files of git count. Paths are
 * relative to the directory. Undefined if the directory is in no work tree of a repository, or if that ignores the
 * directory itself.
 */
export async function ignoredInRepository(
  folder: string,
  signal?: AbortSignal,
): Promise<((path: string) => boolean) | undefined> {
  const git = new Git(folder);
  const { exitCode, stdout, stderr } = await git.run(['rev-parse', '--is-inside-work-tree'], {
    accept: [0, 128],
    signal,
  });
  if (exitCode !== 0 && !/not a git repository|invalid gitfile format/.test(stderr))
    throw new GitError(['rev-parse'], exitCode, stderr);
  if (exitCode !== 0 || stdout.toString().trim() !== 'true') return undefined;
  const ignored = new Set((await git.items(IGNORED, { signal })).map((path) => path.replace(/\/$/, '')));
  return ignored.has('.') || ignored.has('') ? undefined : covers(ignored);
}

/**
 * Returns a predicate that reports whether git's ignore rules cover a path or a directory above it. The directory need
 * not be a repository; if it is, paths that it tracks may be covered too.
 */
export async function ignoredPaths(folder: string, signal?: AbortSignal): Promise<(path: string) => boolean> {
  const scratch = await mkdtemp(join(tmpdir(), 'scratchfs-'));
  try {
    await new Git(scratch).run(['init', '-q', '--bare', '--template='], { signal });
    const git = new Git(folder, { GIT_DIR: scratch, GIT_WORK_TREE: folder });
    const ignored = new Set((await git.items(IGNORED, { signal })).map((path) => path.replace(/\/$/, '')));
    return covers(ignored);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Returns a predicate that reports whether a set holds a path or a directory above it. */
function covers(paths: ReadonlySet<string>): (path: string) => boolean {
  if (paths.size === 0) return () => false;
  return (path) => {
    if (paths.has(path)) return true;
    for (const directory of directoriesAbove(path)) if (paths.has(directory)) return true;
    return false;
  };
}
