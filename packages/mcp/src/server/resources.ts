import { type McpServer, ResourceNotFoundError, ResourceTemplate } from '@modelcontextprotocol/server';
import { isFsError } from '@scratchfs/core';
import { isSandboxError } from '@scratchfs/sandbox';
import { nameOf } from '../tools/format.js';
import { visibleOnly } from '../tools/visible.js';
import { isWorkspaceError, type OpenAttempt, type SharedWorkspace } from './shared-workspace.js';
import { parseUri, uriOf } from './uri.js';

/** Maximum bytes of a file that is read as a resource. */
const MAX_BYTES = 4_000_000;
const MAX_LISTED = 100;
const MAX_COMPLETIONS = 100;

/** Registers the files of attempts as resources, with completion of attempts and paths. */
export function registerResources(server: McpServer, shared: SharedWorkspace): void {
  const template = new ResourceTemplate('scratchfs://{attempt}/{+path}', {
    list: async () => ({ resources: await changedFiles(shared) }),
    complete: {
      attempt: (start) => attemptNames(shared, start),
      path: (start, context) => pathsFrom(shared, context?.arguments?.['attempt'], start),
    },
  });
  const description =
    'A file of an attempt, or the names in a directory. Listed are the files that the current attempt has changed.';
  server.registerResource('file', template, { description }, async (url) => ({
    contents: [await contentsOf(shared, url.href)],
  }));
}

async function changedFiles(shared: SharedWorkspace): Promise<{ uri: string; name: string }[]> {
  // Clients may ask for the list when they start. The workspace is not opened for that.
  if (!shared.isOpen) return [];
  const { attempt, sandbox } = await shared.attempt(undefined);
  const { paths } = await attempt.diff();
  const { shown } = await visibleOnly(paths, { attempt, sandbox });
  return shown
    .filter(({ after }) => after?.kind === 'file')
    .slice(0, MAX_LISTED)
    .map(({ path }) => ({ uri: uriOf(attempt.name, path), name: nameOf(path) }));
}

async function contentsOf(shared: SharedWorkspace, uri: string) {
  const found = parseUri(uri);
  if (found === undefined) throw new ResourceNotFoundError(uri);
  try {
    const { sandbox } = await shared.attempt(found.attempt);
    return await read(sandbox, uri, found.path);
  } catch (error) {
    const isHidden = isSandboxError(error) || isFsError(error, 'ENOENT') || isFsError(error, 'ENOTDIR');
    if (isHidden || isWorkspaceError(error, 'not-found')) throw new ResourceNotFoundError(uri);
    throw error;
  }
}

async function read({ fileSystem }: OpenAttempt['sandbox'], uri: string, path: string) {
  const stats = await fileSystem.stat(path);
  if (stats.isDirectory()) {
    const entries = await fileSystem.readdir(path, { withFileTypes: true });
    const lines = entries.map((entry) => `${nameOf(entry.name)}${entry.isDirectory() ? '/' : ''}\n`);
    return { uri, mimeType: 'text/plain', text: lines.join('') };
  }
  if (stats.size > MAX_BYTES)
    throw new Error(`The file has ${stats.size} bytes; at most ${MAX_BYTES} are read at once`);
  const bytes = await fileSystem.readFile(path);
  try {
    return {
      uri,
      mimeType: 'text/plain',
      text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes),
    };
  } catch {
    return { uri, mimeType: 'application/octet-stream', blob: Buffer.from(bytes).toString('base64') };
  }
}

async function attemptNames(shared: SharedWorkspace, start: string): Promise<string[]> {
  const workspace = await shared.open();
  const names = (await workspace.attempts()).filter(({ state }) => state === 'open').map(({ name }) => name);
  return names.filter((name) => name.startsWith(start)).slice(0, MAX_COMPLETIONS);
}

async function pathsFrom(shared: SharedWorkspace, attempt: string | undefined, start: string): Promise<string[]> {
  const top = start.slice(0, start.lastIndexOf('/') + 1);
  try {
    const { sandbox } = await shared.attempt(attempt === '' ? undefined : attempt);
    const entries = await sandbox.fileSystem.readdir(`/${top}`, { withFileTypes: true });
    return entries
      .map((entry) => `${top}${entry.name}${entry.isDirectory() ? '/' : ''}`)
      .filter((path) => path.startsWith(start))
      .slice(0, MAX_COMPLETIONS);
  } catch (error) {
    if (isFsError(error) || isSandboxError(error) || isWorkspaceError(error, 'not-found')) return [];
    throw error;
  }
}
