import type { FileSystemSandbox } from '@scratchfs/sandbox';
import { AUTHORIZER_OPTIONS, Authorizer, type AuthorizerOptions } from '../authorizer.js';
import { GENERAL_HINTS } from '../error-text.js';
import { ownOptions } from '../plain-data.js';
import { type OnError, runTool } from '../run-tool.js';
import type { ToolCallOptions, ToolResult } from '../tool.js';
import { applyOperations, type PatchOperation, parsePatch } from './patch.js';

export interface ApplyPatchOptions extends AuthorizerOptions {
  readonly onError?: OnError | undefined;
}

const KNOWN = [...AUTHORIZER_OPTIONS, 'onError'] as const;

/** The editor interface of OpenAI's Agents SDK. */
export interface PatchEditor {
  createFile(operation: PatchOf<'create_file'>): Promise<PatchResult>;
  updateFile(operation: PatchOf<'update_file'>): Promise<PatchResult>;
  deleteFile(operation: PatchOf<'delete_file'>): Promise<PatchResult>;
}

export interface PatchResult {
  readonly status: 'completed' | 'failed';
  readonly output: string;
}

type PatchOf<T extends PatchOperation['type']> = Extract<PatchOperation, { type: T }>;

/**
 * The editor for `applyPatchTool({ editor })` of OpenAI's Agents SDK, over a sandbox. An operation that fails resolves
 * with the status `failed` and a message for the model.
 */
export function applyPatchEditor(sandbox: FileSystemSandbox, options: ApplyPatchOptions = {}): PatchEditor {
  const { onError, ...rest } = ownOptions(options, KNOWN, 'applyPatchEditor');
  const authorizer = new Authorizer(sandbox, rest);
  const run = async (operation: PatchOperation): Promise<PatchResult> => {
    const { text, isError } = await runTool('apply_patch', { onError, hints: GENERAL_HINTS }, {}, () =>
      applyOperations(authorizer, [operation], {}),
    );
    return { status: isError ? 'failed' : 'completed', output: text };
  };
  return { createFile: run, updateFile: run, deleteFile: run };
}

/**
 * Applies a patch in the V4A format, from `*** Begin Patch` to `*** End Patch`, completely or not at all. For models
 * that write patches as text. In a directory of the host, other processes may see a part of the changes for a moment.
 * Over a filesystem without transactions, such as a mount of several that can be changed, a patch of more than one
 * change is refused.
 */
export async function applyPatch(
  sandbox: FileSystemSandbox,
  patch: string,
  options: ApplyPatchOptions = {},
  call: ToolCallOptions = {},
): Promise<ToolResult> {
  const { onError, ...rest } = ownOptions(options, KNOWN, 'applyPatch');
  const authorizer = new Authorizer(sandbox, rest);
  return runTool('apply_patch', { onError, hints: GENERAL_HINTS }, call, async () =>
    applyOperations(authorizer, parsePatch(patch), call),
  );
}
