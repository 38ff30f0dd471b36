import { lstatSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { GitRepository } from '../git/git-repository.js';
import { isCode, isUnwritable } from '../host-error.js';
import { namesIn } from '../names-in.js';
import { DURABLE } from './durable.js';
import { mtimeOf } from './host-identity.js';
import { NAME, wholePlanIn } from './plan.js';
import { draftNameOf, isInHand, type Named, namedBy } from './stale-stages.js';

/** Maximum bytes of a `.keep` file that names a merge. */
const MAX_KEEP_FILE_BYTES = 256;

/**
 * Adds a pack to a repository with a `.keep` file, which protects it from garbage collection until it is released,
 * because no reference leads to its objects before the branch moves. The `.keep` file names the owner.
 * @returns false if another merge had kept the same pack
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
 * Releases the packs of a merge that has ended and of dead processes. A pack stays while the stage of its merge exists
 * in the git directory of a work tree: that merge may still have to be recovered.
 */
export function letPacksGo({ objectsDirectory, commonDirectory }: GitRepository, ended?: string): void {
  for (const { path, named } of keptIn(join(objectsDirectory, 'pack'))) {
    // Checked in this order: a dead process cannot create a stage any more.
    if (named.id !== ended && isInHand(named, () => mtimeOf(path))) continue;
    if (!isStaged(commonDirectory, named.id)) letGo(path);
  }
}

/** Removes a `.keep` file. Leaves it to the next call if nothing may be written there. */
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

/** Returns the text of a file; undefined if it is gone, empty if no merge can have written it. */
function textOf(path: string): string | undefined {
  try {
    const stat = lstatSync(path);
    return stat.isFile() && stat.size <= MAX_KEEP_FILE_BYTES ? readFileSync(path, 'latin1').trimEnd() : '';
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
