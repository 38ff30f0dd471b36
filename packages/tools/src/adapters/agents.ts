import type { PropertySchema, Tool } from '../tool.js';
import { runOrThrow, ToolFailure } from './ai-sdk.js';

/** A part of a tool's output, as OpenAI's Agents SDK takes it. */
export type AgentOutput =
  | { type: 'text'; text: string }
  | { type: 'image'; image: { data: string; mediaType: string } };

/** Options of `tool` of OpenAI's Agents SDK. */
export interface AgentToolOptions {
  name: string;
  description: string;
  parameters: {
    type: 'object';
    properties: Record<string, PropertySchema>;
    required: string[];
    /** The value that the SDK requires of a schema that is not strict. */
    additionalProperties: true;
  };
  strict: false;
  execute: (
    input: unknown,
    context?: unknown,
    details?: { readonly signal?: AbortSignal | undefined },
  ) => Promise<string | AgentOutput[]>;
  errorFunction: (context: unknown, error: unknown) => string;
}

/**
 * Converts tools for `new Agent({ tools })` of OpenAI's Agents SDK. The caller passes the SDK's `tool`, so this package
 * does not depend on the SDK: `agentsTools(tools, tool)`. Images are returned as parts of the output, and failures as
 * text for the model.
 */
export function agentsTools<T>(tools: readonly Tool[], tool: (options: AgentToolOptions) => T): T[] {
  return tools.map((each) =>
    tool({
      name: each.name,
      description: each.description,
      parameters: { ...each.inputSchema, additionalProperties: true },
      // Strict schemas have no optional parameters. The tool checks its input itself.
      strict: false,
      execute: async (input, _, details) => {
        const { text, media } = await runOrThrow(each, input, details?.signal);
        if (media === undefined) return text;
        const images = media.map(
          ({ type, data }): AgentOutput => ({ type: 'image', image: { data, mediaType: type } }),
        );
        return [{ type: 'text', text }, ...images];
      },
      errorFunction: (_, error) => {
        if (error instanceof ToolFailure) return error.message;
        // An aborted call rejects with the signal's reason, which is not for the model.
        throw error;
      },
    }),
  );
}
