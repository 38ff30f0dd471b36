import { errorText } from './error-text.js';
import type { ToolCallOptions, ToolResult } from './tool.js';

/** Hears of errors that are no answer for a model: faults of the program. Default: they are only said to have happened. */
export type OnError = (error: unknown, tool: string) => void;

/** Runs a tool; whatever goes wrong is an answer too, but for an abort. @throws the signal's reason */
export async function answer(
  tool: string,
  onError: OnError | undefined,
  { signal }: ToolCallOptions,
  work: () => Promise<string>,
): Promise<ToolResult> {
  signal?.throwIfAborted();
  try {
    return { text: await work(), isError: false };
  } catch (error) {
    signal?.throwIfAborted();
    const text = errorText(error);
    if (text !== undefined) return { text, isError: true };
    onError?.(error, tool);
    return { text: `${tool} failed because of a fault in the program, not in what you asked for.`, isError: true };
  }
}
