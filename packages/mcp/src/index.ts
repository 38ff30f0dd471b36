export type { ApprovalLevel, McpServerOptions, Profile } from './server/options.js';
export { McpWorkspaceServer } from './server/workspace-server.js';
