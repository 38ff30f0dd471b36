export {
  type ParsedSandboxConfig,
  type PathConfig,
  parseSandboxConfig,
  type RootSandboxConfig,
  type SandboxConfig,
} from './config.js';
export { denyRules, type Rule as DenyRule, SECRET_FILES } from './deny-patterns.js';
export { type DeriveOptions, type ParsedDeriveOptions, parseDeriveOptions } from './derive.js';
export {
  FileSandboxError,
  FileTooLargeError,
  isSandboxError,
  PathDeniedError,
  PathNotInSandboxError,
  PathNotWritableError,
  SandboxError,
  SandboxPermissionEscalationError,
  SandboxViolation,
  SuffixNotAllowedError,
} from './errors.js';
export type { Approvals, FileSandbox, FileSystemSandbox, FollowOptions, ListedEntry } from './file-sandbox.js';
export { pieceOf, type ReadOptions, type ReadResult } from './read-result.js';
export { type Guarded, Sandbox, type SandboxOptions } from './sandbox.js';
export { workerSandbox } from './worker-sandbox.js';
