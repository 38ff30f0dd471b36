import { spawnSync } from 'node:child_process';

/** Runs git in a folder without the user's settings. */
export function git(cwd: string, args: readonly string[], input?: string): string {
  const env = {
    PATH: process.env['PATH'],
    HOME: cwd,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'A',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_COMMITTER_NAME: 'A',
    GIT_COMMITTER_EMAIL: 'a@example.com',
  };
  const result = spawnSync('git', ['-c', 'gc.auto=0', ...args], {
    cwd,
    env,
    input,
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  });
  if (result.status !== 0) throw new Error(`git ${args.join(' ')}: ${result.stderr}`);
  return result.stdout.trim();
}
