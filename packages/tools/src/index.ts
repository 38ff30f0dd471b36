export { type ApprovalOptions, type ApprovalRequest, type Approve, NotApprovedError } from './approvals.js';
export type { InputSchema, PropertySchema, Tool, ToolCallOptions, ToolResult } from './tool.js';
export { parseToolRules, type ToolRule, type ToolRules } from './tool-rules.js';
