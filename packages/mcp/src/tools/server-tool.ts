import { isFsError } from '@scratchfs/core';
import {
  defineTool,
  InputError,
  type InputSchema,
  type PropertySchema,
  readInput,
  type ToolOutput,
  type ToolResult,
} from '@scratchfs/tools';
import { type Operation, type Workspace, WorkspaceError } from '@scratchfs/workspace';
import type { ServerSettings } from '../server/options.js';
import type { OpenAttempt } from '../server/shared-workspace.js';
import { type Caller, withoutHidden } from './visible.js';

/**
 * The most that a tool can change: nothing, the attempt, or what no undo in the attempt takes back: the user's disk,
 * and what a command reaches over the network.
 */
export type ToolEffect = 'none' | 'attempt' | 'outside';

/** What a call will do, found out before a person is asked. The call then acts on just that, or fails. */
export interface Plan {
  /** Number of the last operation that the plan was made for. */
  readonly head: number;
  /** True if the call would change something outside the attempt, so that a person is always asked. */
  readonly isOutside: boolean;
  /** What to show to the person, at most 8,000 UTF-16 units. */
  readonly shown: string;
  /** Differences to show after it, shortened. */
  readonly diff?: string | undefined;
  /** The operation that the call takes back or makes again. */
  readonly target?: Operation | undefined;
}

/** What a tool works with. */
export interface ToolContext extends Caller {
  readonly workspace: Workspace;
  readonly settings: ServerSettings;
  /** What `plan` of the tool returned. */
  readonly plan: Plan | undefined;
  readonly signal: AbortSignal;
}

export interface ToolOutcome extends ToolResult {
  /** The operations that the call has made. */
  readonly operations?: readonly Operation[] | undefined;
}

/** A tool of the server. */
export interface ServerTool {
  readonly name: string;
  readonly description: string;
  readonly properties: Readonly<Record<string, PropertySchema>>;
  readonly required: readonly string[];
  readonly effect: ToolEffect;
  /** False for a tool that leaves all files as they are, also those of a live attempt. */
  readonly changesFiles?: boolean;
  /** True if it can reach systems that this program does not know. */
  readonly isOpenWorld?: boolean;
  /** Names of the parameters that are paths in the attempt, and of lists of them. */
  readonly paths: readonly string[];
  /** @throws InputError if a call would refuse the input */
  check(input: unknown): void;
  /** Finds out what a call will do. Only for tools that can change something outside the attempt. */
  readonly plan?: (input: Readonly<Record<string, unknown>>, open: Caller, signal: AbortSignal) => Promise<Plan>;
  call(input: unknown, context: ToolContext): Promise<ToolOutcome>;
}

export interface WorkspaceToolDefinition<I> extends Omit<ServerTool, 'call' | 'check' | 'required' | 'paths'> {
  readonly required?: readonly string[];
  readonly paths?: readonly string[];
  readonly run: (
    input: I,
    context: ToolContext,
  ) => Promise<string | (ToolOutput & { readonly operations?: readonly Operation[] | undefined })>;
}

/** Creates a tool of the workspace. Its input is checked and its failures are explained as those of the file tools. */
export function workspaceTool<I>({ run, ...definition }: WorkspaceToolDefinition<I>): ServerTool {
  const { properties, required = [], paths = [] } = definition;
  const schema: InputSchema = { type: 'object', properties, required: [...required], additionalProperties: false };
  return {
    ...definition,
    required,
    paths,
    check: (input) => void readInput(schema, input),
    call: async (input, context) => {
      let operations: readonly Operation[] = [];
      const tool = defineTool(
        {
          ...definition,
          run: async (read: I) => {
            const output = await run(read, context).catch(async (error: unknown) => {
              throw await explainedTo(error, context, context.signal);
            });
            if (typeof output === 'string') return output;
            operations = output.operations ?? [];
            return output;
          },
        },
        { onError: context.settings.onError },
      );
      const result = await tool.run(input, { signal: context.signal });
      return { ...result, operations };
    },
  };
}

/** Messages that JavaScript itself makes, which say that the program has a fault. */
const OF_THE_LANGUAGE =
  /^(Cannot |Maximum call stack|Invalid (array|string) length)|is not (a function|iterable|defined|a constructor)/;

/** Turns an error whose message is for the model, such as one for a wrong value, into one that tools show. */
export function explained(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const isOfValue = (error instanceof RangeError || error instanceof TypeError) && !OF_THE_LANGUAGE.test(error.message);
  const isForModel = error instanceof WorkspaceError || error.name === 'OsSandboxUnavailableError' || isFsError(error);
  return isOfValue || isForModel ? new InputError(error.message) : error;
}

/** Like `explained`, without the hidden names in the message: an error names paths that stand in the way. */
export async function explainedTo(
  error: unknown,
  open: OpenAttempt | undefined,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const known = explained(error);
  if (known === error || open === undefined || !(known instanceof Error)) return known;
  return new InputError(await withoutHidden(known.message, open, signal));
}
