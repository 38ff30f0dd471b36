import type { ObjectId } from './object-id.js';
import type { ObjectReader } from './object-reader.js';
import { decodeCommit } from './objects/commit.js';
import { decodeTag } from './objects/tag.js';
import { decodeTree } from './objects/tree.js';
import type { GitObjectStore, NamedObject, RepositoryCall } from './repository.js';

/** Maximum number of objects looked up at a time. */
const BATCH_OBJECTS = 256;

/**
 * Yields an object and everything it refers to that another store lacks, each once. If the other store has an object,
 * it is assumed to have everything the object refers to, as in git. Each object is checked against its hash before
 * it is yielded, and the names in a tree afterwards.
 */
export async function* missingObjects(
  reader: ObjectReader,
  tip: ObjectId,
  other: GitObjectStore,
  call?: RepositoryCall,
): AsyncGenerator<NamedObject> {
  const seen = new Set<ObjectId>([tip]);
  for (let pending = [tip]; pending.length > 0; ) {
    const batch = pending.splice(-BATCH_OBJECTS);
    const known = await Promise.all(batch.map((id) => other.has(id, call)));
    const missing = batch.filter((_, i) => !known[i]);
    const objects = await Promise.all(missing.map((id) => reader.object(id, call)));
    for (const [i, object] of objects.entries()) {
      const named = { ...object, id: missing[i] as ObjectId };
      yield named;
      for (const id of referencesOf(named, reader)) {
        if (seen.has(id)) continue;
        seen.add(id);
        pending.push(id);
      }
    }
  }
}

function referencesOf({ type, body, id }: NamedObject, { store: { format } }: ObjectReader): ObjectId[] {
  if (type === 'blob') return [];
  if (type === 'tag') return [decodeTag(body, id, format).object];
  if (type === 'commit') {
    const { tree, parents } = decodeCommit(body, id, format);
    return [tree, ...parents];
  }
  return decodeTree(body, format)
    .filter(({ mode }) => mode !== '160000')
    .map((entry) => entry.id);
}
