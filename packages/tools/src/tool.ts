/** The subset of JSON Schema that tool inputs use. */
export interface InputSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, PropertySchema>>;
  readonly required: string[];
  readonly additionalProperties: false;
}

export type PropertySchema =
  | StringSchema
  | { readonly type: 'boolean'; readonly description: string; readonly default?: boolean }
  | {
      readonly type: 'integer';
      readonly description: string;
      readonly minimum: number;
      readonly maximum?: number;
      readonly default?: number;
    }
  | {
      readonly type: 'array';
      readonly description: string;
      readonly minItems: number;
      readonly items: InputSchema | StringSchema;
    };

export interface StringSchema {
  readonly type: 'string';
  readonly description?: string;
  readonly minLength?: number;
  readonly pattern?: string;
  /** The only values allowed. */
  readonly enum?: string[];
}

/** An image for the model. */
export interface Media {
  /** Media type, from the first bytes of the file. */
  readonly type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  /** The content in base64. */
  readonly data: string;
}

/** Result of a tool. A failure has only `text` and `isError`. */
export interface ToolResult<D = unknown> {
  /** The result as the model reads it. */
  readonly text: string;
  readonly isError: boolean;
  /** The result as JSON for programs. For a file tool, an object of the type that {@link ToolData} has for it. */
  readonly structured?: D | undefined;
  /** Paths that the result is about, as the tools take them, each once. */
  readonly links?: readonly string[] | undefined;
  readonly media?: readonly Media[] | undefined;
}

export interface ToolCallOptions {
  /** Aborts the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A tool: its description for the model, and the function that runs it. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input. */
  readonly inputSchema: InputSchema;
  /** Checks the input and runs the tool. Invalid input and failures are returned as results. Rejects if aborted. */
  run(input: unknown, options?: ToolCallOptions): Promise<ToolResult>;
}

/** Kinds of tools that one rule can address together. */
export type RuleName = 'sandbox.read' | 'sandbox.write';
