import type { CallOptions, FileSystem, Limits } from '@scratchfs/core';
import type { Attempt, AttemptInfo } from './attempt-types.js';
import type { Operation } from './operation.js';

export interface WorkspaceOptions {
  /**
   * Where attempts are kept: `memory:`, a URL that `createFileSystem({ storage })` takes, or a filesystem. Default: a
   * directory of the disk, `$XDG_STATE_HOME/scratchfs/<id>`.
   */
  readonly store?: string | FileSystem | undefined;
  /** Failures that a completed operation survives on the disk: the end of the process, or also a power failure. Default `process`. */
  readonly durability?: 'process' | 'fsync' | undefined;
  /** Patterns of paths to hide in addition to secrets such as `.env` and private keys. */
  readonly deny?: readonly string[] | undefined;
  /** Patterns of secrets to show all the same. */
  readonly allowSecrets?: readonly string[] | undefined;
  /** For what an attempt adds. */
  readonly limits?: Limits | undefined;
  /**
   * Write each operation to the disk in the same call, or fail whole. Attempts that are created are live then, and calls
   * without a name use the one called `live`, never the current one. Default false: live attempts can be read and
   * undone, not changed.
   */
  readonly live?: boolean | undefined;
  /**
   * Take over a directory that lies at the path of another one, for which the store was made: it was created again, or
   * restored from a backup. Default false: that is an error `replaced`.
   */
  readonly adopt?: boolean | undefined;
  /** Epoch milliseconds. Default: the current time. */
  readonly clock?: (() => number) | undefined;
}

/** Something that waits for a person's yes or no. */
export interface Approval {
  /** Counts from 1 within the workspace. */
  readonly id: number;
  readonly state: 'pending' | 'approved' | 'denied' | 'expired';
  readonly attempt: string;
  /** Number of the attempt's last operation when the approval was asked for. */
  readonly head: number;
  /** What is to be done, such as `accept`. */
  readonly action: string;
  readonly summary: string;
  /** What was asked for, as JSON data; an approval counts only for the same. */
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
  /** @throws WorkspaceError `not-found`, `settled` if it is not pending any more */
  approve(id: number, options?: CallOptions): Promise<Approval>;
  deny(id: number, options?: CallOptions): Promise<Approval>;
  /** Uses up an approval: true exactly once, if it is approved for the same action, attempt, head and details. */
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
  /** Contents and records that were deleted, and their bytes. */
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
  /** Returns facts about all attempts, discarded ones too, oldest first. @param options.name only about this one, if it exists */
  attempts(options?: CallOptions & { readonly name?: string | undefined }): Promise<readonly AttemptInfo[]>;
  /** Creates an attempt, and makes it the current one if there is none. @throws WorkspaceError `exists` */
  createAttempt(name?: string, options?: CallOptions): Promise<Attempt>;
  /**
   * Returns the attempt of a name, by default the current one, which is created at its first change.
   * @throws WorkspaceError `not-found`
   */
  attempt(name?: string, options?: CallOptions): Promise<Attempt>;
  /** Makes an attempt the current one. */
  switchTo(name: string, options?: CallOptions): Promise<void>;
  readonly approvals: Approvals;
  /** What happens from the call on, also in other processes. Ends with the signal or `close`. */
  events(options?: CallOptions): AsyncIterable<WorkspaceEvent>;
  /**
   * Deletes what nobody needs any more: operations beyond the newest 1,000 of an attempt, what discarded attempts have stored,
   * contents that nothing names, approvals that have expired, except for the newest 1,000, and the copies of files for commands
   * that have not been used for 30 days.
   * @param options.graceMs age in milliseconds from which on something is deleted, by default an hour. A process stores a
   *   content up to some minutes before the operation that names it, so with less than an hour no other process may work
   *   on the workspace: its operation could lose its content.
   */
  gc(options?: CallOptions & { readonly graceMs?: number | undefined }): Promise<GarbageResult>;
  close(): Promise<void>;
}
