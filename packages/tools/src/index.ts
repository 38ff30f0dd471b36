export { type AgentOutput, type AgentToolOptions, agentsTools } from './adapters/agents.js';
export { type AiModelOutput, type AiTool, aiSdkTools, ToolFailure } from './adapters/ai-sdk.js';
export {
  type AnthropicOptions,
  type MemoryHandlers,
  type MemoryOptions,
  memoryHandlers,
  type TextEditor,
  textEditor,
} from './adapters/anthropic.js';
export { type AnthropicContent, type AnthropicTool, anthropicTools } from './adapters/anthropic-tools.js';
export {
  type ApplyPatchOptions,
  applyPatch,
  applyPatchEditor,
  type PatchEditor,
  type PatchResult,
} from './adapters/openai.js';
export { type ApprovalOptions, type ApprovalRequest, type Approve, NotApprovedError } from './approvals.js';
export {
  type Attachment,
  type AttachmentPolicy,
  parseAttachmentPolicy,
  readAttachments,
} from './attachments.js';
export type { AuthorizerOptions } from './authorizer.js';
export { defineTool, type ToolDefinition } from './define-tool.js';
export { type DelegateOptions, type Delegation, delegate } from './delegate.js';
export { createFileTools, type FileTools, type FileToolsOptions } from './file-tools.js';
export { InputError, readInput } from './input.js';
export { type ReadsOfFiles, SharedReads } from './read-versions.js';
export type { OnError, ToolOutput } from './run-tool.js';
export type { InputSchema, Media, PropertySchema, StringSchema, Tool, ToolCallOptions, ToolResult } from './tool.js';
export type { FileInfoData, ListedEntryData, PageData, ReadFileData, ToolData } from './tool-data.js';
export { parseToolRules, type ToolRule, type ToolRules } from './tool-rules.js';
