/**
 * `not-found`: the attempt, operation, approval, change, hunk or conflict that was named does not exist; `exists`: the
 * name is taken; `moved`: the attempt or the disk has changed since the caller looked; `nothing-to-undo`,
 * `nothing-to-redo`; `branch-switched`: HEAD names another branch than the one that the attempt belongs to; `replaced`:
 * the directory is gone, or another one lies at its path; `foreign-store`: the store belongs to another user or
 * workspace, is damaged, or is of another version; `closed`: the attempt was discarded, or the workspace was closed;
 * `settled`: the approval is not pending any more; `refused`: the request cannot be carried out, and the message says
 * why.
 */
export type WorkspaceErrorCode =
  | 'not-found'
  | 'exists'
  | 'moved'
  | 'nothing-to-undo'
  | 'nothing-to-redo'
  | 'branch-switched'
  | 'replaced'
  | 'foreign-store'
  | 'closed'
  | 'settled'
  | 'refused';

/** Failure of a workspace. The message says what was wrong and usually what to do next. */
export class WorkspaceError extends Error {
  override readonly name = 'WorkspaceError';

  constructor(
    readonly code: WorkspaceErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
