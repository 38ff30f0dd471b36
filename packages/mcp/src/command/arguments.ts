import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { WorkspaceOptions } from '@scratchfs/workspace';
import type { HttpOptions } from '../http/serve-http.js';
import type { McpServerOptions } from '../server/options.js';

/** Error for an invalid command line. Its message is for the person who typed it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const HOSTS = ['claude', 'codex', 'cursor', 'vscode', 'zed'] as const;
/** Name of a program that starts MCP servers. */
export type HostName = (typeof HOSTS)[number];

export interface ServeArguments {
  readonly command: 'serve';
  readonly directories: readonly string[];
  readonly attempt: string | undefined;
  readonly workspace: WorkspaceOptions;
  readonly server: McpServerOptions;
  /** True for the tools of the reference filesystem server, which can serve several directories. */
  readonly isFilesystem: boolean;
  readonly http: (Pick<HttpOptions, 'port' | 'allowedHosts'> & { readonly tokenFile: string | undefined }) | undefined;
}

export type Arguments =
  | ServeArguments
  | {
      readonly command: 'approve' | 'deny';
      readonly id: number;
      readonly directory: string | undefined;
      readonly workspace: WorkspaceOptions;
    }
  | {
      readonly command: 'install';
      readonly host: HostName;
      readonly directory: string | undefined;
      readonly isPrint: boolean;
      /** Options for the server: those that were given, without `--print`, and with an absolute path for a store. */
      readonly rest: readonly string[];
    }
  | { readonly command: 'help' | 'version' };

const COMMANDS = ['approve', 'deny', 'install'] as const;

const OPTIONS = {
  attempt: { type: 'string' },
  'read-only': { type: 'boolean' },
  live: { type: 'boolean' },
  deny: { type: 'string', multiple: true },
  'allow-secrets': { type: 'string', multiple: true },
  limit: { type: 'string' },
  approve: { type: 'string' },
  'allow-run': { type: 'boolean' },
  network: { type: 'boolean' },
  profile: { type: 'string' },
  tools: { type: 'string' },
  store: { type: 'string' },
  http: { type: 'string' },
  'token-file': { type: 'string' },
  'allow-host': { type: 'string', multiple: true },
  print: { type: 'boolean' },
  version: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Parses a command line. @throws UsageError */
export function parseArguments(args: readonly string[]): Arguments {
  const { values, positionals } = parsed(args);
  if (values.help) return { command: 'help' };
  if (values.version) return { command: 'version' };
  const [first, second, third, ...more] = positionals;
  const workspace: WorkspaceOptions = {
    store: values.store,
    limits: values.limit === undefined ? undefined : { maxTotalSize: sizeOf(values.limit) },
  };
  if (first === 'approve' || first === 'deny') {
    if (second === undefined || !/^[1-9]\d{0,8}$/.test(second))
      throw new UsageError(`${first} needs the number of an approval, as in: scratchfs-mcp ${first} 7`);
    noMore(more);
    return {
      command: first,
      id: Number(second),
      directory: third,
      workspace: withoutUndefined({ store: values.store }),
    };
  }
  if (first === 'install') {
    noMore(more);
    const host = HOSTS.find((each) => each === second);
    if (host === undefined) throw new UsageError(`install needs a host: ${HOSTS.join(', ')}`);
    return {
      command: 'install',
      host,
      directory: third,
      isPrint: values.print === true,
      rest: optionsIn(args),
    };
  }
  if (values.print) throw new UsageError('--print is for install');
  const profile = choice('--profile', values.profile, ['scratchfs', 'claude', 'filesystem']);
  const isFilesystem = profile === 'filesystem';
  if (isFilesystem) checkFilesystem(values);
  const server = withoutUndefined({
    readOnly: values['read-only'],
    live: values.live ?? (isFilesystem ? true : undefined),
    approve: choice('--approve', values.approve, ['accept', 'writes', 'all']),
    allowRun: values['allow-run'],
    network: values.network,
    deny: values.deny,
    allowSecrets: values['allow-secrets'],
    profile: profile === 'filesystem' ? undefined : profile,
    tools: values.tools?.split(','),
  });
  if (values.network && !values['allow-run']) throw new UsageError('--network is for commands: add --allow-run');
  const meant = COMMANDS.find((name) => name.slice(0, 3) === first?.slice(0, 3).toLowerCase());
  if (positionals.length > 1 && meant !== undefined)
    throw new UsageError(`There is no command ${first}. Did you mean ${meant}?`);
  if (positionals.length > 1 && !isFilesystem)
    throw new UsageError('A server has one directory: start one for each, or use --profile filesystem');
  const http = httpOf(values);
  return {
    command: 'serve',
    directories: positionals,
    attempt: values.attempt,
    workspace: withoutUndefined(workspace),
    server,
    isFilesystem,
    http,
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    // Cuts off the advice that Node adds.
    throw new UsageError((error as Error).message.split(/\n|\. To /)[0]);
  }
}

/** Returns the options among arguments, with their values, except `--print`. The path of a store is made absolute. */
function optionsIn(args: readonly string[]): string[] {
  const { tokens } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true, tokens: true });
  return tokens.flatMap((token) => {
    if (token.kind !== 'option' || token.name === 'print') return [];
    if (token.value === undefined) return [`--${token.name}`];
    const value = token.name === 'store' ? absoluteStore(token.value) : token.value;
    return [`--${token.name}=${value}`];
  });
}

/** Returns a store whose path does not depend on the directory in which a host starts the server. */
function absoluteStore(store: string): string {
  const [, scheme = '', path = ''] = /^((?:disk|file|sqlite):)?(.*)$/s.exec(store) ?? [];
  const isElsewhere = scheme === '' && /^[a-z][a-z0-9+.-]*:/i.test(store);
  return isElsewhere || path.startsWith('/') || path === '' ? store : `${scheme}${resolve(path)}`;
}

/** Refuses options that the profile of the reference server does not support. @throws UsageError */
function checkFilesystem(values: ReturnType<typeof parsed>['values']): void {
  for (const name of ['approve', 'allow-run', 'http'] as const)
    if (values[name] !== undefined)
      throw new UsageError(
        `--${name} is not for --profile filesystem, which has the tools of the reference server on stdio`,
      );
}

function httpOf(values: ReturnType<typeof parsed>['values']): ServeArguments['http'] {
  const { http, 'token-file': tokenFile, 'allow-host': allowedHosts } = values;
  if (http === undefined) {
    if (tokenFile !== undefined || allowedHosts !== undefined)
      throw new UsageError('--token-file and --allow-host are for --http');
    return undefined;
  }
  if (!/^\d{1,5}$/.test(http) || Number(http) > 65_535) throw new UsageError(`--http needs a port, not ${http}`);
  return { port: Number(http), tokenFile, allowedHosts };
}

function choice<const T extends string>(name: string, value: string | undefined, values: readonly T[]): T | undefined {
  if (value === undefined) return undefined;
  const found = values.find((each) => each === value);
  if (found === undefined) throw new UsageError(`${name} must be ${values.join(', ')}, not ${value}`);
  return found;
}

const UNITS: Readonly<Record<string, number>> = { '': 1, b: 1, kb: 1e3, mb: 1e6, gb: 1e9 };

function sizeOf(text: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,12})\s*([a-z]*)$/i.exec(text) ?? [];
  const factor = UNITS[unit.toLowerCase()];
  if (digits === '' || factor === undefined) throw new UsageError(`--limit needs a size such as 200MB, not ${text}`);
  return Number(digits) * factor;
}

function noMore(rest: readonly string[]): void {
  if (rest.length > 0) throw new UsageError(`There is nothing to do with ${rest.join(' ')}`);
}

function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as T;
}
