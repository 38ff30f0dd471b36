import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  type CallToolResult,
  fromJsonSchema,
  McpServer,
  type McpServerFactory,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { isFsError } from '@scratchfs/core';
import { InputError, type PropertySchema, readInput } from '@scratchfs/tools';
import type { Workspace } from '@scratchfs/workspace';
import { clientOf } from '../server/client.js';
import { attemptPath } from '../server/host-paths.js';
import { type McpServerOptions, type ServerSettings, serverSettings } from '../server/options.js';
import { errorResult, resultOf } from '../server/results.js';
import { type StdioOptions, serveOnStdio } from '../server/serve-on-stdio.js';
import { SharedWorkspace } from '../server/shared-workspace.js';
import { UNCHECKED } from '../server/unchecked.js';
import { nameOf } from '../tools/format.js';
import { explained, type ServerTool } from '../tools/server-tool.js';
import { log, redo, undo } from '../tools/undo-tools.js';
import { VERSION } from '../version.js';
import { AllowedDirectories, absoluteOf, type ServedDirectory } from './allowed-directories.js';
import { cutForProfile } from './cut.js';
import { type Located, REFERENCE_TOOLS, type ReferenceCall, type ReferenceTool } from './reference-tools.js';
import { restrictTo } from './restrict-to.js';

/** A directory to serve. */
export interface FilesystemDirectory {
  /** Absolute path. */
  readonly path: string;
  /** Opens its workspace. Must pass `live: true` to `openWorkspace`. */
  readonly open: () => Promise<Workspace>;
}

export type FilesystemServerOptions = Pick<
  McpServerOptions,
  'readOnly' | 'deny' | 'allowSecrets' | 'tools' | 'attempt' | 'onError'
>;

/** Tools beside those of the reference server. They work on the log of one directory. */
const LOG_TOOLS: readonly ServerTool[] = [undo, redo, log];

/**
 * An MCP server with the tools of the reference server `@modelcontextprotocol/server-filesystem`, on live workspaces: a
 * call that changes something writes to the disk before it returns, and is an operation that `undo` can take back.
 * Paths that a call names are those of the disk.
 *
 * @throws TypeError for unknown options and tools; Error such as ENOENT if a directory cannot be found
 */
export class FilesystemServer {
  readonly #served: readonly ServedDirectory[];
  readonly #settings: ServerSettings;
  readonly #tools: readonly ReferenceTool[];
  readonly #logTools: readonly ServerTool[];

  constructor(directories: readonly FilesystemDirectory[], options: FilesystemServerOptions = {}) {
    const settings = serverSettings({ ...options, live: true });
    this.#settings = settings;
    const { readOnly, attempt: name, deny, allowSecrets, onError } = settings;
    this.#served = directories.map(({ path, open }) => ({
      given: path,
      path: realpathSync(path),
      shared: new SharedWorkspace(open, {
        isReadOnly: readOnly,
        isLive: true,
        name,
        deny,
        allowSecrets,
        fileTools: [],
        onError,
      }),
    }));
    const isOffered = (tool: { readonly name: string }, isReading: boolean): boolean =>
      (isReading || !readOnly) && (settings.tools?.includes(tool.name) ?? true);
    this.#tools = REFERENCE_TOOLS.filter((tool) => isOffered(tool, tool.annotations.readOnlyHint === true));
    this.#logTools = LOG_TOOLS.filter((tool) => isOffered(tool, tool.effect === 'none'));
    const all = [...REFERENCE_TOOLS, ...LOG_TOOLS].map((tool) => tool.name);
    const unknown = settings.tools?.find((tool) => !all.includes(tool));
    if (unknown !== undefined) throw new TypeError(`There is no tool ${unknown}. There are ${all.join(', ')}`);
  }

  readonly factory: McpServerFactory = () => {
    const server = new McpServer(
      { name: 'scratchfs', version: VERSION },
      { capabilities: { tools: { listChanged: false } }, instructions: INSTRUCTIONS },
    );
    const directories = new AllowedDirectories(this.#served);
    let ready: Promise<void> | undefined;
    const askForRoots = (): void => {
      if (server.server.getClientCapabilities()?.roots === undefined) return;
      ready = (ready ?? Promise.resolve()).then(() => narrow(server, directories));
    };
    server.server.oninitialized = askForRoots;
    server.server.setNotificationHandler('notifications/roots/list_changed', askForRoots);
    for (const tool of this.#tools)
      server.registerTool(tool.name, described(tool), async (input: Record<string, unknown>, context) => {
        await ready;
        return this.#call(server, directories, tool, input, context);
      });
    for (const tool of this.#logTools)
      server.registerTool(
        tool.name,
        {
          description: tool.description,
          inputSchema: schemaOf({ ...tool.properties, directory: DIRECTORY }, tool.required),
          annotations: tool.effect === 'none' ? { readOnlyHint: true, openWorldHint: false } : { openWorldHint: false },
        },
        async (input: Record<string, unknown>, context) => {
          await ready;
          return this.#callLogTool(server, directories, tool, input, context);
        },
      );
    return server;
  };

  /** Serves one client over stdin and stdout. */
  serveStdio(options: StdioOptions = {}): void {
    serveOnStdio(this.factory, options);
  }

  /** Closes the workspaces that calls have opened. */
  async close(): Promise<void> {
    await Promise.all(this.#served.map(({ shared }) => shared.close()));
  }

  async #call(
    server: McpServer,
    directories: AllowedDirectories,
    tool: ReferenceTool,
    given: Record<string, unknown>,
    context: ServerContext,
  ): Promise<CallToolResult> {
    const { signal } = context.mcpReq;
    const options = { signal };
    const actor = clientOf(server, context).name;
    // By path as it was given. A tool may locate several at the same time.
    const located = new Map<string, ServedDirectory>();
    const messageOf = (error: unknown, path: string): string => {
      const known = explained(error);
      if (!(known instanceof InputError)) {
        this.#settings.onError(error, tool.name);
        return 'The tool failed, because this program has a fault.';
      }
      const served = located.get(path);
      return served === undefined || !isFsError(error) ? known.message : withDiskPaths(error, served);
    };
    const call: ReferenceCall = {
      allowed: directories.allowed,
      options,
      messageOf,
      locate: async (requested): Promise<Located> => {
        const place = directories.locate(requested);
        located.set(requested, place.served);
        const { attempt, sandbox } = await place.served.shared.attempt(undefined);
        const fs = restrictTo(sandbox.fileSystem, directories.within(place.served));
        const path = await directories.real(fs, place, options);
        return {
          fs,
          path,
          absolute: absoluteOf(place.served, path),
          directory: place.served.path,
          change: async (work) =>
            (await attempt.labelled({ actor, tool: tool.name }, () => fs.transaction(work, options))).value,
        };
      },
    };
    try {
      const output = await tool.run(readKnown(tool, given) as never, call);
      if (typeof output === 'string') {
        const text = cutForProfile(output, tool.name, given['head'] !== undefined);
        return { content: [{ type: 'text', text }], structuredContent: { content: text } };
      }
      return { content: output, structuredContent: { content: output } };
    } catch (error) {
      signal.throwIfAborted();
      // A tool that lets an error through has located one path, or one after the other.
      const last = [...located.keys()].at(-1) ?? '';
      return { content: [{ type: 'text', text: messageOf(error, last) }], isError: true };
    }
  }

  async #callLogTool(
    server: McpServer,
    directories: AllowedDirectories,
    tool: ServerTool,
    { directory, ...given }: Record<string, unknown>,
    context: ServerContext,
  ): Promise<CallToolResult> {
    const { signal } = context.mcpReq;
    try {
      const served = chosen(directories, directory);
      const { shared } = served;
      const open = await shared.attempt(undefined);
      const input = typeof given['path'] === 'string' ? { ...given, path: pathIn(given['path'], served) } : given;
      const workspace = await shared.open();
      const actor = clientOf(server, context).name;
      const called = { ...open, workspace, settings: this.#settings, actor, plan: undefined, signal };
      const { operations: _, ...result } = await tool.call(input, called);
      return resultOf(result, open.attempt.name);
    } catch (thrown) {
      const error = explained(thrown);
      if (error instanceof InputError) return errorResult(error.message);
      throw error;
    }
  }
}

const INSTRUCTIONS =
  'Paths are those of the disk, in the allowed directories. Each call that changes something writes to the disk at once and is an operation; undo takes the last one back, unless the user has changed its files since.';

const DIRECTORY: PropertySchema = {
  type: 'string',
  description: 'Path in the allowed directory that is meant. Needed only if there are several.',
};

/**
 * Returns the directory whose log is meant. A client that may use only a part of it gets no log: undo would change the
 * rest too.
 */
function chosen(directories: AllowedDirectories, directory: unknown): ServedDirectory {
  const whole = directories.served.filter((one) => directories.allowsAll(one));
  if (whole.length === 0)
    throw new InputError(
      "undo, redo and log work on the whole of a directory that the server was started with, and this client's roots allow only a part of it. Add that directory to the client's roots to use them.",
    );
  const named = typeof directory === 'string' ? directories.locate(directory).served : whole[0];
  if (named !== undefined && whole.includes(named) && (typeof directory === 'string' || whole.length === 1))
    return named;
  const names = whole.map(({ path }) => path).join(', ');
  throw new InputError(`directory is needed, because each has a log of its own: ${names}`);
}

/** Like {@link attemptPath}, for the real path of a directory and for the one that was given. */
function pathIn(path: string, served: ServedDirectory): string {
  const inside = attemptPath(path, served.path);
  return inside === path ? attemptPath(path, served.given) : inside;
}

/** Returns the configuration of a tool for `registerTool`. */
function described({ title, description, properties, required, output, annotations }: ReferenceTool) {
  const content = output === 'text' ? { type: 'string' } : { type: 'array', items: { type: 'object' } };
  const outputSchema = { type: 'object', properties: { content }, required: ['content'] };
  return {
    title,
    description,
    inputSchema: schemaOf(properties, required),
    outputSchema: fromJsonSchema(outputSchema as never, UNCHECKED),
    annotations,
  };
}

function schemaOf(properties: Readonly<Record<string, PropertySchema>>, required: readonly string[]) {
  return fromJsonSchema<Record<string, unknown>>({ type: 'object', properties, required } as never, UNCHECKED);
}

/** Checks the input. Unknown parameters are left out, as the reference server does. */
function readKnown({ properties, required }: ReferenceTool, given: Record<string, unknown>): Record<string, unknown> {
  const known = Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(properties, name)));
  return readInput({ type: 'object', properties, required: [...required], additionalProperties: false }, known);
}

/** Returns an error's message with paths of the disk in place of those of the attempt. */
function withDiskPaths(
  error: Error & { readonly path?: string; readonly dest?: string },
  served: ServedDirectory,
): string {
  let { message } = error;
  for (const path of [error.path, error.dest])
    if (path !== undefined) message = message.replace(`'${path}'`, () => `'${absoluteOf(served, path)}'`);
  return message;
}

/**
 * Asks the client for its roots, the directories that it works in, and allows only what lies in them; a root that does
 * not exist allows nothing. If the client has none, or does not tell them, nothing changes. In these cases, and if a
 * root does not exist or nothing is allowed, writes the allowed directories to stderr.
 */
async function narrow({ server }: McpServer, directories: AllowedDirectories): Promise<void> {
  const report = (reason: string): void => {
    const allowed = directories.allowed.map(nameOf).join(', ') || 'none';
    console.error(`${nameOf(reason)} Allowed directories: ${allowed}`);
  };
  try {
    const { roots } = await server.listRoots(undefined, { timeout: ROOTS_MS });
    if (roots.length === 0) return report('The client has no roots.');
    const paths: string[] = [];
    for (const { uri } of roots) {
      try {
        paths.push(realpathSync(uri.startsWith('file://') ? fileURLToPath(uri) : uri));
      } catch {}
    }
    directories.narrow(paths);
    if (paths.length < roots.length) report("Some of the client's roots are not directories of this disk.");
    else if (directories.allowed.length === 0) report("The client's roots lie outside of the served directories.");
  } catch (error) {
    report(`The client did not tell its roots: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

/** Time in milliseconds for a client to send its roots. Calls wait for it. */
const ROOTS_MS = 5_000;
