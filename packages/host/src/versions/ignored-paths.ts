import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { directoriesAbove } from '../directories-above.js';
import { Git } from '../git/git.js';

/**
 * Returns a predicate that reports whether git's ignore rules cover a path or a directory above it. The directory need
 * not be a repository. Only the rule files are read.
 */
export async function ignoredPaths(folder: string, signal?: AbortSignal): Promise<(path: string) => boolean> {
  const scratch = await mkdtemp(join(tmpdir(), 'scratchfs-'));
  try {
    await new Git(scratch).run(['init', '-q', '--bare', '--template='], { signal });
    const git = new Git(folder, { GIT_DIR: scratch, GIT_WORK_TREE: folder });
    const args = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--directory'];
    const ignored = new Set((await git.items(args, { signal })).map((path) => path.replace(/\/$/, '')));
    if (ignored.size === 0) return () => false;
    return (path) => {
      if (ignored.has(path)) return true;
      for (const directory of directoriesAbove(path)) if (ignored.has(directory)) return true;
      return false;
    };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
