import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { GitRepository } from '../git/git-repository.js';
import { KEPT, NAME, type Plan } from './plan.js';
import { pathsToUndo } from './undo-lists.js';
import { listOf } from './work-tree-state.js';

/** Whether git has no longer what a merge was bringing. Where it does not answer, that is not known to be so. */
export async function isLost({ git }: GitRepository, { old, new: next }: Plan): Promise<boolean> {
  try {
    if ((await git.text(['cat-file', '--batch-check'], { input: `${next}\n` })) === `${next} missing`) return true;
    const listed = await git.text(['rev-list', '--objects', '--missing=print', next, `^${old}`]);
    return listed.split('\n').some((line) => line.startsWith('?'));
  } catch {
    return false;
  }
}

/** What undoing a merge needs and its stage does not have: a version that is older, or newer, has written down other things. */
export function missingIn(stage: string): string[] {
  return ['added', 'directories', 'lock', 'restored', KEPT].filter((name) => !existsSync(join(stage, name)));
}

/** What to do where no program can undo a merge, because of what is said. */
export async function byHand(stage: string, { old }: Plan, why: string): Promise<Error> {
  const paths = await pathsToUndo(stage).catch(() => []);
  const changed = paths.length === 0 ? 'what git status shows' : listOf(paths);
  const kept = existsSync(join(stage, KEPT)) ? ` and in ${NAME}/${KEPT}, by the numbers in ${NAME}/restored` : '';
  return new Error(
    `What a merge left behind has to be put right by hand: ${why}. Look at ${changed}; as it was before, it is in the ` +
      `commit ${old}${kept}. When it is right, remove ${NAME} from git's directory and, while no git is at work, index.lock.`,
  );
}
