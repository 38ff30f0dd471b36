import { type Git, nulSeparated } from './git.js';

/**
 * Settings that keep the programs which a repository names for its files from running: filters pass bytes on as they are, and a
 * merge driver conflicts, so that what it would have decided is decided by nobody.
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
