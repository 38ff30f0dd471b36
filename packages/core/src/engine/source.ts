import type { NodeFact, NodeId, Place, Version, Want } from '../backend.js';
import type { Unloaded } from '../tree/node.js';

/** Where a view finds what its tree does not know yet. `undefined` means: not here, load it first. */
export interface Source {
  entry(directory: Place, name: string): NodeFact | null | undefined;
  listing(directory: Place): KnownListing | undefined;
  /** The newest that is known of a node. */
  current?(id: NodeId): NodeFact | undefined;
  /** A range within the stored content of a file. */
  range(file: Unloaded, offset: number, length: number): Uint8Array | undefined;
}

/** All names of a directory, sorted, with the version of the listing. */
export interface KnownListing {
  readonly version: Version;
  readonly names: readonly string[];
  readonly nodes: readonly NodeFact[];
}

/** Thrown where an operation touches what is not loaded; never seen by a caller of the filesystem. */
export class Missing {
  constructor(
    readonly wants: readonly Want[],
    /** Who did not know it, where operations look at several. */
    readonly source?: Source,
    /** What another of them did not know at the same time. */
    readonly also?: Missing,
  ) {}
}
