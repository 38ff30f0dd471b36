import type { Person } from '@scratchfs/history';
import type { Git } from '../git/git.js';

/**
 * Returns a git that commits with the identity that the user has configured or, unless that has name and email, with
 * the given author (default: scratchfs).
 */
export async function identityFor(git: Git, author: Person | undefined, signal: AbortSignal | undefined): Promise<Git> {
  for (const name of ['user.name', 'user.email']) {
    const { exitCode, stdout } = await git.run(['config', '--get', name], { accept: [0, 1], signal });
    if (exitCode === 0 && stdout.toString('utf8').trim() !== '') continue;
    const { name: person, email } = author ?? { name: 'scratchfs', email: 'scratchfs@localhost' };
    return git.with({
      GIT_AUTHOR_NAME: person,
      GIT_AUTHOR_EMAIL: email,
      GIT_COMMITTER_NAME: person,
      GIT_COMMITTER_EMAIL: email,
    });
  }
  return git;
}
