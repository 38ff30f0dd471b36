import type { ContextOptions } from '../engine/context.js';
import type { EntryKind } from '../entry.js';
import type { CallOptions, SyncFileSystem } from '../file-system.js';
import type { SideChange } from './merge.js';

export type { SideChange };

export interface WorkingCopyOptions extends ContextOptions, CallOptions {
  /** What is loaded, with all beneath it. Default: everything. Other names are not seen, and `push` leaves them alone. */
  readonly paths?: readonly string[] | undefined;
  /** Bytes of content that may be held; more is refused with EFBIG. Default 268,435,456. */
  readonly budget?: number | undefined;
}

/** One entry of a {@link WorkingCopy} that is other than it was when it was last the same as in the storage. */
export interface EntryChange {
  readonly path: string;
  /** `modified`: content, link target, mode, owner or times. */
  readonly change: SideChange;
  /** Of `renamed`: the old path. What lies in a renamed directory is not listed for that. */
  readonly from?: string;
  readonly kind: EntryKind;
}

/** An entry that was changed here and in the storage, each in another way. */
export interface Conflict {
  /** The path here; where it was removed here, the path in the storage. */
  readonly path: string;
  readonly ours: SideChange;
  readonly theirs: SideChange;
}

export type PushResult =
  | { readonly kind: 'pushed' /** What changed in the storage. */; readonly changes: readonly EntryChange[] }
  /** Nothing was changed anywhere. */
  | { readonly kind: 'conflict'; readonly conflicts: readonly Conflict[] };

export interface PullOptions extends CallOptions {
  /** Whose change counts where both changed an entry. Default: nobody's, and the answer is `conflict`. */
  readonly prefer?: 'ours' | 'theirs' | undefined;
}

export type PullResult =
  | {
      readonly kind: 'pulled' /** What others changed since the last time. */;
      readonly changes: readonly EntryChange[] /** Those that were decided by `prefer`. */;
      readonly conflicts: readonly Conflict[];
    }
  /** Nothing was changed anywhere. */
  | { readonly kind: 'conflict'; readonly conflicts: readonly Conflict[] };

/**
 * A synchronous filesystem in memory with what a storage held at one moment. Work on it costs no request; `push` brings
 * what was changed into the storage, `pull` brings in what others changed there.
 */
export interface WorkingCopy extends AsyncDisposable {
  /** A filesystem like any other, with checkpoints and forks of its own. */
  readonly fileSystem: SyncFileSystem;
  /** What is changed here and not pushed yet, sorted by path. Costs what changed. */
  status(): EntryChange[];
  /**
   * Writes what was changed here into the storage, in one atomic step, whatever others change elsewhere in it meanwhile.
   * Where they changed the same entries since the last `push` or `pull`, nothing is written and the answer says which.
   * @throws FsError ENOSPC, EFBIG where the storage would exceed the limits
   * @throws StorageError where the storage failed; `OutcomeUnknownError` where it cannot say whether it was written
   */
  push(options?: CallOptions): Promise<PushResult>;
  /**
   * Joins what others changed in the storage with what was changed here, entry by entry: what only one side changed is
   * taken. Open handles of the filesystem become EBADF, as after a rollback, where anything came in.
   * @throws FsError EFBIG where it is more than the budget, ENOSPC where it exceeds the limits
   */
  pull(options?: PullOptions): Promise<PullResult>;
  /** Ends the filesystem; the storage stays open. What was not pushed is lost. */
  close(): Promise<void>;
}
