import type { CallOptions, FileSystem } from '@scratchfs/core';
import type { OsSandboxLimits, Stopped } from '@scratchfs/host';
import type { Conflict, EntryState, Operation, OperationLabel } from './operation.js';

/** Reference to an operation: its number, or the operation. */
export type OperationRef = number | Pick<Operation, 'id'>;

export interface OperationResult<T> {
  readonly value: T;
  /** Undefined if nothing changed. */
  readonly operation: Operation | undefined;
  /** What the person changed on the disk meanwhile, among the paths that the attempt has changed. */
  readonly refreshed: RefreshResult;
}

/** An operation, and what the disk was found to have at its paths after it. */
export interface RefreshedOperation extends Operation {
  readonly refreshed: RefreshResult;
}

/** Result of comparing the attempt's changed paths with the disk. Paths are sorted. */
export interface RefreshResult {
  /** Paths that the person changed, and whose changes are now in the attempt too. */
  readonly merged: readonly string[];
  readonly conflicts: readonly Conflict[];
}

export interface LogOptions extends CallOptions {
  readonly tool?: string | undefined;
  readonly actor?: string | undefined;
  /** Only operations that changed this path or something under it. */
  readonly path?: string | undefined;
  /** Only operations older than this one: the `next` of the previous page. */
  readonly before?: OperationRef | undefined;
  /** Default 50. */
  readonly limit?: number | undefined;
}

export interface LogPage {
  /** Newest first. */
  readonly operations: readonly Operation[];
  /** Pass it as `before` for the next page. Undefined at the end. */
  readonly next: number | undefined;
}

/** A run of changed lines with its context. */
export interface Hunk {
  /** Identifies the hunk as long as both sides of its file stay as they are. */
  readonly id: string;
  /** First line of the old side, from 1, and number of lines. */
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  /** Lines as in a unified diff, each with ` `, `-`, `+` or `\` in front. */
  readonly lines: readonly string[];
}

/** Difference at one path. */
export interface PathDiff {
  readonly path: string;
  readonly type: 'added' | 'removed' | 'changed' | 'moved';
  /** Old path of a moved entry. */
  readonly from?: string | undefined;
  readonly before: EntryState | null;
  readonly after: EntryState | null;
  /** True if a content is not text, so that there are no hunks. */
  readonly binary: boolean;
  /** Numbers of lines. */
  readonly additions: number;
  readonly deletions: number;
  /** Empty without `hunks: true`. */
  readonly hunks: readonly Hunk[];
}

export interface RefreshOptions extends CallOptions {
  /** Begin from the branch that is checked out now. Default false. */
  readonly onto?: boolean | undefined;
  /** Default true. With false, the conflicts count as told of only after {@link Attempt.markTold}. */
  readonly isTold?: boolean | undefined;
}

export interface AttemptDiffOptions extends CallOptions {
  /** Default: the disk, for what the attempt has changed; if `to` is another attempt, this attempt now. */
  readonly from?: OperationRef | 'disk' | undefined;
  /** Default: the attempt now. Another attempt compares two; both begin from the same directory. */
  readonly to?: OperationRef | Attempt | undefined;
  /** Only these paths and what is under them. */
  readonly paths?: readonly string[] | undefined;
  /** Include hunks. Default false. */
  readonly hunks?: boolean | undefined;
}

export interface AttemptDiff {
  /** Sorted by path. */
  readonly paths: readonly PathDiff[];
  /** Number of the last operation that was looked at: pass it as `expect` to act on just this difference. */
  readonly head: number;
}

export interface AcceptOptions extends CallOptions {
  /**
   * `apply`: write into the work tree; `merge`: merge into the user's branch with the user's git; `branch`: create or
   * advance a branch without a checkout; `patch`: return a patch for `git apply`. Default `apply`.
   */
  readonly as?: 'apply' | 'merge' | 'branch' | 'patch' | undefined;
  /** Only these paths and what is under them. */
  readonly paths?: readonly string[] | undefined;
  /** Only these hunks; files without one are accepted whole if `paths` names them, otherwise left out. Only for `apply` and `patch`. */
  readonly hunks?: readonly string[] | undefined;
  /** Name for `branch`. */
  readonly branch?: string | undefined;
  /** Message of a commit. */
  readonly message?: string | undefined;
  /** `fail`: nothing is accepted if a path has a conflict; `skip`: the others are. Default `fail`. */
  readonly onConflict?: 'fail' | 'skip' | undefined;
  /** Default false. */
  readonly dryRun?: boolean | undefined;
  /** Number of the last operation that the caller has seen; another one is an error `moved`. */
  readonly expect?: OperationRef | undefined;
  readonly actor?: string | undefined;
}

export interface AcceptResult {
  readonly success: boolean;
  /** One sentence for a person. */
  readonly message: string;
  /** Sorted paths whose changes are in the target now. */
  readonly accepted: readonly string[];
  readonly conflicts: readonly Conflict[];
  /** Accepted files that other programs run or obey on their own, for a person to review. */
  readonly autoRun: readonly string[];
  /** The `accept` in the log. Undefined for `patch`, a dry run and a failure. */
  readonly operation: Operation | undefined;
  /** For `merge` and `branch`: the new commit. */
  readonly commit?: string | undefined;
  /** For `patch`: the bytes of the patch. */
  readonly patch?: Uint8Array | undefined;
}

/** Part of a run: the files are copied, the command runs, its changes are brought into the attempt. */
export type RunStage = 'copying' | 'running' | 'collecting';

export interface RunOptions extends CallOptions {
  /** Milliseconds of wall time. Default 600,000. */
  readonly timeoutMs?: number | undefined;
  readonly limits?: OsSandboxLimits | undefined;
  /** Default false. */
  readonly network?: boolean | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Directory of the attempt to start in. Default `/`. */
  readonly cwd?: string | undefined;
  /** Give the command a private, writable copy of the dependency directories. Default false. */
  readonly install?: boolean | undefined;
  /** Connect the command with this process' terminal in place of collecting its output. Default false. */
  readonly terminal?: boolean | undefined;
  /** Receives output as it comes. */
  readonly onOutput?: ((chunk: Uint8Array, stream: 'stdout' | 'stderr') => void) | undefined;
  /** Called at the beginning of each stage. */
  readonly onStage?: ((stage: RunStage) => void) | undefined;
  readonly actor?: string | undefined;
  /** For the log. Default: the command. */
  readonly summary?: string | undefined;
}

export interface RunResult {
  /** Null if a signal ended the command. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | undefined;
  /** Cut in the middle if it is long. */
  readonly stdout: string;
  readonly stderr: string;
  /** Reason for which the command was killed; its changes are then discarded. */
  readonly stopped: Stopped | undefined;
  /** Undefined if the command changed nothing. */
  readonly operation: Operation | undefined;
  /**
   * Paths that the command changed and somebody else too, in a way that cannot be merged; they keep the other state,
   * `attempt`. `base` is what the command was given, `disk` what it left.
   */
  readonly conflicts: readonly Conflict[];
  /** Changes that were not taken, with the reason. */
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
  readonly autoRun: readonly string[];
  /** What to do about a failure that the command could not explain, such as `git commit`. */
  readonly hint?: string | undefined;
}

/** A named line of work on a directory: what the disk holds now, and what this attempt has changed. */
export interface Attempt {
  /** True if each operation is written to the disk in the same call, so that there is nothing to accept. */
  readonly isLive?: boolean | undefined;
  /** Two words, such as `calm-otter`, or the name that it was given. */
  readonly name: string;
  /**
   * The files. `/` is the directory. Each call that changes something, and each `transaction`, is one operation. For
   * sandboxes, tools, node-fs and everything else that takes a filesystem.
   */
  readonly fileSystem: FileSystem;
  /** Reports whether `fileSystem` hides an absolute path, because it is a secret or denied. */
  hides(path: string): boolean;
  /**
   * Runs work as one operation: all its changes through the given filesystem and its line in the log appear in one
   * atomic step. The work runs again if somebody else changed what it read. @throws WorkspaceError `branch-switched`
   */
  operation<T>(
    label: OperationLabel,
    work: (fileSystem: FileSystem) => Promise<T>,
    options?: CallOptions,
  ): Promise<OperationResult<T>>;
  /**
   * Runs work whose commits are operations with this label, such as a tool that commits by itself. If the attempt refused
   * its writes and it made no operation, rejects with that WorkspaceError, which a sandbox may have hidden from the work.
   * @param options.isSingleCall true if the work is one short call, such as that of a tool. What other clients append after
   *   it has begun may then be seen by the next call only, so that its reads look at the log once and not each. Paths of
   *   the disk, and the conditions of its writes, are looked at as always. Default false
   */
  labelled<T>(
    label: OperationLabel,
    work: () => Promise<T>,
    options?: { readonly isSingleCall?: boolean | undefined },
  ): Promise<{ readonly value: T; readonly operations: readonly Operation[] }>;
  /**
   * Takes back the last operation that is not taken back yet; that is an operation too. @param options.expect the operation to be
   * taken back: fails with `moved` if another one has come since. @throws WorkspaceError `nothing-to-undo`, `moved`
   */
  undo(
    options?: CallOptions & { readonly expect?: OperationRef | undefined; readonly actor?: string | undefined },
  ): Promise<RefreshedOperation>;
  /** Makes the last operation that was undone again. @throws WorkspaceError `nothing-to-redo`, `moved` */
  redo(
    options?: CallOptions & { readonly expect?: OperationRef | undefined; readonly actor?: string | undefined },
  ): Promise<RefreshedOperation>;
  /** Returns the operation that `undo` would take back, or that `redo` would make again. Undefined if there is none. */
  next(tool: 'undo' | 'redo', options?: CallOptions): Promise<Operation | undefined>;
  /**
   * Brings back the state after an operation (0: before the first), of everything or of one path. Undefined if nothing
   * differs. A file with several names is one file: restoring one name restores its content and mode under all of them.
   * @param options.expect the last operation that the caller has seen: fails with `moved` if another one has come since
   */
  restore(
    to: OperationRef | 0,
    options?: CallOptions & {
      readonly path?: string | undefined;
      readonly expect?: OperationRef | undefined;
      readonly actor?: string | undefined;
    },
  ): Promise<RefreshedOperation | undefined>;
  /** The attempt's changes after an operation (0: none) over the disk as it is now. Read-only. */
  at(operation: OperationRef | 0): FileSystem;
  log(options?: LogOptions): Promise<LogPage>;
  /** Number of the last operation; 0 if there is none. */
  head(options?: CallOptions): Promise<number>;
  /** Compares all changed paths with the disk, and takes over what the person changed. */
  refresh(options?: RefreshOptions): Promise<RefreshResult>;
  /** Records that conflicts were shown to whoever works on the attempt, so that a write may settle them. */
  markTold(conflicts: readonly Conflict[]): void;
  /**
   * Settles the conflicts at a path and under it in favour of what the attempt has: its changes then begin from what the
   * disk has now, and an accept replaces that. Nothing changes in the attempt, and the operation can be undone. To take
   * over the disk's version instead, `restore(0, { path })`. A write to the path inside `operation` or `labelled` settles
   * its conflict too; so does a `chmod`.
   *
   * Only what a result of this object has told of can be settled, with the same state of the disk: `conflicts` of `refresh`
   * and `accept`, `refreshed` of `operation`, `undo`, `redo`, `restore` and `resolve`. A write settles it only if that was
   * before its call began.
   *
   * @throws WorkspaceError `not-found` if there is no conflict; `refused` if the disk has a directory in place of a file;
   *   `moved` if a conflict was never told of, or the disk has changed since: then none is settled
   */
  resolve(path: string, options?: CallOptions & { readonly actor?: string | undefined }): Promise<RefreshedOperation>;
  diff(options?: AttemptDiffOptions): Promise<AttemptDiff>;
  accept(options?: AcceptOptions): Promise<AcceptResult>;
  /**
   * Returns the conflicts that a dry run of `accept` would, sorted by path. Costs a stat of each changed path if the disk
   * has none of them changed. @throws WorkspaceError `branch-switched`, `closed`
   */
  conflicts(options?: CallOptions): Promise<readonly Conflict[]>;
  /** Runs a command on the attempt's files, held by the operating system. @throws OsSandboxUnavailableError */
  run(command: string | readonly string[], options?: RunOptions): Promise<RunResult>;
  /** A new attempt that begins with the changes of this one, now or after an operation. */
  fork(name?: string, options?: CallOptions & { readonly at?: OperationRef | undefined }): Promise<Attempt>;
  discard(options?: CallOptions): Promise<void>;
}

export interface AttemptInfo {
  readonly name: string;
  readonly state: 'open' | 'discarded';
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly changedAt: number;
  /** Number of the last operation. */
  readonly head: number;
  /** Number of paths that differ from what the attempt began from. */
  readonly changedPaths: number;
  /** The attempt that it was forked from, and the operation. */
  readonly parent?: { readonly attempt: string; readonly operation: number } | undefined;
  /** True for the attempt that calls without a name use. */
  readonly current: boolean;
  /** True if each operation is written to the disk at once. */
  readonly live?: true | undefined;
}
