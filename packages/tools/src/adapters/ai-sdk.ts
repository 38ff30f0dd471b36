import type { InputSchema, Tool } from '../tool.js';

/**
 * A tool as `generateText({ tools })` of the Vercel AI SDK takes it. `S` is the return type of the SDK's `jsonSchema`.
 */
export interface AiTool<S> {
  readonly description: string;
  readonly inputSchema: S;
  readonly execute: (input: unknown, options: { readonly abortSignal?: AbortSignal | undefined }) => Promise<string>;
}

/** Thrown if a tool fails. Its message is for the model; frameworks mark the result as an error. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
}

/**
 * Converts tools for `generateText({ tools })` and similar functions of the Vercel AI SDK. The caller passes the SDK's
 * `jsonSchema`, so this package does not depend on the SDK: `aiSdkTools(tools, jsonSchema)`.
 */
export function aiSdkTools<S>(
  tools: readonly Tool[],
  jsonSchema: (schema: InputSchema) => S,
): Record<string, AiTool<S>> {
  return Object.fromEntries(
    tools.map(({ name, description, inputSchema, run }) => [
      name,
      {
        description,
        inputSchema: jsonSchema(inputSchema),
        execute: async (input, { abortSignal }) => {
          const { text, isError } = await run(input, { signal: abortSignal });
          if (isError) throw new ToolFailure(text);
          return text;
        },
      } satisfies AiTool<S>,
    ]),
  );
}
