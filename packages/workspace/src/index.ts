export type * from './attempt-types.js';
export { WorkspaceError, type WorkspaceErrorCode } from './errors.js';
export { mainChanges } from './log/main-changes.js';
export type * from './operation.js';
export { openWorkspace } from './workspace.js';
export type * from './workspace-types.js';
