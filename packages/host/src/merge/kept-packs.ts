import { lstatSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { GitRepository } from '../git/git-repository.js';
import { isCode, isUnwritable } from '../host-error.js';
import { namesIn } from '../names-in.js';
import { draftNameOf, isInHand, type Named, namedBy } from './drafts.js';
import { DURABLE } from './durable.js';
import { mtimeOf } from './place.js';
import { NAME, wholePlanIn } from './plan.js';

/** In bytes. A longer file says of no merge whose it is. */
const LONGEST = 256;

/**
 * Brings a pack into a repository that git's collection of garbage leaves alone until it is let go, since nothing leads to its objects
 * before the branch moves. By the file beside it which says so (`.keep`) it is known whose it is.
 * @returns false where another merge brings the very same
 */
export async function keepPack(
  { git, objectsDirectory }: GitRepository,
  pack: Uint8Array,
  id: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const args = ['index-pack', '--stdin', '--strict', `--keep=${draftNameOf(id)}`];
  const { stdout } = await git.with({}, DURABLE).run(args, { input: pack, signal });
  const [word, hash] = stdout.toString('latin1').trimEnd().split('\t');
  if (word === 'keep') return true;
  const text = textOf(join(objectsDirectory, 'pack', `pack-${hash}.keep`));
  return text !== undefined && namedBy(text) === undefined;
}

/**
 * Lets go of the packs of a merge that has ended, and of those whose processes are gone, but where its stage still lies in one of the
 * work trees: then it may have to be put right yet.
 */
export function letPacksGo({ objectsDirectory, commonDirectory }: GitRepository, ended?: string): void {
  for (const { path, named } of keptIn(join(objectsDirectory, 'pack'))) {
    // In this order: who is gone makes no stage any more.
    if (named.id !== ended && isInHand(named, () => mtimeOf(path))) continue;
    if (!isStaged(commonDirectory, named.id)) letGo(path);
  }
}

/** What cannot be removed now is left to the next call: no merge fails by it. */
function letGo(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch (error) {
    if (!isUnwritable(error)) throw error;
  }
}

function keptIn(directory: string): { readonly path: string; readonly named: Named }[] {
  return namesIn(directory)
    .filter((name) => name.endsWith('.keep'))
    .flatMap((name) => {
      const path = join(directory, name);
      const named = namedBy(textOf(path) ?? '');
      return named === undefined ? [] : [{ path, named }];
    });
}

function isStaged(commonDirectory: string, id: string): boolean {
  const trees = join(commonDirectory, 'worktrees');
  const directories = [commonDirectory, ...namesIn(trees).map((name) => join(trees, name))];
  return directories.some((directory) => wholePlanIn(join(directory, NAME))?.id === id);
}

/** Undefined where it is gone; empty where it can be none of ours. */
function textOf(path: string): string | undefined {
  try {
    const stat = lstatSync(path);
    return stat.isFile() && stat.size <= LONGEST ? readFileSync(path, 'latin1').trimEnd() : '';
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
