import type { CallOptions, FileSystem, Limits } from '@scratchfs/core';
import type { Attempt, AttemptInfo } from './attempt-types.js';
import type { Operation } from './operation.js';

export interface WorkspaceOptions {
  /**
   * Where attempts are kept: `memory:`, a URL that `createFileSystem({ storage })` takes, or a filesystem. Default: the
   * directory `$XDG_STATE_HOME/scratchfs/<id>` of the disk, in `~/.local/state` if the variable is not an absolute
   * path.
   */
  readonly store?: string | FileSystem | undefined;
  /**
   * Failures that a completed operation survives in the default store: the end of the process, or also a power failure.
   * Ignored if `store` is given. Default `process`.
   */
  readonly durability?: 'process' | 'fsync' | undefined;
  /** Patterns of paths to hide in addition to secrets such as `.env` and private keys. */
  readonly deny?: readonly string[] | undefined;
  /** Patterns of secrets that are not hidden. */
  readonly allowSecrets?: readonly string[] | undefined;
  /** Limits of what each attempt adds to the directory. */
  readonly limits?: Limits | undefined;
  /**
   * Write each operation to the disk in the same call. New attempts are then live, except forks, and calls without a
   * name use the one called `live` (`live-2` … if that was discarded or is not live), never the current one. Default
   * false: the files of existing live attempts can only be read, but their operations can be undone.
   */
  readonly live?: boolean | undefined;
  /**
   * Use the store also if the directory at the path is not the one that the store was made for, because it was created
   * again or restored from a backup. Default false: opening then fails with `replaced`.
   */
  readonly adopt?: boolean | undefined;
  /** Epoch milliseconds. Default: the current time. */
  readonly clock?: (() => number) | undefined;
}

/** An action that needs a person's yes, and what the person decided. */
export interface Approval {
  /** Counts from 1 within the workspace. */
  readonly id: number;
  readonly state: 'pending' | 'approved' | 'denied' | 'expired';
  readonly attempt: string;
  /** Number of the attempt's last operation when the approval was asked for. */
  readonly head: number;
  /** Name of the action, such as `accept`. */
  readonly action: string;
  readonly summary: string;
  /** Details of the action, as JSON data. The approval can be used only for equal ones. */
  readonly details?: unknown;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface Approvals {
  request(
    what: Pick<Approval, 'attempt' | 'head' | 'action' | 'summary' | 'details'> & {
      readonly ttlMs?: number | undefined;
    },
    options?: CallOptions,
  ): Promise<Approval>;
  /** Newest first. */
  list(options?: CallOptions & { readonly state?: Approval['state'] | undefined }): Promise<readonly Approval[]>;
  get(id: number, options?: CallOptions): Promise<Approval>;
  /** @throws WorkspaceError `not-found`; `settled` if it is not pending any more */
  approve(id: number, options?: CallOptions): Promise<Approval>;
  deny(id: number, options?: CallOptions): Promise<Approval>;
  /**
   * Uses an approval up. Returns true once, if the approval is approved, has not expired, and is for this attempt,
   * head, action and details; otherwise false.
   */
  use(
    id: number,
    what: Pick<Approval, 'attempt' | 'head' | 'action' | 'details'>,
    options?: CallOptions,
  ): Promise<boolean>;
}

export type WorkspaceEvent =
  | { readonly type: 'operation'; readonly operation: Operation }
  | { readonly type: 'attempt'; readonly attempt: string; readonly change: 'created' | 'discarded' | 'current' }
  | { readonly type: 'approval'; readonly approval: Approval };

export interface GarbageResult {
  /** Number of files of the store that were deleted. */
  readonly deleted: number;
  readonly bytes: number;
  readonly kept: number;
}

/** A directory of the user with a store beside it. */
export interface Workspace extends AsyncDisposable {
  /** Real path of the directory. */
  readonly directory: string;
  /** True if the directory is in a git work tree. */
  readonly isRepository: boolean;
  /**
   * Returns facts about all attempts, discarded ones too, oldest first.
   * @param options.name only about this attempt; none if it does not exist
   */
  attempts(options?: CallOptions & { readonly name?: string | undefined }): Promise<readonly AttemptInfo[]>;
  /**
   * Creates an attempt, and makes it the current one if there is none and it is not live.
   * @throws WorkspaceError `exists`; TypeError or RangeError for what cannot be a name
   */
  createAttempt(name?: string, options?: CallOptions): Promise<Attempt>;
  /**
   * Returns an attempt by its name, by default the current one, or with `live: true` the live one. If there is no such
   * default, it is created by the first change.
   * @throws WorkspaceError `not-found`; `closed` if it was discarded
   */
  attempt(name?: string, options?: CallOptions): Promise<Attempt>;
  /** Makes an attempt the current one. @throws WorkspaceError `not-found`, `closed`; `refused` for a live one */
  switchTo(name: string, options?: CallOptions): Promise<void>;
  readonly approvals: Approvals;
  /** Returns the events from the call on, also those of other processes. They end with the signal or `close`. */
  events(options?: CallOptions): AsyncIterable<WorkspaceEvent>;
  /**
   * Deletes what is not needed any more: operations beyond the newest 1,000 of an attempt, what discarded attempts have
   * stored, contents that no operation names, expired approvals beyond the newest 1,000, notes about directories that
   * were moved more than 90 days ago, and copies of files for commands that no command has used for 30 days.
   * @param options.graceMs nothing younger is deleted from the store; in milliseconds, by default an hour. With less
   *   than an hour, no other process may use the workspace: it may store a content some minutes before the operation
   *   that names it, and would lose the content.
   */
  gc(options?: CallOptions & { readonly graceMs?: number | undefined }): Promise<GarbageResult>;
  close(): Promise<void>;
}
