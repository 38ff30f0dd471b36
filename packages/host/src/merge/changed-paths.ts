import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Git, nulEnded, nulSeparated } from '../git/git.js';
import { absent } from '../host-error.js';
import { listOf } from './work-tree-state.js';

/** Paths that differ between two commits, by kind of change. */
export interface ChangedPaths {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Paths whose content, mode or kind differs. */
  readonly modified: readonly string[];
  /** Removed and modified paths that were submodules and no longer are. */
  readonly submodules: readonly string[];
}

const SUBMODULE = ':160000';

export async function changedPaths(git: Git, from: string, to: string, signal?: AbortSignal): Promise<ChangedPaths> {
  // Without `--ignore-submodules=none`, the repository's settings can hide submodules.
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--ignore-submodules=none', '--raw', from, to];
  const fields = await git.items(args, { signal });
  const changed = {
    added: [] as string[],
    removed: [] as string[],
    modified: [] as string[],
    submodules: [] as string[],
  };
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [before, after, , , status] = (fields[i] as string).split(' ');
    const path = fields[i + 1] as string;
    changed[status === 'A' ? 'added' : status === 'D' ? 'removed' : 'modified'].push(path);
    if (before === SUBMODULE && `:${after}` !== SUBMODULE) changed.submodules.push(path);
  }
  return changed;
}

/**
 * Returns untracked files of the user that the merge would replace. Ignored files count, because they are the user's
 * work, and so does a checked-out submodule, because git would remove all of it.
 */
export async function inTheWay(
  workTree: string,
  { added, removed, modified, submodules }: ChangedPaths,
): Promise<string[]> {
  const going = new Set(removed);
  const found = new Set<string>();
  for (const path of submodules) {
    const makesRoom = modified.includes(path) || added.some((other) => other.startsWith(`${path}/`));
    if (makesRoom && !(await isEmpty(join(workTree, path)))) found.add(path);
  }
  for (const path of added) {
    const names = path.split('/');
    for (let depth = 1; depth <= names.length; depth++) {
      const at = names.slice(0, depth).join('/');
      if (going.has(at)) break;
      const stat = await lstat(join(workTree, at)).catch(absent);
      if (stat === undefined) break;
      if (!stat.isDirectory()) found.add(at);
      else if (depth === names.length)
        for (const inside of await filesIn(workTree, at)) if (!going.has(inside)) found.add(inside);
      if (!stat.isDirectory()) break;
    }
  }
  return [...found];
}

export function whyInTheWay(paths: readonly string[]): string {
  return `Files that git does not know are in the way: ${listOf(paths)}. Move them first.`;
}

/** Reports whether a directory is empty or missing. */
async function isEmpty(path: string): Promise<boolean> {
  return ((await readdir(path).catch(absent)) ?? []).length === 0;
}

async function filesIn(workTree: string, path: string): Promise<string[]> {
  const files: string[] = [];
  for (const entry of await readdir(join(workTree, path), { withFileTypes: true })) {
    const at = `${path}/${entry.name}`;
    if (entry.isDirectory()) files.push(...(await filesIn(workTree, at)));
    else files.push(at);
  }
  return files;
}

/** Returns the paths that git has been told to assume unchanged, or to skip although something exists there. */
export async function hiddenChanges(
  git: Git,
  workTree: string,
  paths: readonly string[],
  signal?: AbortSignal,
): Promise<string[]> {
  const touched = new Set(paths);
  const found: string[] = [];
  for (const item of await git.items(['ls-files', '-v', '-z'], { signal })) {
    const [tag, path] = [item[0] as string, item.slice(2)];
    if (!touched.has(path)) continue;
    const isThere = tag.toUpperCase() !== 'S' || (await lstat(join(workTree, path)).catch(absent)) !== undefined;
    if ((tag !== tag.toUpperCase() || tag === 'S') && isThere) found.push(path);
  }
  return found;
}

/** Returns the paths that have a filter, by the attributes of the work tree or of the incoming version. */
export async function filteredPaths(
  git: Git,
  incoming: Git,
  paths: readonly string[],
  signal?: AbortSignal,
): Promise<string[]> {
  const input = nulEnded(paths);
  const found = new Set<string>();
  for (const [runner, ...where] of [[git], [incoming, '--cached']] as const) {
    const { stdout } = await runner.run(['check-attr', '-z', '--stdin', ...where, 'filter'], { input, signal });
    const fields = nulSeparated(stdout).map(String);
    for (let i = 0; i + 2 < fields.length; i += 3)
      if (!['unspecified', 'unset'].includes(fields[i + 2] as string)) found.add(fields[i] as string);
  }
  return [...found];
}
