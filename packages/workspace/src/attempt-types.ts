import type { CallOptions, FileSystem } from '@scratchfs/core';
import type { OsSandboxLimits, Stopped } from '@scratchfs/host';
import type { Conflict, EntryState, Operation, OperationChange, OperationLabel } from './operation.js';

/** Reference to an operation: its number, or the operation. */
export type OperationRef = number | Pick<Operation, 'id'>;

export interface OperationResult<T> {
  readonly value: T;
  /** Undefined if nothing changed. */
  readonly operation: Operation | undefined;
  /**
   * Changes by the person that the operation found on the disk, at paths that it touched and the attempt had changed.
   */
  readonly refreshed: RefreshResult;
}

export interface LabelledOptions extends CallOptions {
  /**
   * True if the work is one short call, such as that of a tool. Its reads then look for operations of other clients
   * only once, so it may not see those that come after its beginning. The disk, and the conditions of its writes, are
   * checked as always. Default false.
   */
  readonly isSingleCall?: boolean | undefined;
  /**
   * Paths to compare with the disk before the work begins, so that it sees what the person changed there. Paths under
   * them are not compared. If the comparison fails, the work runs nevertheless, unless `signal` has aborted. Default:
   * none.
   */
  readonly paths?: readonly string[] | undefined;
}

export interface LabelledResult<T> {
  readonly value: T;
  readonly operations: readonly Operation[];
  /**
   * Changes by the person that were found at `paths` and at the paths that the work's writes touched. A write may
   * settle the conflicts only after {@link Attempt.markTold}.
   */
  readonly refreshed: RefreshResult;
}

/** An operation, and the result of comparing its paths with the disk after it. */
export interface RefreshedOperation extends Operation {
  readonly refreshed: RefreshResult;
}

/** Result of comparing paths that the attempt has changed with the disk. Both lists are sorted by path. */
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
  /**
   * First line of the old side, counted from 1, and number of its lines. A side without lines starts at the line
   * before, maybe 0.
   */
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
  /** Old path of a moved entry. A file that differs from the disk has one only if an accept removes it along with the move. */
  readonly from?: string | undefined;
  readonly before: EntryState | null;
  readonly after: EntryState | null;
  /** True if the contents differ and one of them is binary or not known, so that there are no hunks. */
  readonly binary: boolean;
  /** Numbers of added and of removed lines. */
  readonly additions: number;
  readonly deletions: number;
  /** Empty without `hunks: true`. */
  readonly hunks: readonly Hunk[];
  /**
   * Number of files and links in a removed directory. They follow as paths of their own, but may be left out if the
   * removed directories together hold more than 2,000 entries or 16 MiB.
   */
  readonly files?: number | undefined;
}

export interface RefreshOptions extends CallOptions {
  /** Assign the attempt to the branch that is checked out now. Default false. */
  readonly onto?: boolean | undefined;
}

export interface AttemptDiffOptions extends CallOptions {
  /**
   * Default: the disk, compared only at paths that the attempt has changed. If `to` is another attempt: this attempt
   * now; with `disk`, the result is what the other's own `diff()` returns.
   */
  readonly from?: OperationRef | 'disk' | undefined;
  /** Default: this attempt now. If it is another attempt of the workspace, the two are compared. */
  readonly to?: OperationRef | Attempt | undefined;
  /**
   * In place of `from` and `to`: what this operation changed. For an `accept`, and an `undo` or `redo` of one, that is
   * what it changed on the disk, otherwise what it changed in the attempt.
   */
  readonly operation?: OperationRef | undefined;
  /** With `operation`: what undoing it would change. Default false. */
  readonly isReversed?: boolean | undefined;
  /** Only these paths and what is under them. */
  readonly paths?: readonly string[] | undefined;
  /**
   * Include hunks. Default false. To accept some of them, call `refresh()` before: only then do the hunks of a file
   * that the person has changed too show what an accept writes.
   */
  readonly hunks?: boolean | undefined;
}

export interface AttemptDiff {
  /** Sorted by path. */
  readonly paths: readonly PathDiff[];
  /** Number of the attempt's last operation: pass it as `expect` to act on just this difference. */
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
  /**
   * Only these hunks. Files without one are accepted whole if `paths` names them, otherwise left out. A hunk of a file
   * that has a conflict gives the conflict of the file; if what the person changed there can be merged, but has not been,
   * `accept` fails with `moved`: refresh first. Only for `apply` and `patch`.
   */
  readonly hunks?: readonly string[] | undefined;
  /** Name of the branch for `as: 'branch'`. Default: the name of the attempt. */
  readonly branch?: string | undefined;
  /** Commit message for `merge` and `branch`. Default: a sentence about the accepted paths. */
  readonly message?: string | undefined;
  /**
   * `fail`: nothing is accepted if a path has a conflict; `skip`: paths with a conflict are left out, and changes that
   * cannot be made without them. Default `fail`. Ignored for `patch`.
   */
  readonly onConflict?: 'fail' | 'skip' | undefined;
  /** Return what would happen, and change nothing. Default false. */
  readonly dryRun?: boolean | undefined;
  /** The last operation that the caller has seen: fails with `moved` if another one has come since. */
  readonly expect?: OperationRef | undefined;
  readonly actor?: string | undefined;
}

export interface AcceptResult {
  readonly success: boolean;
  /** Text for a person. */
  readonly message: string;
  /**
   * Sorted paths whose changes are in the target now; for a dry run and `patch` those that would be. Without removed
   * directories that stay on the disk because they are not empty.
   */
  readonly accepted: readonly string[];
  /**
   * What the accept changes in the target, or would. For `apply`, without paths that the disk has like this already.
   * Sorted by path.
   */
  readonly changes: readonly OperationChange[];
  readonly conflicts: readonly Conflict[];
  /**
   * Accepted files that other programs run or follow on their own, such as `.envrc`, for a person to review. Empty for
   * `patch`.
   */
  readonly autoRun: readonly string[];
  /**
   * The `accept` in the log. Undefined for `patch`, a dry run, a failure, and if there was nothing to accept or to
   * commit.
   */
  readonly operation: Operation | undefined;
  /** For `merge` and `branch`: id of the commit with the accepted changes. */
  readonly commit?: string | undefined;
  /** For `patch`: the bytes of the patch. */
  readonly patch?: Uint8Array | undefined;
}

/** Stage of a run: the files are copied, the command runs, its changes are brought into the attempt. */
export type RunStage = 'copying' | 'running' | 'collecting';

export interface RunOptions extends CallOptions {
  /** Milliseconds of wall time. Default 600,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * Limits of the command. Defaults: memory, written bytes and files copied in 4 GiB each, one file 1 GiB, 1,024
   * processes, 256 MiB and 200,000 entries brought back; the others as in `runInOsSandbox`.
   */
  readonly limits?: OsSandboxLimits | undefined;
  /** Let the command use the network. Default false. */
  readonly network?: boolean | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Directory of the attempt to start in. Default `/`. */
  readonly cwd?: string | undefined;
  /**
   * Give the command a private, writable copy of the dependency directories, which later commands use too. Default
   * false.
   */
  readonly install?: boolean | undefined;
  /** Connect the command with this process' terminal in place of collecting its output. Default false. */
  readonly terminal?: boolean | undefined;
  /** Receives output as it comes. */
  readonly onOutput?: ((chunk: Uint8Array, stream: 'stdout' | 'stderr') => void) | undefined;
  /** Called at the beginning of each stage. */
  readonly onStage?: ((stage: RunStage) => void) | undefined;
  readonly actor?: string | undefined;
  /** Text for the log. Default: the command, cut to 200 characters. */
  readonly summary?: string | undefined;
}

export interface RunResult {
  /** Null if a signal ended the command; its changes are then discarded. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | undefined;
  /** Cut in the middle if it is long, as `stderr` is. */
  readonly stdout: string;
  readonly stderr: string;
  /** Reason for which the sandbox killed the command; its changes are then discarded. */
  readonly stopped: Stopped | undefined;
  /** Undefined if no change was taken over. */
  readonly operation: Operation | undefined;
  /**
   * Paths that both the command and another writer changed, in ways that cannot be merged. They keep the other writer's
   * state, `attempt`. `base` is what the command was given, `disk` what it left.
   */
  readonly conflicts: readonly Conflict[];
  /** Changes that were not taken, with the reason. */
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
  readonly autoRun: readonly string[];
  /** Advice about what the command could not do, such as how to commit if `git commit` failed. */
  readonly hint?: string | undefined;
}

/**
 * A named line of work on a directory: what the disk holds now, and what this attempt has changed. A call that changes
 * it may reject with WorkspaceError `closed`, `branch-switched` or `replaced`.
 */
export interface Attempt {
  /** True if each operation is written to the disk in the same call, so that there is nothing to accept. */
  readonly isLive?: boolean | undefined;
  /** The name that it was given, or one that was made, such as `calm-otter`. */
  readonly name: string;
  /**
   * The files. `/` is the directory. Each call, and each `transaction`, that changes something is one operation. For
   * sandboxes, tools, node-fs and everything else that takes a filesystem.
   */
  readonly fileSystem: FileSystem;
  /** Reports whether `fileSystem` hides an absolute path, because it is a secret, denied or in `.git`. */
  hides(path: string): boolean;
  /**
   * Runs work as one operation: all its changes through the given filesystem and its line in the log appear in one
   * atomic step. The work runs again if another writer changed what it read. In a live attempt, other programs may see
   * a part of the changes on the disk for a moment.
   * @throws WorkspaceError `branch-switched`, `closed`, `replaced`; `refused` for a live attempt that can only be read;
   *   what the work throws
   */
  operation<T>(
    label: OperationLabel,
    work: (fileSystem: FileSystem) => Promise<T>,
    options?: CallOptions,
  ): Promise<OperationResult<T>>;
  /**
   * Runs work in which each change to `fileSystem` is an operation with this label, such as a tool that changes files
   * by itself. If the work resolves although the attempt refused its writes, and there was no operation, rejects with
   * that WorkspaceError, which a sandbox may have hidden from the work.
   */
  labelled<T>(label: OperationLabel, work: () => Promise<T>, options?: LabelledOptions): Promise<LabelledResult<T>>;
  /**
   * Takes back the last operation that can still be taken back. This is an operation too.
   * @param options.expect the operation to be taken back: fails with `moved` if it is not the next one
   * @throws WorkspaceError `nothing-to-undo`, `moved`; `refused` if the operation wrote to the disk or to git and the
   *   paths or the branch were changed since, or if it was a merge
   */
  undo(
    options?: CallOptions & { readonly expect?: OperationRef | undefined; readonly actor?: string | undefined },
  ): Promise<RefreshedOperation>;
  /**
   * Repeats the operation that was undone last.
   * @throws WorkspaceError `nothing-to-redo`, `moved`; `refused` as for `undo`
   */
  redo(
    options?: CallOptions & { readonly expect?: OperationRef | undefined; readonly actor?: string | undefined },
  ): Promise<RefreshedOperation>;
  /** Returns the operation that `undo` would take back, or that `redo` would repeat. Undefined if there is none. */
  next(tool: 'undo' | 'redo', options?: CallOptions): Promise<Operation | undefined>;
  /**
   * Returns the operations that the next calls of `undo` would take back, or of `redo` repeat, the first one first.
   * @param options.limit maximum number of operations; default 50
   */
  steps(
    tool: 'undo' | 'redo',
    options?: CallOptions & { readonly limit?: number | undefined },
  ): Promise<readonly Operation[]>;
  /**
   * Brings back the state after an operation (0: before the first), of everything or of one path. With `disk`, the
   * attempt drops its changes there and shows the disk again; so does 0, unless the attempt is live or a fork that
   * began with changes. Returns undefined if nothing differs. A file with several names is one file: restoring one name
   * restores it under all of them. The path of something in a directory of the disk that the attempt has removed stands
   * for that directory. With `disk`, what the attempt has moved to the path goes back to its old name, unless another
   * file of the attempt has that now.
   * @param options.expect the last operation that the caller has seen: fails with `moved` if another one has come since
   * @throws WorkspaceError `not-found` for an operation that does not exist or is no longer kept, `moved`; `refused` if
   *   the attempt is live and a path on the disk was changed since, if the attempt has a file or link in place of a
   *   directory on the way to the path, or, with `disk`, if what was moved cannot go back because the attempt has
   *   another entry at its old name, and one of the two is a directory
   */
  restore(
    to: OperationRef | 0 | 'disk',
    options?: CallOptions & {
      readonly path?: string | undefined;
      readonly expect?: OperationRef | undefined;
      readonly actor?: string | undefined;
    },
  ): Promise<RefreshedOperation | undefined>;
  /**
   * Returns a read-only filesystem: the attempt's changes after an operation (0: before the first) over the disk as it
   * is now. For a live attempt, paths that later operations wrote are as they were before.
   */
  at(operation: OperationRef | 0): FileSystem;
  log(options?: LogOptions): Promise<LogPage>;
  /** Number of the last operation; 0 if there is none. */
  head(options?: CallOptions): Promise<number>;
  /** Compares all changed paths with the disk, and takes over what the person changed. */
  refresh(options?: RefreshOptions): Promise<RefreshResult>;
  /**
   * Records that conflicts were shown to the agent or person who works on the attempt, so that a write may settle them.
   * Of the paths of earlier calls, at most 1,000 are kept; the others must be told again.
   */
  markTold(conflicts: readonly Conflict[]): void;
  /**
   * Returns an object for one of several clients that work on this attempt, such as those of a server. It has the same
   * files and log, but what other clients were told does not count for it: its writes, and its `resolve`, settle only
   * conflicts that were passed to its `markTold`. Its results do not count by themselves, because the server decides what
   * of them it shows.
   */
  forClient(): Attempt;
  /**
   * Settles the conflicts at a path and under it in favour of what the attempt has. Its changes then begin from what
   * the disk has now, and an accept replaces that. No file of the attempt changes, and the operation can be undone. To
   * take over the disk's version instead, use `restore('disk', { path })`. A write to the path inside `operation` or
   * `labelled` settles its conflict too; so does a `chmod`, and a removal of a file that never had other names.
   *
   * A conflict can be settled only if a result of this object has contained it with the state that the disk has now
   * (such as `conflicts` of `refresh` and `accept`, or `refreshed` of `operation` and `undo`), or if it was passed to
   * `markTold`. A write settles it only if that was before its call began.
   *
   * @throws WorkspaceError `not-found` if there is no conflict; `refused` if the attempt's version cannot replace what
   *   the disk has, such as a directory in place of a file; `moved` if the caller was not told of a conflict, or the
   *   disk has changed since: then none is settled
   */
  resolve(path: string, options?: CallOptions & { readonly actor?: string | undefined }): Promise<RefreshedOperation>;
  diff(options?: AttemptDiffOptions): Promise<AttemptDiff>;
  accept(options?: AcceptOptions): Promise<AcceptResult>;
  /**
   * Returns the conflicts that a dry run of `accept` would, sorted by path. If nothing else has changed the paths, it
   * usually costs only a stat of each. @throws WorkspaceError `branch-switched`, `closed`, `replaced`; `refused` while
   * another process accepts
   */
  conflicts(options?: CallOptions): Promise<readonly Conflict[]>;
  /**
   * Runs a command on the attempt's files, confined by the operating system.
   * @throws OsSandboxUnavailableError; WorkspaceError `closed`, `branch-switched`, `replaced`; FsError, such as ENOENT
   *   for `cwd` or EFBIG for more than the limits allow
   */
  run(command: string | readonly string[], options?: RunOptions): Promise<RunResult>;
  /** Creates an attempt that begins with the changes of this one, now or after an operation. It is never live. */
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
  /**
   * Number of changed paths, without those that were equal on the disk at the last comparison. A removed directory and
   * a move count once.
   */
  readonly changedPaths: number;
  /** The attempt that it was forked from, and the operation. */
  readonly parent?: { readonly attempt: string; readonly operation: number } | undefined;
  /** True for the current attempt, which calls without a name use unless the workspace was opened with `live: true`. */
  readonly current: boolean;
  /** True if each operation is written to the disk in the same call. */
  readonly live?: true | undefined;
}
