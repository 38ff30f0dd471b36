import type { InputSchema, Media, Tool } from '../tool.js';
import { runOrThrow } from './ai-sdk.js';

/** A block of a tool's result, as Anthropic's API takes it. */
export type AnthropicContent =
  | { type: 'text'; text: string }
  | { type: 'image'; source: { type: 'base64'; media_type: Media['type']; data: string } };

/** A tool as `client.beta.messages.toolRunner({ tools })` of Anthropic's SDK takes it. */
export interface AnthropicTool {
  readonly type: 'custom';
  readonly name: string;
  readonly description: string;
  readonly input_schema: InputSchema & { readonly [key: string]: unknown };
  readonly run: (
    input: unknown,
    context?: { readonly signal?: AbortSignal | null | undefined },
  ) => Promise<string | AnthropicContent[]>;
  readonly parse: (input: unknown) => unknown;
}

/**
 * Converts tools for `client.beta.messages.toolRunner({ tools })` of Anthropic's SDK. Images are returned as blocks; a
 * failure rejects with a message that the runner sends to the model as an error.
 */
export function anthropicTools(tools: readonly Tool[]): AnthropicTool[] {
  return tools.map((tool) => ({
    type: 'custom',
    name: tool.name,
    description: tool.description,
    input_schema: { ...tool.inputSchema },
    run: async (input, context) => {
      const { text, media } = await runOrThrow(tool, input, context?.signal ?? undefined);
      if (media === undefined) return text;
      const images = media.map(({ type, data }): AnthropicContent => {
        return { type: 'image', source: { type: 'base64', media_type: type, data } };
      });
      return [{ type: 'text', text }, ...images];
    },
    // The tool checks its input itself, and its message says what is allowed.
    parse: (input) => input,
  }));
}
