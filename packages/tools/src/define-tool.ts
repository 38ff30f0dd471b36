import { GENERAL_HINTS } from './error-text.js';
import { readInput } from './input.js';
import { type FailureOptions, type OnError, runTool, type ToolOutput } from './run-tool.js';
import type { InputSchema, PropertySchema, Tool, ToolCallOptions } from './tool.js';

/** A tool of a program's own. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schemas of the parameters by name. */
  readonly properties: Readonly<Record<string, PropertySchema>>;
  /** Names of the parameters that a call must have. Default: none. */
  readonly required?: readonly string[] | undefined;
  /**
   * Runs the tool on input that the schema accepts, with defaults filled in. Returns text for the model, or text with
   * data. An `InputError`, and an error of the filesystem or the sandbox, becomes a result that explains it.
   */
  readonly run: (input: never, call: ToolCallOptions) => Promise<string | ToolOutput>;
}

/**
 * Creates a tool of a program's own that checks its input and reports failures as the file tools do.
 * @example
 * ```ts
 * import { defineTool, InputError } from '@scratchfs/tools';
 *
 * const half = defineTool({
 *   name: 'half',
 *   description: 'Halves an even number.',
 *   properties: { of: { type: 'integer', description: 'The number.', minimum: 0 } },
 *   required: ['of'],
 *   run: async ({ of }: { of: number }) => {
 *     if (of % 2 === 1) throw new InputError(`${of} is odd: halve an even number.`);
 *     return String(of / 2);
 *   },
 * });
 * console.log((await half.run({ of: 4 })).text); // → 2
 * console.log((await half.run({})).text); // → The parameter of is missing: The number.
 * ```
 */
export function defineTool(definition: ToolDefinition, options: { readonly onError?: OnError | undefined } = {}): Tool {
  return toolOf(definition, { onError: options.onError, hints: GENERAL_HINTS });
}

/** @param failures how failures are reported, with advice that fits the tools that the model has */
export function toolOf(
  { name, description, properties, required = [], run }: ToolDefinition,
  failures: FailureOptions,
): Tool {
  const inputSchema: InputSchema = {
    type: 'object',
    properties,
    required: [...required],
    additionalProperties: false,
  };
  return Object.freeze({
    name,
    description,
    inputSchema,
    run: (input: unknown, call: ToolCallOptions = {}) =>
      runTool(name, failures, call, () => run(readInput(inputSchema, input) as never, call)),
  });
}
