import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type FileSystem, isFsError } from '@scratchfs/core';
import type { Attempt, Workspace } from '@scratchfs/workspace';
import { CliError, ExitCode, usageError } from '../errors.js';
import type { Call } from '../table/command-spec.js';
import { openStore, pathOfUrl } from '../target/open-store.js';
import { storedPath } from '../target/stored-path.js';

/** Opens the workspace of a call, calls `use` with it, and closes it. */
export async function withWorkspace<T>(
  call: Call,
  use: (workspace: Workspace) => Promise<T>,
  { adopt }: { readonly adopt?: boolean } = {},
): Promise<T> {
  const directory = workspaceDirectory(call.directory);
  const store = await storeOf(call, directory);
  try {
    const { openWorkspace } = await import('@scratchfs/workspace');
    const workspace = await openWorkspace(directory, {
      ...(store === undefined ? {} : { store: store.fileSystem }),
      ...(adopt === undefined ? {} : { adopt }),
    });
    try {
      return await use(workspace);
    } finally {
      await workspace.close();
    }
  } finally {
    await store?.close();
  }
}

/** Opens the attempt that `--attempt` names, by default the current one, and calls `use` with it. */
export function withAttempt<T>(call: Call, use: (attempt: Attempt, workspace: Workspace) => Promise<T>): Promise<T> {
  return withWorkspace(call, async (workspace) =>
    use(await workspace.attempt(call.options.text('attempt'), { signal: call.signal }), workspace),
  );
}

/**
 * Returns the real path of the git repository that contains a directory, or of the directory itself if none does.
 * @throws CliError if it is not a directory
 */
export function workspaceDirectory(directory: string): string {
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory())
    throw new CliError(ExitCode.notFound, `${directory} is not a directory.`, '-C names the directory to work in.');
  const start = realpathSync(directory);
  for (let at = start; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (dirname(at) === at) return start;
  }
}

async function storeOf(
  { options, directory }: Call,
  workspace: string,
): Promise<{ fileSystem: FileSystem; close(): Promise<void> } | undefined> {
  const name = options.text('store');
  if (name === undefined) return undefined;
  // A store needs atomic writes, so a path names the directory of a `@scratchfs/disk` store, not a plain directory.
  const isUrl = /^[a-z][a-z0-9+.-]+:/i.test(name);
  const url = isUrl ? name : pathToFileURL(resolve(directory, name)).href;
  const path = pathOfUrl(url, directory);
  if (path !== undefined && lies(path, workspace))
    throw new CliError(
      ExitCode.refused,
      `The store ${name} would lie in the workspace ${workspace}, where an agent could change it.`,
      'Put it elsewhere: --store names another place.',
    );
  return openStore(url, directory, 'create');
}

/** Reports whether a path of the disk is `directory` or lies in it. The path need not exist. */
function lies(path: string, directory: string): boolean {
  let existing = path;
  while (!existsSync(existing)) existing = dirname(existing);
  return leadsInside(relative(directory, join(realpathSync(existing), relative(existing, path))));
}

/** Reports whether a path as `relative` returns it leads to the directory that it starts from, or into it. */
function leadsInside(path: string): boolean {
  return path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}

/**
 * Returns an absolute path of the disk relative to a directory that it leads to or into, also through links above the
 * directory, as a shell has them in `$PWD`. Returns undefined for any other path.
 */
function pathInside(directory: string, path: string): string | undefined {
  const direct = relative(directory, path);
  if (leadsInside(direct)) return direct;
  const names = resolve(path).split(sep);
  for (let n = 2; n <= names.length; n++) {
    const above = names.slice(0, n).join(sep);
    if (!existsSync(above)) return undefined;
    const inside = relative(directory, realpathSync(above));
    if (leadsInside(inside)) return join(inside, ...names.slice(n));
  }
  return undefined;
}

/**
 * Returns the path in the attempt that an argument names: a path relative to the current directory, an absolute path of
 * the disk that lies in the workspace, or, if it is absolute and does not, an absolute path within the attempt.
 * @throws CliError if a relative path leads out of the workspace
 */
export function attemptPath(call: Call, workspace: Pick<Workspace, 'directory'>, argument: string): string {
  const here = realpathSync(call.directory);
  const place = here === workspace.directory ? '/' : `/${relative(workspace.directory, here).split(sep).join('/')}`;
  if (isAbsolute(argument)) {
    const inside = pathInside(workspace.directory, argument);
    return storedPath(inside === undefined ? argument : `/${inside.split(sep).join('/')}`);
  }
  if (!leadsInside(relative(workspace.directory, resolve(here, argument))))
    throw new CliError(
      ExitCode.notFound,
      `${argument} is outside the workspace.`,
      `The workspace is ${workspace.directory}.`,
    );
  return storedPath(argument, place);
}

/**
 * Reports whether the argument at `index` names an attempt. After `--`, and with `--attempt`, it is a path.
 * @throws CliError if it names a path too: agents choose the names of attempts, so the user may mean the path
 */
export async function isAttemptWord(
  call: Call,
  index: number,
  { fileSystem }: Attempt,
  workspace: Workspace,
): Promise<boolean> {
  const word = call.args[index];
  if (word === undefined || index >= call.plain || call.options.text('attempt') !== undefined) return false;
  const { signal } = call;
  if (!(await workspace.attempts({ signal })).some(({ name }) => name === word)) return false;
  const isOnDisk = lstatSync(resolve(call.directory, word), { throwIfNoEntry: false }) !== undefined;
  const changed = async (): Promise<boolean> =>
    fileSystem.lstat(attemptPath(call, workspace, word), { signal }).then(
      () => true,
      () => false,
    );
  if (isOnDisk || (await changed()))
    throw usageError(
      `${word} is an attempt and a path.`,
      `Write --attempt ${word} for the attempt, or ./${word} for the path.`,
    );
  return true;
}

/**
 * Checks that the words from `index` on name paths that are not hidden and exist in the attempt, at its start, on the
 * disk or in one of the compared states, or that an operation has changed. Returns the paths.
 * @throws CliError that names the first one that is unknown, with the attempts that exist if it could name one
 */
export async function knownPaths(
  call: Call,
  index: number,
  attempt: Attempt,
  workspace: Workspace,
  states: readonly FileSystem[] = [],
): Promise<string[]> {
  const { args, plain, signal, options } = call;
  const paths: string[] = [];
  for (const [at, word] of args.slice(index).entries()) {
    const path = attemptPath(call, workspace, word);
    paths.push(path);
    // An attempt that was forked from one that has removed a path shows it in none of its states.
    const disk = join(workspace.directory, path);
    let isKnown = !attempt.hides(path) && lstatSync(disk, { throwIfNoEntry: false }) !== undefined;
    for (const state of [attempt.fileSystem, attempt.at(0), ...states]) isKnown ||= await hasPath(state, path, signal);
    if (isKnown || (await attempt.log({ path, limit: 1, signal })).operations.length > 0) continue;
    const takesAttempt = call.spec.arguments?.[index + at]?.complete === 'attempt';
    if (!takesAttempt || index + at >= plain || options.text('attempt') !== undefined)
      throw new CliError(ExitCode.notFound, `'${word}' is not a path of attempt ${attempt.name} or of the disk.`);
    const names = (await workspace.attempts({ signal })).map(({ name }) => name);
    throw new CliError(
      ExitCode.notFound,
      `'${word}' is not an attempt and not a path.`,
      names.length === 0 ? 'There are no attempts.' : `Attempts: ${names.join(', ')}`,
    );
  }
  return paths;
}

/** Reports whether a filesystem has an entry at a path; a link that leads nowhere is one. */
export async function hasPath(fileSystem: FileSystem, path: string, signal: AbortSignal): Promise<boolean> {
  try {
    await fileSystem.lstat(path, { signal });
    return true;
  } catch (error) {
    if (!isFsError(error)) throw error;
    // A path that cannot be looked at may exist.
    return error.code !== 'ENOENT' && error.code !== 'ENOTDIR';
  }
}

/** Parses the number of an operation. @throws CliError for anything else */
export function parseOperation(text: string, name: string, least = 1): number {
  return parseNumber(text, name, least, '`scratchfs log` lists the operations.');
}

/** Parses a number, such as that of an approval or of steps. @throws CliError for anything else */
export function parseNumber(text: string, name: string, least = 1, hint?: string): number {
  const number = Number(text);
  if (!/^\d{1,15}$/.test(text) || number < least)
    throw usageError(`${name} must be a number from ${least}, not ${text}.`, hint);
  return number;
}
