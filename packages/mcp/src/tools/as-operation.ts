import { normalizePath } from '@scratchfs/core';
import type { ToolResult } from '@scratchfs/tools';
import type { ServerTool, ToolContext, ToolOutcome } from './server-tool.js';

/**
 * Runs a file tool: its commits are operations with its name. What the person changed at its paths is taken over first,
 * so that it reads and edits that.
 */
export async function asOperation(
  { name: tool, effect, paths }: Pick<ServerTool, 'name' | 'effect' | 'paths'>,
  input: unknown,
  { attempt, actor, settings, signal }: ToolContext,
  work: () => Promise<ToolResult>,
): Promise<ToolOutcome> {
  // Taking over a change is an operation, which a read-only server does not make.
  const compared = settings.readOnly ? [] : paths.map((parameter) => Object(input)[parameter]).filter(isPath);
  const { value, operations, refreshed } = await attempt.labelled({ actor, tool }, work, {
    isSingleCall: true,
    paths: compared,
    signal,
  });
  return { ...value, refreshed, ...(effect === 'none' ? {} : { operations }) };
}

/** The tool itself says what is wrong with another value. */
function isPath(value: unknown): value is string {
  try {
    return normalizePath(value as string) !== '';
  } catch {
    return false;
  }
}
