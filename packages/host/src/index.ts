export { SandboxViolation } from '@scratchfs/sandbox';
export { type HostFileSystemOptions, type HostGuarantees, hostFileSystem, hostGuarantees } from './host-file-system.js';
export { isPathSafe } from './is-path-safe.js';
export { ReadOnlySandboxFS, type ReadTextOptions } from './read-only-sandbox-fs.js';
