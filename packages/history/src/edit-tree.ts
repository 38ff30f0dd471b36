import type { ObjectId } from './object-id.js';
import type { ObjectReader } from './object-reader.js';
import { checkEntryName } from './objects/entry-name.js';
import { idOf } from './objects/git-object.js';
import { encodeTree, type TreeEntry } from './objects/tree.js';
import type { NamedObject, RepositoryCall } from './repository.js';

/** New entries by path. An entry takes its name from the path; undefined removes the path. */
export type TreeEdits = ReadonlyMap<string, Pick<TreeEntry, 'mode' | 'id'> | undefined>;

interface Level {
  readonly entries: Map<string, Pick<TreeEntry, 'mode' | 'id'> | undefined>;
  readonly below: Map<string, Level>;
}

/**
 * Changes some paths of a tree. Returns the new tree's id and all trees that were encoded again, children first. Reads
 * only the directories on the paths of the changes. A directory under the root that becomes empty is removed.
 */
export async function editTree(
  reader: ObjectReader,
  tree: ObjectId | undefined,
  edits: TreeEdits,
  call?: RepositoryCall,
): Promise<{ readonly id: ObjectId; readonly objects: NamedObject[] }> {
  const objects: NamedObject[] = [];
  const top = levelsOf(edits);
  const write = async (id: ObjectId | undefined, level: Level): Promise<ObjectId | undefined> => {
    const entries = new Map<string, TreeEntry>();
    for (const entry of id === undefined ? [] : await reader.tree(id, call)) entries.set(entry.name, entry);
    for (const [name, entry] of level.entries) {
      if (entry === undefined) entries.delete(name);
      else entries.set(name, { ...entry, name });
    }
    for (const [name, below] of level.below) {
      const before = entries.get(name);
      const after = await write(before?.mode === '40000' ? before.id : undefined, below);
      if (after !== undefined) entries.set(name, { mode: '40000', name, id: after });
      else if (before?.mode === '40000') entries.delete(name);
    }
    if (entries.size === 0 && level !== top) return undefined;
    const body = encodeTree([...entries.values()], reader.store.format);
    const object = { type: 'tree', body } as const;
    const written = idOf(object, reader.store.format, reader.primitives);
    objects.push({ ...object, id: written });
    return written;
  };
  return { id: (await write(tree, top)) as ObjectId, objects };
}

function levelsOf(edits: TreeEdits): Level {
  const top: Level = { entries: new Map(), below: new Map() };
  for (const [path, entry] of edits) {
    const names = path.split('/');
    for (const name of names) checkEntryName(name);
    const last = names.pop() as string;
    let level = top;
    for (const name of names) {
      let next = level.below.get(name);
      if (next === undefined) level.below.set(name, (next = { entries: new Map(), below: new Map() }));
      level = next;
    }
    level.entries.set(last, entry);
  }
  return top;
}
