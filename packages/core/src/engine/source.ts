import type { LoadRequest, NodeAddress, NodeId, NodeRecord } from '../backend.js';
import type { Unloaded } from '../tree/node.js';
import type { CachedListing } from './remote/cached-listing.js';
import { runInSlices, type Steps } from './scheduling/time-slice.js';

/** Source of what a view's tree does not know yet. Methods return undefined for data that must be loaded first. */
export interface Source {
  entry(directory: NodeAddress, name: string): NodeRecord | null | undefined;
  /** @throws NotLoaded if the listing has to be prepared first */
  listing(directory: NodeAddress): CachedListing | undefined;
  /** Returns the newest known record of a node. */
  current?(id: NodeId): NodeRecord | undefined;
  /** Returns a range of the stored content of a file. */
  range(file: Unloaded, offset: number, length: number): Uint8Array | undefined;
  /** Forgets the content of a file, which is not needed any more. */
  dropContent?(id: NodeId): void;
}

/** Known data whose preparation takes so long that it runs in slices. */
export interface Preparation {
  readonly kind: 'prepare';
  readonly at: NodeAddress;
  readonly steps: () => Steps<void>;
}

/** Something that an operation needs before it can continue. */
export type Need = LoadRequest | Preparation;

/** Thrown when an operation touches something that is not loaded. */
export class NotLoaded {
  constructor(
    readonly needs: readonly Need[],
    /** The source that lacks the data, if operations use several. */
    readonly source?: Source,
    /** Needs of another source in the same attempt. */
    readonly also?: NotLoaded,
  ) {}

  /** True if `needs` has only preparations, and no load. */
  get isKnown(): boolean {
    return this.needs.every(({ kind }) => kind === 'prepare');
  }
}

/** Runs the preparations and returns the load requests. */
export async function prepared(needs: readonly Need[], signal: AbortSignal | undefined): Promise<LoadRequest[]> {
  const requests: LoadRequest[] = [];
  for (const need of needs) {
    if (need.kind === 'prepare') await runInSlices(need.steps(), signal);
    else requests.push(need);
  }
  return requests;
}
