import { type Git, nulSeparated } from './git.js';

/**
 * Returns a git that runs no merge driver of a repository: each reports a conflict instead of deciding. Unless
 * `filters` is true, it runs no filter either: bytes pass through unchanged.
 */
export async function withoutDrivers(git: Git, { filters }: { readonly filters: boolean }): Promise<Git> {
  const pattern = '^(filter\\..*\\.(clean|smudge|process|required)|merge\\..*\\.driver)$';
  const { stdout } = await git.run(['config', '-z', '--name-only', '--get-regexp', pattern], { accept: [0, 1] });
  const settings: [string, string][] = [];
  for (const name of new Set(nulSeparated(stdout).map(String))) {
    if (name.startsWith('merge.')) settings.push([name, 'false']);
    else if (!filters) settings.push([name, name.endsWith('.required') ? 'false' : '']);
  }
  return git.with({}, settings);
}
