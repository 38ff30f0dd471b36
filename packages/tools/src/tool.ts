/** The part of JSON Schema that the inputs of tools use. */
export interface InputSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, PropertySchema>>;
  readonly required: string[];
  readonly additionalProperties: false;
}

export type PropertySchema =
  | { readonly type: 'string'; readonly description: string; readonly minLength?: number; readonly pattern?: string }
  | { readonly type: 'boolean'; readonly description: string; readonly default?: boolean }
  | {
      readonly type: 'integer';
      readonly description: string;
      readonly minimum: number;
      readonly maximum?: number;
      readonly default?: number;
    };

/** What a tool answers: always text, also where it failed. */
export interface ToolResult {
  readonly text: string;
  readonly isError: boolean;
}

export interface ToolCallOptions {
  /** Ends the call: it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A tool as a model is told of it, and what runs when the model calls it. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input. */
  readonly inputSchema: InputSchema;
  /** What the model gave is checked; whatever is wrong with it, or happens, is told in the answer. Rejects only when aborted. */
  run(input: unknown, options?: ToolCallOptions): Promise<ToolResult>;
}

/** What one rule may speak of beside the tools one by one. */
export type RuleName = 'sandbox.read' | 'sandbox.write';
