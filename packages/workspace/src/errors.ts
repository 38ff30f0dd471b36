/**
 * `not-found`: no attempt, operation or approval of that name; `exists`: the name is taken; `moved`: another operation
 * has come since the one that the caller saw; `nothing-to-undo`, `nothing-to-redo`; `branch-switched`: HEAD names
 * another branch than at the attempt's start; `replaced`: another directory lies at the path; `foreign-store`: the store
 * belongs to another user or workspace, or is of a newer version; `closed`: the attempt was discarded, or the workspace closed; `settled`: the approval
 * is not pending any more; `refused`: the request cannot be done in this directory, and the message says why.
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

/** Failure of a workspace. The message says what was wrong and what to do next. */
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
