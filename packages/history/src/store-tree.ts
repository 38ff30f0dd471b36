import type { FileSystem } from '@scratchfs/core';
import { collectStates, type StateWalk } from '@scratchfs/core/states';
import type { ObjectId } from './object-id.js';
import type { ObjectReader } from './object-reader.js';
import type { GitObjectStore, NamedObject, RepositoryCall } from './repository.js';
import type { StateIds } from './state-ids.js';
import { type FoundObject, type FoundTree, TreeCursor } from './tree-cursor.js';
import { entryAt } from './tree-walk.js';

/** Bytes and objects after which a batch is written to the store. */
const MAX_BATCH_BYTES = 8 * 2 ** 20;
const MAX_BATCH_OBJECTS = 2_000;

/**
 * Returns the objects of a filesystem's state that are not known yet, from one consistent state.
 * @param base the tree of the previous commit: an empty directory that was a submodule there stays one
 */
export async function findObjects(
  fileSystem: FileSystem,
  reader: ObjectReader,
  known: StateIds,
  base: ObjectId | undefined,
  call?: RepositoryCall,
): Promise<FoundTree> {
  const submodules = new Map<string, ObjectId>();
  const found = await walk(fileSystem, reader, known, submodules, call);
  if (base === undefined || found.empty.length === 0) return found;
  for (const path of found.empty) {
    const entry = await entryAt(reader, base, path, call);
    if (entry?.mode === '160000') submodules.set(path, entry.id);
  }
  return submodules.size === 0 ? found : walk(fileSystem, reader, known, submodules, call);
}

async function walk(
  fileSystem: FileSystem,
  reader: ObjectReader,
  known: StateIds,
  submodules: ReadonlyMap<string, ObjectId>,
  call?: RepositoryCall,
): Promise<FoundTree & { readonly empty: readonly string[] }> {
  const { primitives } = reader;
  const { format } = reader.store;
  let last: TreeCursor | undefined;
  const start = (walk: StateWalk): TreeCursor => {
    const { realm } = walk;
    const before = known.recordOf(fileSystem, realm);
    last = new TreeCursor(walk, { format, primitives, known: known.of(realm), before, submodules });
    return last;
  };
  // A filesystem with no known states is read completely.
  const options = { signal: call?.signal, contents: !known.knows(fileSystem) };
  const objects: FoundObject[] = [];
  for (const found of await collectStates(fileSystem, start, options)) if (found !== null) objects.push(found);
  known.register(fileSystem);
  const { root, record, realm, empty } = last as unknown as TreeCursor;
  return { root, objects, realm, record, empty };
}

/** Writes objects to the store in batches. */
export async function storeObjects(
  store: GitObjectStore,
  objects: readonly FoundObject[],
  call?: RepositoryCall,
): Promise<void> {
  let batch: NamedObject[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    call?.signal?.throwIfAborted();
    if (batch.length > 0) await store.write(batch, call);
    batch = [];
    bytes = 0;
  };
  for (const { object } of objects) {
    batch.push(object);
    bytes += object.body.length;
    if (bytes >= MAX_BATCH_BYTES || batch.length >= MAX_BATCH_OBJECTS) await flush();
  }
  await flush();
}
