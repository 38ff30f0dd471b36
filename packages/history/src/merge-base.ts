import type { ObjectId } from './object-id.js';
import type { ObjectReader } from './object-reader.js';
import type { Commit } from './objects/commit.js';
import type { RepositoryCall } from './repository.js';

const OURS = 1;
const THEIRS = 2;
const STALE = 4;

interface Seen {
  readonly commit: Commit;
  flags: number;
}

/** The best common ancestors of two commits: those that no other common one descends from, as `git merge-base --all` finds them. */
export async function mergeBases(
  reader: ObjectReader,
  ours: ObjectId,
  theirs: ObjectId,
  call?: RepositoryCall,
): Promise<ObjectId[]> {
  if (ours === theirs) return [ours];
  const candidates = await commonAncestors(reader, ours, theirs, call);
  if (candidates.length < 2) return candidates;
  const best: ObjectId[] = [];
  for (const candidate of candidates) {
    let covered = false;
    for (const other of candidates)
      if (other !== candidate && !covered) covered = await isAncestor(reader, candidate, other, call);
    if (!covered) best.push(candidate);
  }
  return best;
}

/** Whether a commit is another one, or leads to it. */
export async function isAncestor(
  reader: ObjectReader,
  ancestor: ObjectId,
  descendant: ObjectId,
  call?: RepositoryCall,
): Promise<boolean> {
  if (ancestor === descendant) return true;
  return (await commonAncestors(reader, ancestor, descendant, call)).includes(ancestor);
}

/** Paints what each side reaches, newest first, until all that is left is beneath something common. */
async function commonAncestors(
  reader: ObjectReader,
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
      entry = { commit: await reader.commit(id, call), flags: 0 };
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
    for (const parent of commit.parents) await paint(parent, passed);
  }
  return results.filter((id) => ((seen.get(id)?.flags ?? 0) & STALE) === 0);
}

/** Keeps the queue sorted by time, oldest first. */
function insert(queue: Seen[], entry: Seen): void {
  const { timestamp } = entry.commit.committer;
  let at = queue.length;
  while (at > 0 && (queue[at - 1] as Seen).commit.committer.timestamp > timestamp) at--;
  queue.splice(at, 0, entry);
}
