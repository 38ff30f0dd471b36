import { randomBytes } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { parse, resolve } from 'node:path';
import { shellCommand } from '@scratchfs/core/internal';
import { openWorkspace, type WorkspaceOptions } from '@scratchfs/workspace';
import { checkLive, namedAttempt } from '../server/shared-workspace.js';
import { McpWorkspaceServer } from '../server/workspace-server.js';
import { nameOf } from '../tools/format.js';
import { VERSION } from '../version.js';
import { parseArguments, type ServeArguments, UsageError } from './arguments.js';
import type { ExitCode } from './exit-code.js';
import { helpCommand, program } from './program.js';
import { USAGE } from './usage.js';

/**
 * Runs the program. Resolves when a command has ended, or when a server has started.
 * @param words words before the arguments, if this is a command of another program, such as `mcp`
 */
export async function main(args: readonly string[], words: readonly string[] = []): Promise<ExitCode> {
  try {
    const given = parseArguments(args);
    switch (given.command) {
      case 'help':
        process.stdout.write(USAGE);
        return 0;
      case 'version':
        process.stdout.write(`${VERSION}\n`);
        return 0;
      case 'approve':
      case 'deny': {
        const { settle } = await import('./settle.js');
        return await settle({ ...given, directory: directoryOf(given.directory) });
      }
      case 'install': {
        const { install } = await import('./install.js');
        await checkInstalled(given.rest);
        return await install({ ...given, words, directory: directoryOf(given.directory) });
      }
      case 'serve':
        await serve(given, words);
        return 0;
    }
  } catch (error) {
    const isUsage = error instanceof UsageError;
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`scratchfs-mcp: ${nameOf(message)}\n${isUsage ? `See \`${helpCommand(words)}\`.\n` : ''}`);
    return isUsage ? 2 : 1;
  }
}

/** Checks the options of a server before it is installed. @throws UsageError, TypeError */
async function checkInstalled(rest: readonly string[]): Promise<void> {
  const served = parseArguments(rest);
  if (served.command !== 'serve') return;
  if (served.http !== undefined)
    throw new UsageError('install is for hosts that start the server: leave out --http, --token-file and --allow-host');
  if (served.isFilesystem) {
    const { FilesystemServer } = await import('../filesystem/filesystem-server.js');
    new FilesystemServer([], served.server);
  } else new McpWorkspaceServer(() => Promise.reject(new Error('Not to be opened')), served.server);
}

async function serve(
  { directories, attempt, workspace, server: options, isFilesystem, http }: ServeArguments,
  words: readonly string[],
): Promise<void> {
  const { deny, allowSecrets, live } = options;
  const found = directories.length === 0 ? [directoryOf(undefined)] : directories.map(directoryOf);
  if (live && attempt !== undefined)
    for (const path of found) await checkLiveAttempt(path, attempt, { ...workspace, live });
  if (isFilesystem) {
    const { FilesystemServer } = await import('../filesystem/filesystem-server.js');
    const served = found.map((path, i) => ({
      path: resolve(directories[i] ?? '.'),
      open: () => openWorkspace(path, { ...workspace, deny, allowSecrets, live: true }),
    }));
    const server = new FilesystemServer(served, { ...options, attempt });
    const end = endOf(server);
    server.serveStdio({ onend: end, onerror });
    return;
  }
  const [directory] = found;
  if (directory === undefined) return;
  const server = new McpWorkspaceServer(() => openWorkspace(directory, { ...workspace, deny, allowSecrets, live }), {
    ...options,
    attempt,
    approvalCommand: (id) => approvalCommand(words, id, directory, workspace.store as string | undefined),
  });
  const end = endOf(server);
  if (http === undefined) {
    server.serveStdio({ onend: end, onerror });
    return;
  }
  const { serveHttp } = await import('../http/serve-http.js');
  const { tokenFile, ...rest } = http;
  const token =
    tokenFile === undefined ? randomBytes(24).toString('base64url') : readFileSync(tokenFile, 'utf8').trim();
  const { url } = await serveHttp(server, { ...rest, token });
  process.stderr.write(`Serving ${nameOf(directory)} at ${url}\n`);
  if (tokenFile === undefined) process.stderr.write(`Authorization: Bearer ${token}\n`);
}

/**
 * @throws WorkspaceError, such as `refused` if the attempt exists and is not live. One that does not exist is created
 * live, later.
 */
async function checkLiveAttempt(directory: string, name: string, options: WorkspaceOptions): Promise<void> {
  await using opened = await openWorkspace(directory, options);
  checkLive(name, await namedAttempt(opened, name));
}

/** Returns a function that closes a server and ends the process. SIGINT and SIGTERM call it too. */
function endOf(server: { close(): Promise<void> }): () => void {
  const end = (): void => {
    void server.close().finally(() => process.exit(0));
  };
  process.once('SIGINT', end).once('SIGTERM', end);
  return end;
}

function onerror(error: Error): void {
  process.stderr.write(`${nameOf(error.message)}\n`);
}

/**
 * Returns the real path of a directory, by default the current one.
 * @throws UsageError if it is not a directory, or by default would be the root or the home directory
 */
function directoryOf(given: string | undefined): string {
  const path = resolve(given ?? '.');
  const isTooMuch = path === parse(path).root || path === homedir();
  if (given === undefined && isTooMuch)
    throw new UsageError(`Name the directory to serve: without one it would be ${path}`);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new UsageError(`There is no directory ${path}`);
  return realpathSync(path);
}

/** Returns the command by which a person settles an approval. */
function approvalCommand(words: readonly string[], id: number, directory: string, store: string | undefined): string {
  const { command, args } = program(words);
  const options = store === undefined ? [] : ['--store', store];
  return shellCommand([command, ...args, 'approve', String(id), directory, ...options]);
}
