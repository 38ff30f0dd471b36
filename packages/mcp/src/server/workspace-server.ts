import {
  type CallToolResult,
  fromJsonSchema,
  type InputRequiredResult,
  McpServer,
  type McpServerFactory,
  type ServerContext,
  type ToolAnnotations,
} from '@modelcontextprotocol/server';
import { quote } from '@scratchfs/core';
import { InputError } from '@scratchfs/tools';
import { type Attempt, type Conflict, type RefreshResult, type Workspace, WorkspaceError } from '@scratchfs/workspace';
import { ConflictError } from '../tools/accept-plan.js';
import { conflictLine, conflictLines, counted, firstNamed, mergedLines } from '../tools/format.js';
import { explainedTo, type ServerTool } from '../tools/server-tool.js';
import { toolList } from '../tools/tool-list.js';
import { type Caller, isVisible, visibleOnly } from '../tools/visible.js';
import { VERSION } from '../version.js';
import { ApprovalGate } from './approval-gate.js';
import { clientOf } from './client.js';
import { ClientHandles } from './client-handles.js';
import { attemptPath } from './host-paths.js';
import { type McpServerOptions, type ServerSettings, serverSettings } from './options.js';
import { registerPrompts } from './prompts.js';
import { registerResources } from './resources.js';
import { CHANGES_SCHEMA, errorResult, resultOf } from './results.js';
import { type StdioOptions, serveOnStdio } from './serve-on-stdio.js';
import { type ClientMemory, type OpenAttempt, SharedWorkspace } from './shared-workspace.js';
import { type ResourceListener, Subscriptions } from './subscriptions.js';
import { UNCHECKED } from './unchecked.js';

/**
 * An MCP server on a workspace, for any number of connections. `factory` creates the SDK's server for a connection or a
 * request. Pass it to the stdio and HTTP entry points of `@modelcontextprotocol/server`.
 *
 * The workspace is opened by the first request that needs it. All connections share it, but not what each was told and
 * has read: a client's write settles only a conflict that its own results have named, and is refused if another client,
 * or the person, has changed the file since this one read it. Calls over HTTP without a session name their client by a
 * handle in the arguments.
 *
 * @throws TypeError for an unknown option, level, profile or tool, and for a flag that is not a boolean
 */
export class McpWorkspaceServer {
  readonly #settings: ServerSettings;
  readonly #shared: SharedWorkspace;
  readonly #tools: readonly ServerTool[];
  readonly #gate: ApprovalGate;
  readonly #subscriptions: Subscriptions;
  readonly #clients = new ClientHandles();

  /** @param open opens the workspace, such as `() => openWorkspace('/home/me/project')` */
  constructor(open: () => Promise<Workspace>, options: McpServerOptions = {}) {
    this.#settings = serverSettings(options);
    const { readOnly: isReadOnly, live: isLive, attempt: name, deny, allowSecrets, onError } = this.#settings;
    this.#tools = toolList(this.#settings);
    const fileTools = this.#tools.flatMap(({ fileTool }) => fileTool ?? []);
    this.#shared = new SharedWorkspace(open, { isReadOnly, isLive, name, deny, allowSecrets, fileTools, onError });
    this.#subscriptions = new Subscriptions(
      async (signal) => (await this.#shared.open()).events({ signal }),
      async (attempt, path) => {
        // An attempt that cannot be opened, such as a discarded one, has no resources.
        const open = await this.#shared.attempt(attempt).catch(() => undefined);
        return open !== undefined && isVisible(path, open, undefined);
      },
    );
    this.#gate = new ApprovalGate(this.#settings);
  }

  readonly factory: McpServerFactory = ({ era, requestInfo }) => {
    const hasResources = this.#hasResources;
    const server = new McpServer(
      { name: 'scratchfs', version: VERSION },
      {
        capabilities: {
          tools: { listChanged: false },
          // In revisions with a handshake, a request over HTTP without a session has no connection for notifications.
          ...(hasResources
            ? { resources: { subscribe: era === 'modern' || requestInfo === undefined, listChanged: false } }
            : {}),
          prompts: { listChanged: false },
          // Some clients of these revisions set a log level without checking this capability.
          ...(era === 'legacy' ? { logging: {} } : {}),
        },
        instructions: this.#settings.live ? LIVE_INSTRUCTIONS : INSTRUCTIONS,
        requestState: { verify: (state, context) => this.#gate.codec.verify(state, context) },
      },
    );
    // With `requestInfo` the instance is for a single HTTP request, so it remembers nothing.
    const memory: ClientMemory | undefined = requestInfo === undefined ? new Map() : undefined;
    for (const tool of this.#tools) this.#register(server, tool, memory);
    if (hasResources) registerResources(server, this.#shared);
    registerPrompts(server);
    if (hasResources && requestInfo === undefined) this.#subscriptions.serve(server, era);
    return server;
  };

  /**
   * Calls a function with the URI of each resource that changes, also through other processes. Opens the workspace.
   * Returns a function that stops this.
   */
  onResourceChange(listener: ResourceListener): () => void {
    return this.#subscriptions.listen(listener);
  }

  /**
   * Serves one client over stdin and stdout.
   * @param options.onend called when stdin has ended and its requests are replied to. Requests still open after 30
   * seconds are not waited for
   */
  serveStdio(options: StdioOptions = {}): void {
    serveOnStdio(this.factory, options, () => this.#subscriptions.begin());
  }

  /** Reports whether files are offered as resources: only if the tool that reads a file is offered and needs no yes. */
  get #hasResources(): boolean {
    const { approve, profile } = this.#settings;
    const reader = profile === 'claude' ? 'Read' : 'read_file';
    return approve !== 'all' && this.#tools.some(({ name }) => name === reader);
  }

  /** Closes the workspace if it was opened. */
  async close(): Promise<void> {
    await this.#shared.close();
  }

  #register(server: McpServer, tool: ServerTool, memory: ClientMemory | undefined): void {
    const { name, description, properties, required, effect } = tool;
    const schema = {
      type: 'object',
      properties: {
        ...properties,
        attempt: { type: 'string' },
        ...(memory === undefined ? { client: { type: 'string' } } : {}),
      },
      ...(required.length === 0 ? {} : { required: [...required] }),
    };
    server.registerTool(
      name,
      {
        description,
        inputSchema: fromJsonSchema<Record<string, unknown>>(schema as never, UNCHECKED),
        ...(effect === 'none' ? {} : { outputSchema: fromJsonSchema(CHANGES_SCHEMA as never, UNCHECKED) }),
        annotations: this.#annotations(tool),
      },
      (input, context) => this.#call(server, tool, memory, input, context),
    );
  }

  /**
   * Returns the hints that differ from the protocol's defaults, by which a tool is destructive and reaches the open
   * world.
   */
  #annotations({ effect, changesFiles = true, isOpenWorld = false }: ServerTool): ToolAnnotations {
    const isApart = effect === 'attempt' && !(this.#settings.live && changesFiles);
    return {
      ...(effect === 'none' ? { readOnlyHint: true } : {}),
      ...(isApart ? { destructiveHint: false } : {}),
      ...(isOpenWorld ? {} : { openWorldHint: false }),
    };
  }

  async #call(
    server: McpServer,
    tool: ServerTool,
    ofConnection: ClientMemory | undefined,
    given: Readonly<Record<string, unknown>>,
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { signal } = context.mcpReq;
    let open: Caller | undefined;
    let found = NOTHING_FOUND;
    let handleLines = (): string[] => [];
    try {
      const { attempt: name, client: handle, ...others } = given;
      if (name !== undefined && (typeof name !== 'string' || name === ''))
        return errorResult('attempt must be the name of an attempt, as the tool attempts lists them.');
      const client = clientOf(server, context);
      const isAlone = ofConnection === undefined;
      const rest = isAlone || handle === undefined ? others : { ...others, client: handle };
      checkNames(rest, tool, isAlone ? ['attempt', 'client'] : ['attempt']);
      const { memory, offer } = isAlone
        ? this.#clients.take(handle, tool.needsClient === true)
        : { memory: ofConnection };
      if (offer !== undefined) handleLines = () => [`[Pass client: "${offer()}" in every call.]`];
      const workspace = await this.#shared.open();
      open = { ...(await this.#shared.attempt(name, memory)), actor: client.name };
      const input = inAttempt(rest, tool, workspace.directory);
      const needsYes = this.#needsApproval(tool);
      // Comes first, because it can add an operation, and a yes counts only for one head.
      if ((needsYes || tool.isAboutAll === true) && !this.#settings.readOnly)
        found = await shownOf(await allRefreshed(open.attempt, signal), open, signal);
      if (needsYes || tool.plan !== undefined) tool.check(input);
      const plan = await tool.plan?.(input, open, signal);
      if (needsYes || plan?.isOutside === true) {
        const { attempt } = open;
        const decision = await this.#gate.decide({ tool: tool.name, input, attempt, workspace, client, context, plan });
        if (decision !== undefined) return decision;
      }
      const call = { ...open, workspace, settings: this.#settings, plan, signal };
      const { operations = [], refreshed, conflicts: named = [], ...result } = await tool.call(input, call);
      const attempt = open.attempt.name;
      if (refreshed !== undefined) found = joined(found, await shownOf(refreshed, open, signal));
      const isNamed = ({ path }: { readonly path: string }): boolean => named.some((one) => one.path === path);
      const unnamed = found.conflicts.filter((one) => !isNamed(one));
      const conflicts = firstNamed(unnamed);
      const notes = [...mergedLines(found), ...conflictLines(conflicts)];
      const more = unnamed.length - conflicts.length;
      if (more > 0)
        notes.push(
          `There ${more === 1 ? 'is' : 'are'} ${counted(more, 'more conflict')}: accept with dry_run names all.`,
        );
      const last = operations.at(-1);
      if (last !== undefined) notes.push(`[Operation ${last.id} of the attempt ${attempt}.]`);
      notes.push(...handleLines());
      const effect = tool.effect === 'none' ? undefined : { attempt, operations };
      return told([...conflicts, ...named], resultOf(result, attempt, notes, effect), open);
    } catch (thrown) {
      const error = await explainedTo(thrown, open, signal);
      if (!(error instanceof InputError)) throw error;
      const lines = [error.message, ...mergedLines(found)];
      if (!(error instanceof ConflictError) || open === undefined) return errorResult(lines.join('\n'));
      return told(error.conflicts, errorResult([...lines, ...handleLines()].join('\n')), open);
    }
  }

  /**
   * Reports whether each call of a tool needs a yes. A call whose plan is outside the attempt needs one in any case.
   */
  #needsApproval({ effect }: ServerTool): boolean {
    const { approve } = this.#settings;
    return approve === 'all' || (approve === 'writes' && effect !== 'none');
  }
}

const INSTRUCTIONS =
  "The files are the user's project, as on the disk now, plus the changes of an attempt. Paths begin at the project: /src/a.ts. Changes stay in the attempt until accept, which asks the user. Every call that changes something is an operation, and undo takes the last one back; for an accept, it asks the user too.";

const LIVE_INSTRUCTIONS =
  "The files are the user's project on the disk. Paths begin at the project: /src/a.ts. Each call that changes something writes to the disk at once and is an operation; undo takes the last one back there, unless the user has changed its files since.";

/** Marks as told the conflicts that a result names: it may be cut off before the others. */
function told(conflicts: readonly Conflict[], result: CallToolResult, { attempt }: OpenAttempt): CallToolResult {
  if (conflicts.length === 0) return result;
  const lines = new Set(result.content.flatMap((part) => (part.type === 'text' ? part.text.split('\n') : [])));
  attempt.markTold(conflicts.filter((conflict) => lines.has(conflictLine(conflict))));
  return result;
}

const NOTHING_FOUND: RefreshResult = { merged: [], conflicts: [] };

/** Compares all that an attempt has changed with the disk. */
async function allRefreshed(attempt: Attempt, signal: AbortSignal): Promise<RefreshResult> {
  return attempt.refresh({ signal }).catch((error: unknown) => {
    // If the attempt cannot be changed now, a tool that changes it fails too and says why.
    if (error instanceof WorkspaceError) return NOTHING_FOUND;
    throw error;
  });
}

/** Returns the result without hidden paths. */
async function shownOf(
  { merged, conflicts }: RefreshResult,
  open: OpenAttempt,
  signal: AbortSignal,
): Promise<RefreshResult> {
  const asChanges = merged.map((path) => ({ path }));
  const shown = await visibleOnly(asChanges, open, signal);
  return {
    merged: shown.shown.map(({ path }) => path),
    conflicts: (await visibleOnly(conflicts, open, signal)).shown,
  };
}

function joined(first: RefreshResult, second: RefreshResult): RefreshResult {
  const conflicts = new Map([...first.conflicts, ...second.conflicts].map((conflict) => [conflict.path, conflict]));
  return { merged: [...new Set([...first.merged, ...second.merged])], conflicts: [...conflicts.values()] };
}

/** @throws InputError for a parameter that the tool does not have. Its message lists those of the published schema. */
function checkNames(
  input: Readonly<Record<string, unknown>>,
  { properties, unpublished = [] }: ServerTool,
  common: readonly string[],
): void {
  const unknown = Object.keys(input).find((name) => !Object.hasOwn(properties, name) && !unpublished.includes(name));
  if (unknown !== undefined)
    throw new InputError(
      `There is no parameter ${quote(unknown)}. The parameters are ${[...Object.keys(properties), ...common].join(', ')}.`,
    );
}

/** Turns paths on the disk, in the workspace's directory, into paths of the attempt: agents may send full paths. */
function inAttempt(
  input: Readonly<Record<string, unknown>>,
  { paths }: ServerTool,
  directory: string,
): Record<string, unknown> {
  const result = { ...input };
  const changed = (value: unknown): unknown => (typeof value === 'string' ? attemptPath(value, directory) : value);
  for (const name of paths) {
    const value = result[name];
    if (value !== undefined) result[name] = Array.isArray(value) ? value.map(changed) : changed(value);
  }
  return result;
}
