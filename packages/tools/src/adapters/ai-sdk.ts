import type { InputSchema, Tool, ToolResult } from '../tool.js';

/** A result for the model, as `toModelOutput` of the AI SDK returns it. */
export type AiModelOutput =
  | { type: 'text'; value: string }
  | {
      type: 'content';
      value: ({ type: 'text'; text: string } | { type: 'image-data'; data: string; mediaType: string })[];
    };

/**
 * A tool as `generateText({ tools })` of the Vercel AI SDK takes it. `S` is the return type of the SDK's `jsonSchema`.
 */
export interface AiTool<S> {
  readonly description: string;
  readonly inputSchema: S;
  /** Resolves to the whole result, with its data for the program. */
  readonly execute: (
    input: unknown,
    options: { readonly abortSignal?: AbortSignal | undefined },
  ) => Promise<ToolResult>;
  /** Returns what the model gets of a result: its text and images. */
  readonly toModelOutput: (options: { readonly output: ToolResult }) => AiModelOutput;
}

/** Thrown if a tool fails. Its message is for the model. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
}

/** Runs a tool. @throws ToolFailure if it fails */
export async function runOrThrow({ run }: Tool, input: unknown, signal: AbortSignal | undefined): Promise<ToolResult> {
  const result = await run(input, { signal });
  if (result.isError) throw new ToolFailure(result.text);
  return result;
}

/**
 * Converts tools for `generateText({ tools })` and similar functions of the Vercel AI SDK. The caller passes the SDK's
 * `jsonSchema`, so this package does not depend on the SDK: `aiSdkTools(tools, jsonSchema)`. The output of a call is a
 * {@link ToolResult}; the model gets its text and images.
 */
export function aiSdkTools<S>(
  tools: readonly Tool[],
  jsonSchema: (schema: InputSchema) => S,
): Record<string, AiTool<S>> {
  return Object.fromEntries(
    tools.map((tool) => [
      tool.name,
      {
        description: tool.description,
        inputSchema: jsonSchema(tool.inputSchema),
        execute: (input, { abortSignal }) => runOrThrow(tool, input, abortSignal),
        toModelOutput: ({ output: { text, media } }) =>
          media === undefined
            ? { type: 'text', value: text }
            : {
                type: 'content',
                value: [
                  { type: 'text', text },
                  ...media.map(({ type, data }) => ({ type: 'image-data' as const, data, mediaType: type })),
                ],
              },
      } satisfies AiTool<S>,
    ]),
  );
}
