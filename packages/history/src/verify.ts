import { isHistoryError } from './errors.js';
import type { ObjectId } from './object-id.js';
import type { ObjectReader } from './object-reader.js';
import { decodeCommit } from './objects/commit.js';
import type { GitObject, ObjectType } from './objects/git-object.js';
import { decodeTag } from './objects/tag.js';
import { decodeTree } from './objects/tree.js';
import type { RepositoryCall } from './repository.js';

/** A fault that `verify` found in an object. */
export interface Problem {
  readonly id: ObjectId;
  readonly message: string;
}

export interface Verification {
  /** Number of checked objects by type. */
  readonly counts: Readonly<Record<ObjectType, number>>;
  readonly problems: readonly Problem[];
}

/** Id of an object, and its type if that is known. */
export interface TypedId {
  readonly id: ObjectId;
  readonly type: ObjectType | undefined;
}

/**
 * Reads and hashes every reachable object, and checks that each has the type that the first reference to it requires.
 */
export async function verifyFrom(
  reader: ObjectReader,
  tips: readonly ObjectId[],
  call?: RepositoryCall & { readonly onProgress?: ((looked: number) => void) | undefined },
): Promise<Verification> {
  const counts = { blob: 0, tree: 0, commit: 0, tag: 0 };
  const problems: Problem[] = [];
  const seen = new Set<ObjectId>(tips);
  const pending: TypedId[] = tips.map((id) => ({ id, type: undefined }));
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { id, type } = next;
    try {
      const object = await reader.object(id, call);
      counts[object.type] += 1;
      if (type !== undefined && type !== object.type)
        problems.push({ id, message: `Object ${id} is a ${object.type} where a ${type} belongs` });
      for (const reference of await referencesOf(object, id, reader, call)) {
        if (seen.has(reference.id)) continue;
        seen.add(reference.id);
        pending.push(reference);
      }
    } catch (error) {
      if (!isHistoryError(error)) throw error;
      problems.push({ id, message: error.message });
    }
    call?.onProgress?.(seen.size - pending.length);
  }
  return { counts, problems };
}

/** Returns what an object refers to, except the parents beyond a shallow boundary and the commits of submodules. */
export async function referencesOf(
  { type, body }: GitObject,
  id: ObjectId,
  reader: ObjectReader,
  call?: RepositoryCall,
): Promise<TypedId[]> {
  const { format } = reader.store;
  if (type === 'commit') {
    const commit = decodeCommit(body, id, format);
    const { tree } = commit;
    const parents = await reader.parentsOf(commit, call);
    return [{ id: tree, type: 'tree' }, ...parents.map((parent) => ({ id: parent, type: 'commit' as const }))];
  }
  if (type === 'tree') {
    const entries = decodeTree(body, format).filter(({ mode }) => mode !== '160000');
    return entries.map((entry) => ({ id: entry.id, type: entry.mode === '40000' ? 'tree' : 'blob' }));
  }
  if (type === 'tag') {
    const tag = decodeTag(body, id, format);
    return [{ id: tag.object, type: tag.type }];
  }
  return [];
}
