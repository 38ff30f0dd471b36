import type { NodeRecord, Version } from '../../backend.js';
import { joinPath } from '../../paths.js';
import type { Entries } from '../../tree/entries.js';
import { entriesFromSorted } from '../../tree/entries-build.js';
import { LinkedNode, type TreeNode } from '../../tree/node.js';
import { Owner } from '../../tree/owner.js';
import { nodeFromRecord } from '../../tree/stored-nodes.js';
import { runSteps, type Steps } from '../scheduling/time-slice.js';

/** All names of a directory, sorted, with their records and the listing's version. */
export interface CachedListing {
  readonly version: Version;
  readonly names: readonly string[];
  readonly records: readonly NodeRecord[];
  /** The records as nodes, which trees may share. */
  readonly nodes: readonly TreeNode[];
  readonly entries: Entries<TreeNode>;
  /** Positions of files and symlinks with several names. A tree keeps these nodes in a separate table. */
  readonly linked: readonly number[];
}

/** Number of names processed per step. */
export const NAMES_AT_ONCE = 64;

/** Number of names up to which a listing is processed without pauses. */
export const MANY_NAMES = 2_000;

/** Creates nodes for the names of a directory given by its path; undefined if `recordOf` does not know one of them. */
export function* listingSteps(
  directory: string,
  version: Version,
  names: readonly string[],
  recordOf: (name: string, index: number) => NodeRecord | undefined,
): Steps<CachedListing | undefined> {
  const owner = new Owner();
  const records: NodeRecord[] = [];
  const nodes: TreeNode[] = [];
  const linked: number[] = [];
  for (let i = 0; i < names.length; i++) {
    if (i % NAMES_AT_ONCE === 0) yield;
    const name = names[i] as string;
    const record = recordOf(name, i);
    if (record === undefined) return undefined;
    records.push(record);
    const isLinked = record.links > 1 && record.kind !== 'directory';
    if (isLinked) linked.push(i);
    nodes.push(isLinked ? new LinkedNode(record.id) : nodeFromRecord(owner, record, joinPath(directory, name)));
  }
  yield;
  return { version, names, records, nodes, entries: entriesFromSorted(owner, names, nodes), linked };
}

/** {@link listingSteps} for complete records, without pauses. */
export function cachedListing(
  directory: string,
  version: Version,
  names: readonly string[],
  records: readonly NodeRecord[],
): CachedListing {
  return runSteps(listingSteps(directory, version, names, (_, i) => records[i])) as CachedListing;
}
