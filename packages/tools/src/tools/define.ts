import { type Capabilities, quote } from '@scratchfs/core';
import type { Authorizer } from '../authorizer.js';
import { InputError } from '../input.js';
import type { ToolOutput } from '../run-tool.js';
import type { PropertySchema, RuleName, ToolCallOptions } from '../tool.js';
import type { ToolData } from '../tool-data.js';
import { explainedError } from '../tool-sandbox.js';

/** Definition of a file tool: its schema, and its function, which asks the authorizer before it touches files. */
export interface Definition<N extends keyof ToolData = keyof ToolData> {
  readonly name: N;
  readonly rule: RuleName;
  /** True if a sandbox without `fileSystem` is enough. Default false. */
  readonly isPlain?: boolean;
  /**
   * Ability that the filesystem must have. With one, the tool also needs a sandbox that is not read-only. Default:
   * none.
   */
  readonly needs?: keyof Capabilities;
  readonly description: string;
  /** Sentences of the description that are about other tools, by the name of that tool. */
  readonly seeAlso?: Readonly<Record<string, string>>;
  readonly properties: Readonly<Record<string, PropertySchema>>;
  readonly required: readonly string[];
  /** Runs the tool on input that the schema has accepted. */
  readonly run: (authorizer: Authorizer, input: never, call: ToolCallOptions) => Promise<ToolOutput<ToolData[N]>>;
}

// Schemas of input properties that several tools share.

export const path = (description: string): PropertySchema => ({
  type: 'string',
  description,
  minLength: 1,
  pattern: '^[^\\u0000]*$',
});
export const some = (description: string): PropertySchema => ({ type: 'string', description, minLength: 1 });
export const text = (description: string): PropertySchema => ({ type: 'string', description });
export const yes = (description: string): PropertySchema => ({ type: 'boolean', description, default: false });
export const offset = (what: string): PropertySchema => ({
  type: 'integer',
  description: `Number of ${what} to skip, to continue where a result ended. Default 0.`,
  minimum: 0,
  default: 0,
});
export const limit = (what: string, fallback: number, maximum: number): PropertySchema => ({
  type: 'integer',
  description: `Maximum number of ${what} to return. Default ${fallback}.`,
  minimum: 1,
  maximum,
  default: fallback,
});

/**
 * Runs work on the filesystem. Errors name the path as the model wrote it, and a RangeError, such as for an invalid
 * pattern, becomes an InputError.
 */
export async function inWordsOf<T>(
  authorizer: Authorizer,
  work: () => Promise<T>,
  given: string,
  dest?: string,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RangeError) throw new InputError(`${error.message}.`);
    throw explainedError(authorizer.plain, error, given, dest);
  }
}

/** Formats a count with its noun: `1 file`, `2 files`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

export { quote };
