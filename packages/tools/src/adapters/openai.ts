import type { FileSandbox } from '@scratchfs/sandbox';
import { answer, type OnError } from '../answer.js';
import { DESK_OPTIONS, Desk, type DeskOptions } from '../desk.js';
import { ownOptions } from '../plain-data.js';
import type { ToolCallOptions, ToolResult } from '../tool.js';
import { applyOperations, type PatchOperation, parsePatch } from './patch.js';

export interface ApplyPatchOptions extends DeskOptions {
  readonly onError?: OnError | undefined;
}

const KNOWN = [...DESK_OPTIONS, 'onError'] as const;

/** What OpenAI's Agents SDK wants of an editor. */
export interface PatchEditor {
  createFile(operation: Operation<'create_file'>): Promise<PatchResult>;
  updateFile(operation: Operation<'update_file'>): Promise<PatchResult>;
  deleteFile(operation: Operation<'delete_file'>): Promise<PatchResult>;
}

export interface PatchResult {
  readonly status: 'completed' | 'failed';
  readonly output: string;
}

type Operation<T extends PatchOperation['type']> = Extract<PatchOperation, { type: T }>;

/**
 * The editor behind `applyPatchTool({ editor })` of OpenAI's Agents SDK, over a sandbox. What cannot be done is answered as
 * failed, with a text for the model.
 */
export function applyPatchEditor(sandbox: FileSandbox, options: ApplyPatchOptions = {}): PatchEditor {
  const { onError, ...rest } = ownOptions(options, KNOWN, 'applyPatchEditor');
  const desk = new Desk(sandbox, rest);
  const run = async (operation: PatchOperation): Promise<PatchResult> => {
    const { text, isError } = await answer('apply_patch', onError, {}, () => applyOperations(desk, [operation], {}));
    return { status: isError ? 'failed' : 'completed', output: text };
  };
  return { createFile: run, updateFile: run, deleteFile: run };
}

/**
 * Applies a whole patch in the V4A format, from `*** Begin Patch` to `*** End Patch`: all of it or nothing. For models that
 * write patches as text.
 */
export async function applyPatch(
  sandbox: FileSandbox,
  patch: string,
  options: ApplyPatchOptions = {},
  call: ToolCallOptions = {},
): Promise<ToolResult> {
  const { onError, ...rest } = ownOptions(options, KNOWN, 'applyPatch');
  const desk = new Desk(sandbox, rest);
  return answer('apply_patch', onError, call, async () => applyOperations(desk, parsePatch(patch), call));
}
