import type { ObjectId } from './object-id.js';
import type { RepositoryCall } from './repository.js';

/** The part of a commit that the search for common ancestors needs. */
export interface Ancestor {
  readonly id: ObjectId;
  readonly tree: ObjectId;
  readonly parents: readonly ObjectId[];
  readonly committer: { readonly timestamp: number };
}

/** Looks up commits. */
export interface Ancestry {
  commit(id: ObjectId, call?: RepositoryCall): Promise<Ancestor>;
  parentsOf(commit: Ancestor, call?: RepositoryCall): Promise<readonly ObjectId[]>;
}

const OURS = 1;
const THEIRS = 2;
const STALE = 4;

interface Seen {
  readonly commit: Ancestor;
  flags: number;
}

/**
 * Returns the best common ancestors of two commits, newest first, as `git merge-base --all` does. A common ancestor is
 * best if no other one descends from it.
 */
export async function mergeBases(
  ancestry: Ancestry,
  ours: ObjectId,
  theirs: ObjectId,
  call?: RepositoryCall,
): Promise<ObjectId[]> {
  if (ours === theirs) return [ours];
  const candidates = await commonAncestors(ancestry, ours, theirs, call);
  if (candidates.length < 2) return candidates;
  const best: Ancestor[] = [];
  for (const candidate of candidates) {
    let covered = false;
    for (const other of candidates)
      if (other !== candidate && !covered) covered = await isAncestor(ancestry, candidate, other, call);
    if (!covered) best.push(await ancestry.commit(candidate, call));
  }
  return best.sort((a, b) => b.committer.timestamp - a.committer.timestamp).map(({ id }) => id);
}

/** Reports whether a commit is an ancestor of another, or the same. */
export async function isAncestor(
  ancestry: Ancestry,
  ancestor: ObjectId,
  descendant: ObjectId,
  call?: RepositoryCall,
): Promise<boolean> {
  if (ancestor === descendant) return true;
  return (await commonAncestors(ancestry, ancestor, descendant, call)).includes(ancestor);
}

/** Marks the ancestors of each side, newest first, until only ancestors of a common one are left. */
async function commonAncestors(
  ancestry: Ancestry,
  ours: ObjectId,
  theirs: ObjectId,
  call?: RepositoryCall,
): Promise<ObjectId[]> {
  const seen = new Map<ObjectId, Seen>();
  const queue: Seen[] = [];
  const results: ObjectId[] = [];
  const paint = async (id: ObjectId, flags: number): Promise<void> => {
    let entry = seen.get(id);
    if (entry === undefined) {
      entry = { commit: await ancestry.commit(id, call), flags: 0 };
      seen.set(id, entry);
    }
    if ((entry.flags & flags) === flags) return;
    entry.flags |= flags;
    if (!queue.includes(entry)) insert(queue, entry);
  };
  await paint(ours, OURS);
  await paint(theirs, THEIRS);
  while (queue.some(({ flags }) => (flags & STALE) === 0)) {
    const { commit, flags } = queue.pop() as Seen;
    let passed = flags;
    if ((flags & (OURS | THEIRS)) === (OURS | THEIRS) && (flags & STALE) === 0) {
      if (!results.includes(commit.id)) results.push(commit.id);
      passed |= STALE;
    }
    for (const parent of await ancestry.parentsOf(commit, call)) await paint(parent, passed);
  }
  return results.filter((id) => ((seen.get(id)?.flags ?? 0) & STALE) === 0);
}

/**
 * Inserts into a queue sorted by time, oldest first. Of commits with the same time, the one inserted first is taken
 * first.
 */
function insert(queue: Seen[], entry: Seen): void {
  const { timestamp } = entry.commit.committer;
  let at = queue.length;
  while (at > 0 && (queue[at - 1] as Seen).commit.committer.timestamp >= timestamp) at--;
  queue.splice(at, 0, entry);
}
