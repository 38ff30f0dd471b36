import type { NodeRecord, Version } from '../../backend.js';
import { joinPath } from '../../paths.js';
import { Entries } from '../../tree/entries.js';
import { LinkedNode, type TreeNode } from '../../tree/node.js';
import { Owner } from '../../tree/owner.js';
import { nodeFromRecord } from '../../tree/tree.js';
import { runSteps, type Steps } from '../scheduling/time-slice.js';

/** All names of a directory, sorted, with the listing's version and their records. */
export interface CachedListing {
  readonly version: Version;
  readonly names: readonly string[];
  readonly records: readonly NodeRecord[];
  /** The records as nodes, which trees may share. */
  readonly nodes: readonly TreeNode[];
  readonly entries: Entries<TreeNode>;
  /** Positions of files or links with several names, which a tree keeps in a separate table. */
  readonly linked: readonly number[];
}

/** Names between two pauses. */
export const NAMES_AT_ONCE = 64;

/** Names of a directory that are processed without a pause; for more, each step is a slice of its own. */
export const MANY_NAMES = 2_000;

/** Creates nodes for the names of a directory given by its path; undefined if `factOf` does not know one of them. */
export function* listingSteps(
  directory: string,
  version: Version,
  names: readonly string[],
  factOf: (name: string, index: number) => NodeRecord | undefined,
): Steps<CachedListing | undefined> {
  const owner = new Owner();
  const facts: NodeRecord[] = [];
  const nodes: TreeNode[] = [];
  const linked: number[] = [];
  for (let i = 0; i < names.length; i++) {
    if (i % NAMES_AT_ONCE === 0) yield;
    const name = names[i] as string;
    const fact = factOf(name, i);
    if (fact === undefined) return undefined;
    facts.push(fact);
    const isLinked = fact.links > 1 && fact.kind !== 'directory';
    if (isLinked) linked.push(i);
    nodes.push(isLinked ? new LinkedNode(fact.id) : nodeFromRecord(owner, fact, joinPath(directory, name)));
  }
  yield;
  return { version, names, records: facts, nodes, entries: Entries.fromSorted(owner, names, nodes), linked };
}

/** {@link listingSteps} for complete records, without pauses. */
export function cachedListing(
  directory: string,
  version: Version,
  names: readonly string[],
  facts: readonly NodeRecord[],
): CachedListing {
  return runSteps(listingSteps(directory, version, names, (_, i) => facts[i])) as CachedListing;
}
