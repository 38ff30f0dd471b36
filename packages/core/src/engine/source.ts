import type { LoadRequest, NodeAddress, NodeId, NodeRecord } from '../backend.js';
import type { Unloaded } from '../tree/node.js';
import type { KnownListing } from './known-listing.js';
import { runInSlices, type Steps } from './scheduling/time-slice.js';

/** Where a view finds what its tree does not know yet. `undefined` means: not here, load it first. */
export interface Source {
  entry(directory: NodeAddress, name: string): NodeRecord | null | undefined;
  /** @throws NotLoaded if it has to be made ready first */
  listing(directory: NodeAddress): KnownListing | undefined;
  /** The newest that is known of a node. */
  current?(id: NodeId): NodeRecord | undefined;
  /** A range within the stored content of a file. */
  range(file: Unloaded, offset: number, length: number): Uint8Array | undefined;
}

/** What is known, but takes so long to make ready that others have their turns meanwhile. */
export interface Preparation {
  readonly kind: 'prepare';
  readonly at: NodeAddress;
  readonly steps: () => Steps<void>;
}

/** What an operation needs before it can go on. */
export type Need = LoadRequest | Preparation;

/** Thrown where an operation touches what is not loaded; never seen by a caller of the filesystem. */
export class NotLoaded {
  constructor(
    readonly needs: readonly Need[],
    /** Who did not know it, where operations look at several. */
    readonly source?: Source,
    /** What another of them did not know at the same time. */
    readonly also?: NotLoaded,
  ) {}

  /** Whether all of it is known and only to be made ready. */
  get isKnown(): boolean {
    return this.needs.every(({ kind }) => kind === 'prepare');
  }
}

/** Makes ready what is only to be made ready, and answers what has to be loaded. */
export async function prepared(needs: readonly Need[], signal: AbortSignal | undefined): Promise<LoadRequest[]> {
  const wants: LoadRequest[] = [];
  for (const need of needs) {
    if (need.kind === 'prepare') await runInSlices(need.steps(), signal);
    else wants.push(need);
  }
  return wants;
}
