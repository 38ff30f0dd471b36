import type { ContextOptions } from '../engine/context.js';
import type { EntryKind } from '../entry.js';
import type { CallOptions, SyncFileSystem } from '../file-system.js';
import type { SideChange } from './merge.js';

export type { SideChange };

export interface WorkingCopyOptions extends ContextOptions, CallOptions {
  /**
   * Files to load, and directories with everything in them. Default: everything. Other names, except those of parent
   * directories, are not visible, and `push` leaves them alone.
   */
  readonly paths?: readonly string[] | undefined;
  /**
   * Limits of the copy: its writes and pulls obey them. A push obeys the limits that are stored with the storage.
   * Default: those of the storage.
   */
  readonly limits?: ContextOptions['limits'];
  /** Maximum bytes of content in a loaded state; loading more fails with EFBIG. Default 268,435,456. */
  readonly budget?: number | undefined;
}

/** A change of one entry, in the {@link WorkingCopy} or in its storage. */
export interface EntryChange {
  readonly path: string;
  /** `modified`: content, link target, mode, owner or times. */
  readonly change: SideChange;
  /** The old path, for `renamed`. Entries inside a renamed directory are listed only if they changed themselves. */
  readonly from?: string;
  readonly kind: EntryKind;
}

/** An entry that was changed differently here and in the storage. */
export interface Conflict {
  /** The path here. If the entry was removed here: its path in the storage, or its last path here. */
  readonly path: string;
  readonly ours: SideChange;
  readonly theirs: SideChange;
}

/** Nothing was changed, neither here nor in the storage. */
export interface ConflictResult {
  readonly kind: 'conflict';
  readonly conflicts: readonly Conflict[];
}

export interface PushedResult {
  readonly kind: 'pushed';
  /** Entries that the push changed in the storage. */
  readonly changes: readonly EntryChange[];
}

export type PushResult = PushedResult | ConflictResult;

export interface PullOptions extends CallOptions {
  /** The side that wins if both changed an entry. Default: neither, and the result is `conflict`. */
  readonly prefer?: 'ours' | 'theirs' | undefined;
}

export interface PulledResult {
  readonly kind: 'pulled';
  /** Entries that other clients changed in the storage and that were not pulled before. */
  readonly changes: readonly EntryChange[];
  /** Conflicts that `prefer` decided. */
  readonly conflicts: readonly Conflict[];
}

export type PullResult = PulledResult | ConflictResult;

/**
 * A synchronous filesystem in memory, loaded from one consistent state of a storage. Work on it costs no request.
 * `push` writes its changes into the storage; `pull` merges the changes of other clients into it.
 */
export interface WorkingCopy extends AsyncDisposable {
  /** A filesystem like any other, with checkpoints and forks of its own. */
  readonly fileSystem: SyncFileSystem;
  /** Returns the changes that are not pushed yet, sorted by path. Most unchanged directories are skipped. */
  status(): EntryChange[];
  /**
   * Writes the changes into the storage in one atomic step. Concurrent changes to other entries do not disturb it. If
   * another client changed the same entries differently and that was not pulled yet, nothing is written and the result
   * lists them.
   * @throws FsError ENOSPC, EFBIG if the storage would exceed its limits
   * @throws StorageError if the storage fails, or if other writers were faster in 16 attempts; `OutcomeUnknownError` if
   *   it is unknown whether the changes were written
   */
  push(options?: CallOptions): Promise<PushResult>;
  /**
   * Merges changes of other clients with the changes made here, entry by entry; an entry that only one side changed
   * takes that change. If anything came in, open handles of the filesystem fail with EBADF, as after a rollback.
   * @throws FsError EFBIG if the storage's content exceeds the budget, ENOSPC if the result exceeds the limits
   * @throws StorageError if the storage fails
   */
  pull(options?: PullOptions): Promise<PullResult>;
  /** Closes the filesystem; the storage stays open. Changes that were not pushed are lost. */
  close(): Promise<void>;
}
