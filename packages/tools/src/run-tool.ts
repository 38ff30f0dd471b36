import { errorText, type Hints } from './error-text.js';
import type { ToolCallOptions, ToolResult } from './tool.js';

/** Result of a tool that succeeds. */
export type ToolOutput<D = unknown> = Omit<ToolResult<D>, 'isError'>;

/**
 * Receives errors that are faults of the program and not of the model's input. The model is only told that one
 * happened.
 */
export type OnError = (error: unknown, tool: string) => void;

/** Treatment of the failures of a tool call. */
export interface FailureOptions {
  readonly onError: OnError | undefined;
  readonly hints: Hints;
}

/**
 * Runs a tool and turns failures into results.
 * @throws the signal's reason if the call is aborted; what `onError` throws
 */
export async function runTool(
  tool: string,
  { onError, hints }: FailureOptions,
  { signal }: ToolCallOptions,
  work: () => Promise<string | ToolOutput>,
): Promise<ToolResult> {
  signal?.throwIfAborted();
  try {
    const output = await work();
    if (typeof output === 'string') return { text: output, isError: false };
    const { text, structured, links, media } = output;
    const rest = { structured, ...(links && { links: [...new Set(links)] }), ...(media && { media }) };
    return { text, isError: false, ...rest };
  } catch (error) {
    signal?.throwIfAborted();
    const text = errorText(error, hints);
    if (text !== undefined) return { text, isError: true };
    onError?.(error, tool);
    return { text: `${tool} failed because of a fault in the program, not in what you asked for.`, isError: true };
  }
}
