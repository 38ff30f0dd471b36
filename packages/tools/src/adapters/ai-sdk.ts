import type { InputSchema, Tool } from '../tool.js';

/** A tool as `generateText({ tools })` of the Vercel AI SDK takes it; `S` is what its `jsonSchema` makes. */
export interface AiTool<S> {
  readonly description: string;
  readonly inputSchema: S;
  readonly execute: (input: unknown, options: { readonly abortSignal?: AbortSignal | undefined }) => Promise<string>;
}

/** What the model is told of a tool that failed; frameworks mark it as an error. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
}

/**
 * Tools for `generateText({ tools })` and its kin of the Vercel AI SDK. Its `jsonSchema` is handed over, so that nothing
 * here depends on the package: `aiSdkTools(tools, jsonSchema)`.
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
