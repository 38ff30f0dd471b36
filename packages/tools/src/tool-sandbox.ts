import {
  type Approvals,
  type FileSandbox,
  type FileSystemSandbox,
  type FollowOptions,
  PathNotInSandboxError,
  PathNotWritableError,
} from '@scratchfs/sandbox';
import type { ToolCallOptions } from './tool.js';

/** A sandbox that a caller may pass. Missing members are replaced by functions of this file. */
type Given = FileSandbox & Partial<FileSystemSandbox>;

/** Methods that `FileSystemSandbox` adds to `FileSandbox`. */
const METHODS = ['check', 'list', 'locate', 'show', 'explain', 'approvals'] as const;

/**
 * Reports whether a sandbox has the filesystem that most tools work with. A property `fileSystem` is not enough: a
 * class with only the members of `FileSandbox` may keep a filesystem of its own in it.
 */
export function hasFileSystem(sandbox: FileSandbox): sandbox is FileSystemSandbox {
  const given: Given = sandbox;
  return given.fileSystem !== undefined && METHODS.every((name) => typeof given[name] === 'function');
}

/** Throws the error with which a read or a write of a path would fail, as far as the sandbox knows in advance. */
export async function checkAccess(
  sandbox: Given,
  path: string,
  access: 'read' | 'write',
  { follow, signal }: FollowOptions & ToolCallOptions,
): Promise<void> {
  if (sandbox.check !== undefined) return sandbox.check(path, access, { follow, signal });
  const isAllowed = access === 'read' ? sandbox.canRead(path, { signal }) : sandbox.canWrite(path, { signal });
  if (await isAllowed) return;
  // The sandbox's own error says more than the general one.
  await sandbox.resolve(path, { signal });
  if (access === 'write') throw new PathNotWritableError(path, sandbox.writableRoots);
  await sandbox.read(path, { maxChars: 1, signal });
  throw new PathNotInSandboxError(path, sandbox.readableRoots);
}

/** Returns the approvals that a sandbox requires for a path. A sandbox without `approvals` requires one for writes. */
export async function approvalsOf(sandbox: Given, path: string, call: ToolCallOptions): Promise<Approvals> {
  return sandbox.approvals === undefined ? { read: false, write: true } : sandbox.approvals(path, call);
}

/** Returns the sandbox's spelling of a resolved path, if it has one. */
export function shownPath(sandbox: Given, path: string): string | undefined {
  return sandbox.show?.(path);
}

/** Converts an error of the filesystem to one about the model's paths, if the sandbox can. */
export function explainedError(sandbox: Given, error: unknown, path: string, dest?: string): unknown {
  return sandbox.explain === undefined ? error : sandbox.explain(error, path, dest);
}
