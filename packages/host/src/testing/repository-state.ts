import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the state of a repository as its user sees it: files, index, references, configuration, unfinished
 * operations.
 */
export function stateOf(path: string): Readonly<Record<string, string>> {
  const state: Record<string, string> = {};
  const visit = (at: string): void => {
    for (const name of readdirSync(join(path, at))) {
      const inside = at === '' ? name : `${at}/${name}`;
      const stat = lstatSync(join(path, inside));
      if (isLeftOut(inside)) continue;
      if (stat.isDirectory()) visit(inside);
      else if (stat.isSymbolicLink()) state[inside] = `-> ${readlinkSync(join(path, inside))}`;
      else
        state[inside] = `${stat.mode & 0o111} ${createHash('sha1')
          .update(readFileSync(join(path, inside)))
          .digest('hex')}`;
    }
  };
  visit('');
  if (existsSync(join(path, '.git/index'))) {
    const listed = spawnSync('git', ['ls-files', '--stage', '-v'], { cwd: path, encoding: 'utf8' });
    state['.git/index'] = listed.stdout;
  }
  return state;
}

/**
 * Reports whether the comparison leaves out a path: objects (users do not see them, and unreachable ones may come and
 * go), git directories of submodules, and the index file, of which `stateOf` compares the entries instead.
 */
function isLeftOut(path: string): boolean {
  return /^\.git\/(objects|modules|index$)/.test(path);
}
