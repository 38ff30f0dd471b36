export { approveInTerminal, type PendingApproval, pendingApproval } from './command/approve.js';
export { main } from './command/main.js';
export {
  type FilesystemDirectory,
  FilesystemServer,
  type FilesystemServerOptions,
} from './filesystem/filesystem-server.js';
export { type HttpOptions, type HttpServer, type HttpSource, serveHttp } from './http/serve-http.js';
export type { ApprovalLevel, McpServerOptions, Profile } from './server/options.js';
export type { StdioOptions } from './server/serve-on-stdio.js';
export { McpWorkspaceServer } from './server/workspace-server.js';
