import { normalizePath, quote } from '@scratchfs/core';
import type { ToolResult } from '@scratchfs/tools';
import type { ServerTool, ToolContext, ToolOutcome } from './server-tool.js';

/**
 * Runs a file tool, whose changes become operations with its name. Changes that the person made at its paths are taken
 * over first, except by a read-only server.
 */
export async function asOperation(
  { name: tool, effect, paths }: Pick<ServerTool, 'name' | 'effect' | 'paths'>,
  input: unknown,
  { attempt, actor, settings, signal }: ToolContext,
  work: () => Promise<ToolResult>,
): Promise<ToolOutcome> {
  const given = paths.map((parameter) => Object(input)[parameter]).filter(isPath);
  // Apart from the path, the text is the same for all hidden ones, whether or not they exist, and for reading and
  // writing.
  const hidden = given.find((path) => attempt.hides(path));
  if (hidden !== undefined)
    return {
      text: `${quote(hidden)} is hidden here: secrets, git's own files and what the user denies are neither shown nor changed.\nUse another path, or ask the user.`,
      isError: true,
    };
  // Taking over a change is an operation, which a read-only server does not make.
  const compared = settings.readOnly ? [] : given;
  const { value, operations, refreshed } = await attempt.labelled({ actor, tool }, work, {
    isSingleCall: true,
    paths: compared,
    signal,
  });
  return { ...value, refreshed, ...(effect === 'none' ? {} : { operations }) };
}

/** Reports whether a value can be a path. The tool itself says what is wrong with others. */
function isPath(value: unknown): value is string {
  try {
    return normalizePath(value as string) !== '';
  } catch {
    return false;
  }
}
