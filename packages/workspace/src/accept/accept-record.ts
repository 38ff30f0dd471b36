import type { EntryState } from '../operation.js';

/** Change of one path of the disk. */
export interface DiskWrite {
  readonly path: string;
  readonly before: EntryState | null;
  readonly after: EntryState | null;
}

/**
 * Changes that an `accept`, or an operation of a live attempt, made outside the attempt. Kept in the record of the
 * operation, so that it can be undone and repeated. A merge can only be undone with git.
 */
export type AcceptRecord =
  | {
      readonly as: 'apply';
      readonly writes: readonly DiskWrite[];
      /** True for an operation of a live attempt, which was written to the disk in the same step. */
      readonly isLive?: true | undefined;
    }
  | {
      readonly as: 'branch';
      readonly branch: string;
      /** Commit that the branch named before. Undefined if the accept created the branch. */
      readonly from: string | undefined;
      readonly to: string;
    }
  | { readonly as: 'merge'; readonly commit: string };

/** Reports whether a record is that of an operation of a live attempt, not of an `accept`. */
export function isOfLiveOperation(accept: AcceptRecord | undefined): boolean {
  return accept?.as === 'apply' && accept.isLive === true;
}
