import { type GitObjectStore, HistoryError, ID_BYTES, type ObjectId, type TreeMode } from '@scratchfs/history';
import type { Git } from '../git/git.js';
import type { Listing } from './onboard.js';
import type { Unrepresentable } from './read-worktree.js';

/** Modes that git writes for entries of a tree. In trees of old programs git also accepts other modes. */
const MODES: ReadonlySet<string> = new Set<TreeMode>(['40000', '100644', '100755', '120000', '160000']);

/** Number of directories that are read concurrently. */
const BATCH_TREES = 256;

/**
 * Returns the entries whose mode git no longer writes, such as 100664. Trees with them get other ids when they are
 * written again. The trees themselves are parsed, because `git ls-tree` prints the normalized mode.
 * @param trees all directories of the version but the top one
 */
export async function unusualModes(
  git: Git,
  objects: GitObjectStore,
  version: string,
  trees: Listing['trees'],
  signal?: AbortSignal,
): Promise<Unrepresentable[]> {
  const root = await git.text(['rev-parse', `${version}^{tree}`], { signal });
  const all = [{ path: '', id: root as ObjectId }, ...trees.map(({ path, id }) => ({ path: `${path}/`, id }))];
  const found: Unrepresentable[] = [];
  for (let at = 0; at < all.length; at += BATCH_TREES) {
    const batch = all.slice(at, at + BATCH_TREES);
    const read = await Promise.all(batch.map(({ path, id }) => unusualIn(objects, path, id, signal)));
    found.push(...read.flat());
  }
  return found;
}

async function unusualIn(
  objects: GitObjectStore,
  path: string,
  id: ObjectId,
  signal: AbortSignal | undefined,
): Promise<Unrepresentable[]> {
  const tree = await objects.read(id, { signal });
  if (tree === undefined) throw new HistoryError('not-found', `Object ${id} does not exist`, { id });
  return modesIn(tree.body, objects).flatMap(({ name, mode }) =>
    MODES.has(mode)
      ? []
      : {
          path: path + name,
          reason: `its mode is ${mode}, which git no longer writes: skipUnrepresentable takes it as git does`,
        },
  );
}

function modesIn(body: Uint8Array, { format }: GitObjectStore): { readonly name: string; readonly mode: string }[] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const entries: { name: string; mode: string }[] = [];
  for (let at = 0; at < bytes.length; ) {
    const [space, end] = [bytes.indexOf(' ', at), bytes.indexOf(0, at)];
    if (space < at || end < space) break;
    entries.push({ mode: bytes.toString('latin1', at, space), name: bytes.toString('utf8', space + 1, end) });
    at = end + 1 + ID_BYTES[format];
  }
  return entries;
}
