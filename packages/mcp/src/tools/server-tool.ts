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
import {
  type AcceptResult,
  type Conflict,
  type Operation,
  type RefreshResult,
  type Workspace,
  WorkspaceError,
} from '@scratchfs/workspace';
import type { ServerSettings } from '../server/options.js';
import type { OpenAttempt } from '../server/shared-workspace.js';
import { type Caller, withoutHidden } from './visible.js';

/**
 * The most that a tool can change. `none`: nothing, though the attempt may take over changes on the disk first;
 * `attempt`: attempts, and the disk through a live one; `outside`: also the user's disk or git, or what a command
 * reaches over the network.
 */
export type ToolEffect = 'none' | 'attempt' | 'outside';

/**
 * Description of what a call will do, made before a person is asked. A call that was approved fails if the attempt has
 * changed since.
 */
export interface Plan {
  /** Number of the attempt's last operation when the plan was made. */
  readonly head: number;
  /** True if the call would change something outside the attempt, so that a person is always asked. */
  readonly isOutside: boolean;
  /** Text to show to the person. */
  readonly shown: string;
  /** Differences to show after it, shortened. */
  readonly diff?: string | undefined;
  /** The operation that the call takes back or makes again. */
  readonly target?: Operation | undefined;
  /** Result of the dry run of an accept that would accept nothing. The call returns it in place of accepting. */
  readonly nothing?: AcceptResult | undefined;
}

/** Context of a call of a tool. */
export interface ToolContext extends Caller {
  readonly workspace: Workspace;
  readonly settings: ServerSettings;
  /** Result of the tool's `plan`. */
  readonly plan: Plan | undefined;
  readonly signal: AbortSignal;
}

export interface ToolOutcome extends ToolResult {
  /** The operations that the call has made. */
  readonly operations?: readonly Operation[] | undefined;
  /** Changes by the person that the text does not name yet. The server adds them to it. */
  readonly refreshed?: RefreshResult | undefined;
  /** Conflicts that the text names already, each with its line unless it is cut. */
  readonly conflicts?: readonly Conflict[] | undefined;
}

/** The part of an outcome that is not shown as it is. */
type Made = Pick<ToolOutcome, 'operations' | 'conflicts' | 'refreshed'>;

/** A tool of the server. */
export interface ServerTool {
  readonly name: string;
  readonly description: string;
  readonly properties: Readonly<Record<string, PropertySchema>>;
  readonly required: readonly string[];
  /** Names of parameters that calls may have though the published schema does not mention them. Default: none. */
  readonly unpublished?: readonly string[];
  readonly effect: ToolEffect;
  /** False for a tool that leaves all files as they are, also those of a live attempt. Default true. */
  readonly changesFiles?: boolean;
  /** True if it can reach systems outside this program, such as the network. Default false. */
  readonly isOpenWorld?: boolean;
  /**
   * True if a call is about all changes of the attempt: a server that is not read-only first compares them with the
   * disk.
   */
  readonly isAboutAll?: boolean;
  /** True if it must not change a file that the client has seen in another version, so it must know the client. */
  readonly needsClient?: boolean;
  /** Names of the parameters whose value is a path in the attempt, or a list of such paths. */
  readonly paths: readonly string[];
  /** Name of the file tool that does the work. Undefined if none does. */
  readonly fileTool?: string | undefined;
  /** @throws InputError if a call would refuse the input */
  check(input: unknown): void;
  /** Plans a call, and changes nothing. Only for tools that can change something outside the attempt. */
  readonly plan?: (input: Readonly<Record<string, unknown>>, open: Caller, signal: AbortSignal) => Promise<Plan>;
  call(input: unknown, context: ToolContext): Promise<ToolOutcome>;
}

export interface WorkspaceToolDefinition<I> extends Omit<ServerTool, 'call' | 'check' | 'required' | 'paths'> {
  readonly required?: readonly string[];
  readonly paths?: readonly string[];
  readonly run: (input: I, context: ToolContext) => Promise<string | (ToolOutput & Made)>;
}

/** Creates a tool of the workspace. Its input is checked, and its failures are explained, as for the file tools. */
export function workspaceTool<I>({ run, ...definition }: WorkspaceToolDefinition<I>): ServerTool {
  const { properties, required = [], paths = [] } = definition;
  const schema: InputSchema = { type: 'object', properties, required: [...required], additionalProperties: false };
  return {
    ...definition,
    required,
    paths,
    check: (input) => void readInput(schema, input),
    call: async (input, context) => {
      let made: Made = {};
      const tool = defineTool(
        {
          ...definition,
          run: async (read: I) => {
            const output = await run(read, context).catch(async (error: unknown) => {
              throw await explainedTo(error, context, context.signal);
            });
            if (typeof output === 'string') return output;
            const { operations, conflicts, refreshed, ...rest } = output;
            made = { operations, conflicts, refreshed };
            return rest;
          },
        },
        { onError: context.settings.onError },
      );
      const result = await tool.run(input, { signal: context.signal });
      return { ...result, ...made };
    },
  };
}

/** Messages of errors that JavaScript itself throws: they mean a fault of the program. */
const OF_THE_LANGUAGE =
  /^(Cannot |Maximum call stack|Invalid (array|string) length)|is not (a function|iterable|defined|a constructor)/;

/**
 * Turns an error whose message helps the model, such as one for a wrong value, into an InputError. Returns other
 * errors.
 */
export function explained(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const isOfValue = (error instanceof RangeError || error instanceof TypeError) && !OF_THE_LANGUAGE.test(error.message);
  const isForModel = error instanceof WorkspaceError || error.name === 'OsSandboxUnavailableError' || isFsError(error);
  return isOfValue || isForModel ? new InputError(error.message) : error;
}

/**
 * Like `explained`, but if it makes an InputError, replaces hidden names in the message, because an error may name
 * other paths than the input.
 */
export async function explainedTo(
  error: unknown,
  open: OpenAttempt | undefined,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const known = explained(error);
  if (known === error || open === undefined || !(known instanceof Error)) return known;
  return new InputError(await withoutHidden(known.message, open, signal));
}
