import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { GitRepository } from '../git/git-repository.js';
import { KEPT, NAME, type Plan } from './plan.js';
import { pathsToUndo } from './undo-lists.js';
import { listOf } from './work-tree-state.js';

/** Reports whether git has lost objects that a merge was adding. False if git cannot tell. */
export async function isLost({ git }: GitRepository, { old, new: next }: Plan): Promise<boolean> {
  try {
    if ((await git.text(['cat-file', '--batch-check'], { input: `${next}\n` })) === `${next} missing`) return true;
    const listed = await git.text(['rev-list', '--objects', '--missing=print', next, `^${old}`]);
    return listed.split('\n').some((line) => line.startsWith('?'));
  } catch {
    return false;
  }
}

/**
 * Returns the names of the files that undoing a merge needs and its stage lacks. Older and newer versions of this
 * program write other files.
 */
export function missingIn(stage: string): string[] {
  return ['added', 'directories', 'lock', 'restored', KEPT].filter((name) => !existsSync(join(stage, name)));
}

/** Creates the error that says how to recover by hand a merge that no program can undo, and why. */
export async function byHand(stage: string, { old }: Plan, why: string): Promise<Error> {
  const paths = await pathsToUndo(stage).catch(() => []);
  const changed = paths.length === 0 ? 'what git status shows' : listOf(paths);
  const kept = existsSync(join(stage, KEPT)) ? ` and in ${NAME}/${KEPT}, by the numbers in ${NAME}/restored` : '';
  return new Error(
    `What a merge left behind has to be put right by hand: ${why}. Look at ${changed}; as it was before, it is in the ` +
      `commit ${old}${kept}. When it is right, remove ${NAME} from git's directory and, while no git is at work, index.lock.`,
  );
}
