import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import type { HostName } from './arguments.js';

/** Command with which a host, a program that starts MCP servers, starts one. */
export interface ServerEntry {
  readonly command: string;
  readonly args: readonly string[];
}

/** Error for a configuration that this program does not understand. Its message is for a person. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** The configuration of a host, as its manual describes it. */
export interface HostConfig {
  /** Returns the path of the configuration file for a directory. */
  file(directory: string): string;
  /**
   * Returns the name of the server in the file. A file for all directories can have several, named after their
   * directory.
   */
  nameFor(directory: string): string;
  /** Returns the text to add by hand. */
  snippet(name: string, entry: ServerEntry): string;
  /** Returns the text of the file with the server in it; undefined if it is there already. @throws ConfigError */
  add(text: string, name: string, entry: ServerEntry): string | undefined;
  /** Sentence that says what to do next. */
  readonly next: string;
}

const forDirectory = (): string => 'scratchfs';
const forPerson = (directory: string): string =>
  `scratchfs-${basename(directory)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')}`;

export const HOST_CONFIGS: Readonly<Record<HostName, HostConfig>> = {
  claude: {
    file: (directory) => join(directory, '.mcp.json'),
    nameFor: forDirectory,
    ...json('mcpServers', (entry) => ({ type: 'stdio', ...entry })),
    next: 'Start claude in the directory and allow the server scratchfs; /mcp shows it.',
  },
  codex: {
    file: () => join(process.env['CODEX_HOME'] ?? join(homedir(), '.codex'), 'config.toml'),
    nameFor: forPerson,
    snippet: tomlTable,
    add: addToml,
    next: 'Start codex; /mcp shows the server.',
  },
  cursor: {
    file: (directory) => join(directory, '.cursor', 'mcp.json'),
    nameFor: forDirectory,
    ...json('mcpServers', (entry) => entry),
    next: 'Open the directory in Cursor and switch the server on in Settings, MCP.',
  },
  vscode: {
    file: (directory) => join(directory, '.vscode', 'mcp.json'),
    nameFor: forDirectory,
    ...json('servers', (entry) => ({ type: 'stdio', ...entry })),
    next: 'Open the directory in VS Code and start the server from the file .vscode/mcp.json.',
  },
  zed: {
    file: () => join(process.env['XDG_CONFIG_HOME'] ?? join(homedir(), '.config'), 'zed', 'settings.json'),
    nameFor: forPerson,
    ...json('context_servers', (entry) => ({ source: 'custom', ...entry })),
    next: 'Open the agent panel of Zed; its settings list the server.',
  },
};

/** Returns the methods for a JSON file whose member `key` has a member for each server. */
function json(key: string, shape: (entry: ServerEntry) => object): Pick<HostConfig, 'snippet' | 'add'> {
  return {
    snippet: (name, entry) => JSON.stringify({ [key]: { [name]: shape(entry) } }, undefined, 2),
    add: (text, name, entry) => {
      const config = text.trim() === '' ? {} : parsedObject(text);
      const servers = Object.hasOwn(config, key) ? config[key] : {};
      if (!isObject(servers)) throw new ConfigError(`its ${key} is not an object`);
      const wanted = shape(entry);
      if (Object.hasOwn(servers, name)) {
        if (JSON.stringify(servers[name]) === JSON.stringify(wanted)) return undefined;
        throw new ConfigError(`it has a server ${name} already, with other settings: remove that first`);
      }
      const added = { ...config, [key]: { ...servers, [name]: wanted } };
      return `${JSON.stringify(added, undefined, indentOf(text))}\n`;
    },
  };
}

function parsedObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ConfigError('it is not plain JSON; comments would be lost');
  }
  if (!isObject(value)) throw new ConfigError('it is not a JSON object');
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function indentOf(text: string): string {
  return /^\{\r?\n([ \t]+)/.exec(text.trimStart())?.[1] ?? '  ';
}

function tomlTable(name: string, { command, args }: ServerEntry): string {
  // A JSON string is a basic string of TOML, except for U+007F, which JSON leaves as it is and TOML forbids.
  const text = (value: string): string => JSON.stringify(value).replaceAll('\u007f', '\\u007f');
  return `[mcp_servers.${name}]\ncommand = ${text(command)}\nargs = [${args.map(text).join(', ')}]`;
}

function addToml(text: string, name: string, entry: ServerEntry): string | undefined {
  const table = tomlTable(name, entry);
  if (text.includes(`${table}\n`)) return undefined;
  const headers = text.split('\n').map((line) => line.replace(/[\s"']/g, ''));
  if (headers.some((line) => [']', '.'].some((end) => line.startsWith(`[mcp_servers.${name}${end}`))))
    throw new ConfigError(`it has a server ${name} already, with other settings: remove that first`);
  // A table at the end of the file is valid wherever the others are, unless the servers are an inline table or dotted
  // keys.
  if (/^\s*["']?mcp_servers["']?\s*[.=]/m.test(text))
    throw new ConfigError('its mcp_servers are not tables of their own');
  if (/"""|'''/.test(text)) throw new ConfigError('it has texts of several lines, in which a table could begin');
  const before = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  return `${before}${before === '' ? '' : '\n'}${table}\n`;
}
