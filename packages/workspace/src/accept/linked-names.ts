import { type CallOptions, joinPath, type NodeId, type Version } from '@scratchfs/core';
import { BatchWriter } from '../backend/batch-writer.js';
import type { Lower } from '../backend/lower.js';
import { type DeltaNode, type Head, NO_NAMES } from '../delta/delta-node.js';
import { countsOfNames } from '../delta/links.js';
import type { Contents } from '../log/contents.js';
import type { ReadOnlyPaths } from '../visibility/visible-backend.js';
import { listLower } from './attempt-changes.js';

export interface LinkedNames {
  /** Head with an entry for each name that was found. */
  readonly head: Head;
  /** Contents to store before the head is stored. */
  readonly hashes: ReadonlySet<string>;
}

/**
 * Finds the names of changed files that the attempt has not used yet: other hard links to them on the disk. The
 * directory is walked only if the attempt has changed a file with more names than it has used. Returns undefined if it
 * finds none.
 */
export async function withLinkedNames(
  head: Head,
  { lower, contents, readOnly }: { lower: Lower; contents: Contents; readOnly: ReadOnlyPaths },
  version: Version,
  options: CallOptions = {},
): Promise<LinkedNames | undefined> {
  const wanted = filesWithOtherNames(head);
  if (wanted.size === 0) return undefined;
  const names: string[] = [];
  const walk = async (path: string, lowerPath: string | undefined, node: DeltaNode | undefined): Promise<void> => {
    for (const [name, entry] of node?.names ?? NO_NAMES)
      if (entry.node?.kind === 'directory') await walk(joinPath(path, name), entry.node.from?.path, entry.node);
    if (lowerPath === undefined) return;
    for (const { name, record } of await listLower(lower, lowerPath, options)) {
      if (node?.names?.has(name) === true) continue;
      const inside = joinPath(lowerPath, name);
      if (record.kind === 'directory') {
        const isReadOnly = (await readOnly.ignoredOn(inside, async () => true)) !== undefined;
        if (!isReadOnly) await walk(joinPath(path, name), inside, undefined);
      } else if (wanted.has(record.id)) names.push(joinPath(path, name));
    }
  };
  await walk('/', '/', head.root);
  if (names.length === 0) return undefined;
  const writer = new BatchWriter(head, lower, contents, version, options);
  for (const name of names) await writer.addName(name);
  return { head: writer.head, hashes: writer.hashes };
}

/** Returns the ids of the changed files that have more names than the attempt has used. */
function filesWithOtherNames(head: Head): ReadonlySet<NodeId> {
  const used = countsOfNames(head);
  const found = new Set<NodeId>();
  for (const [id, { links = 1 }] of head.inodes) if (links > (used.get(id) ?? 0)) found.add(id);
  return found;
}
