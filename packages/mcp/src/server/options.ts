import { checkOptions } from '@scratchfs/core/internal';

/**
 * Calls that need a person's yes. `accept`: accepting (not a dry run or a patch), undo and redo of an accept, and undo
 * and redo in a live attempt if the server is not live; `writes`: also all other calls of tools that can change
 * something; `all`: every call.
 */
export type ApprovalLevel = 'accept' | 'writes' | 'all';

export type Profile = 'scratchfs' | 'claude';

export interface McpServerOptions {
  /** Offer no tool that changes anything. Default false. */
  readonly readOnly?: boolean | undefined;
  /**
   * Must be true if the workspace is opened with `live: true`: the tools then say that they write to the disk. Default
   * false.
   */
  readonly live?: boolean | undefined;
  /** Default `accept`. */
  readonly approve?: ApprovalLevel | undefined;
  /** Offer `run`. Default false. */
  readonly allowRun?: boolean | undefined;
  /** Commands of `run` may use the network. Default false. */
  readonly network?: boolean | undefined;
  /** Patterns of paths to hide besides secrets. */
  readonly deny?: readonly string[] | undefined;
  /** Patterns of secrets to show. */
  readonly allowSecrets?: readonly string[] | undefined;
  /**
   * Names of the file tools: those of `@scratchfs/tools`, or `Read`, `Edit` … as in Claude Code. Default `scratchfs`.
   */
  readonly profile?: Profile | undefined;
  /** Names of the tools to offer. Default: all. */
  readonly tools?: readonly string[] | undefined;
  /**
   * Name of the attempt for calls that name none; created if it does not exist. Default: the current or the live one.
   */
  readonly attempt?: string | undefined;
  /**
   * Returns the command by which a person settles an approval, for clients without forms. Default: that of
   * `scratchfs-mcp`.
   */
  readonly approvalCommand?: ((id: number) => string) | undefined;
  /** Receives errors that are faults of the program. Default: they are written to stderr. */
  readonly onError?: ((error: unknown, tool: string) => void) | undefined;
}

/** Options with their defaults filled in. */
export type ServerSettings = {
  readonly [K in Exclude<keyof McpServerOptions, 'tools' | 'attempt'>]-?: Exclude<McpServerOptions[K], undefined>;
} & Pick<McpServerOptions, 'tools' | 'attempt'>;

const KNOWN = [
  'readOnly',
  'live',
  'approve',
  'allowRun',
  'network',
  'deny',
  'allowSecrets',
  'profile',
  'tools',
  'attempt',
  'approvalCommand',
  'onError',
];

/** @throws TypeError for an unknown option, level or profile, and for a flag that is not a boolean */
export function serverSettings(options: McpServerOptions): ServerSettings {
  const given = checkOptions<McpServerOptions>(options, KNOWN, 'McpWorkspaceServer', false);
  return {
    readOnly: flag(given, 'readOnly'),
    live: flag(given, 'live'),
    approve: oneOf(given.approve ?? 'accept', ['accept', 'writes', 'all'], 'approve'),
    allowRun: flag(given, 'allowRun'),
    network: flag(given, 'network'),
    deny: given.deny ?? [],
    allowSecrets: given.allowSecrets ?? [],
    profile: oneOf(given.profile ?? 'scratchfs', ['scratchfs', 'claude'], 'profile'),
    tools: given.tools,
    attempt: given.attempt,
    approvalCommand: given.approvalCommand ?? ((id) => `scratchfs-mcp approve ${id}`),
    onError: given.onError ?? ((error, tool) => console.error(`${tool}:`, error)),
  };
}

function flag(options: Partial<McpServerOptions>, name: 'readOnly' | 'live' | 'allowRun' | 'network'): boolean {
  const value: unknown = options[name] ?? false;
  if (typeof value === 'boolean') return value;
  throw new TypeError(`${name} must be true or false, not ${String(value)}`);
}

function oneOf<const T extends string>(value: unknown, values: readonly T[], name: string): T {
  const found = values.find((each) => each === value);
  if (found === undefined) throw new TypeError(`${name} must be ${values.join(', ')}, not ${String(value)}`);
  return found;
}
