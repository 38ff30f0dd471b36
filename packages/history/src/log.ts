import type { ObjectId } from './object-id.js';
import type { ObjectReader } from './object-reader.js';
import type { Commit } from './objects/commit.js';
import type { RepositoryCall } from './repository.js';

/** Yields all commits reachable from the tips, each once, newest first by the committer's time, as `git log` does. */
export async function* walkCommits(
  reader: ObjectReader,
  tips: readonly ObjectId[],
  call?: RepositoryCall,
): AsyncGenerator<Commit> {
  const seen = new Set<ObjectId>();
  const queue: Commit[] = [];
  const enter = async (id: ObjectId): Promise<void> => {
    if (seen.has(id)) return;
    seen.add(id);
    const commit = await reader.commit(id, call);
    queue.splice(placeOf(queue, commit.committer.timestamp), 0, commit);
  };
  for (const tip of tips) await enter(tip);
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    yield next;
    for (const parent of await reader.parentsOf(next, call)) await enter(parent);
  }
}

/**
 * Returns the index for a commit in a queue sorted by time, oldest first. It goes before commits of the same time,
 * because the queue is read from its end.
 */
function placeOf(queue: readonly Commit[], timestamp: number): number {
  let low = 0;
  let high = queue.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((queue[middle] as Commit).committer.timestamp < timestamp) low = middle + 1;
    else high = middle;
  }
  return low;
}
