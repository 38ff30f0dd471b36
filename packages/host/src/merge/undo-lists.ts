import { lstatSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { directoriesAbove } from '../directories-above.js';
import { nulSeparated } from '../git/git.js';
import type { GitRepository } from '../git/git-repository.js';
import { absent } from '../host-error.js';
import type { ChangedPaths } from './changed-paths.js';
import { notOurs } from './plan.js';

/** Returns the paths on which undoing a merge acts, by kind of action. */
export async function listsOf(
  { git, workTree }: GitRepository & { readonly workTree: string },
  { added, removed, modified, submodules }: ChangedPaths,
) {
  const tagged = await git.items(['ls-files', '-t', '-z']);
  const skipped = new Set(tagged.filter((item) => item.startsWith('S ')).map((item) => item.slice(2)));
  // A sparse checkout leaves these files out, so there is nothing to restore.
  const isHere = (path: string): boolean => !skipped.has(path);
  const fresh = [...added, ...[...removed, ...modified].filter((path) => !isHere(path))];
  const changed = modified.filter(isHere);
  const old = new Set(directoriesOf(changed));
  return {
    added: fresh,
    // The files of a submodule stay.
    removed: removed.filter((path) => isHere(path) && !submodules.includes(path)),
    restored: [...removed.filter(isHere), ...changed],
    modes: directoriesOf(removed.filter(isHere)).flatMap((path) => modeAt(workTree, path)),
    // A directory that already exists was not made by the merge, even if it is empty.
    directories: directoriesOf(fresh).filter((directory) => !old.has(directory) && !isDirectory(workTree, directory)),
  };
}

/** Reports whether a path is a directory reached without links. */
function isDirectory(workTree: string, path: string): boolean {
  const above = dirname(path);
  if (above !== '.' && !isDirectory(workTree, above)) return false;
  return lstatSync(join(workTree, path), { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Returns the mode to restore, in octal before the path; empty if the path is not a directory. */
function modeAt(workTree: string, path: string): string[] {
  if (!isDirectory(workTree, path)) return [];
  return [`${(lstatSync(join(workTree, path)).mode & 0o7777).toString(8)}/${path}`];
}

/** Returns the paths that undoing removes or restores, from the lists `added` and `restored` of a stage. */
export async function pathsToUndo(stage: string): Promise<string[]> {
  const [added, restored] = await Promise.all(
    ['added', 'restored'].map(async (name) => {
      const list = await readFile(join(stage, name)).catch(absent);
      if (list === undefined) throw notOurs();
      return nulSeparated(list).map(String);
    }),
  );
  return [...(added as string[]), ...(restored as string[]).map((item) => item.slice(item.indexOf('/') + 1))];
}

/** Returns the directories above the paths, deepest first. */
function directoriesOf(paths: readonly string[]): string[] {
  const found = new Set<string>();
  for (const path of paths) for (const directory of directoriesAbove(path)) found.add(directory);
  return [...found].sort((a, b) => b.length - a.length);
}
