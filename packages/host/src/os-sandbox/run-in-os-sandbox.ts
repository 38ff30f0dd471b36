import { type Checkpoint, type FileSystem, FsError, isFsError, parentPath } from '@scratchfs/core';
import { isSandboxError, type Sandbox, SandboxPermissionEscalationError } from '@scratchfs/sandbox';
import { killConfined, memoryOf, OsSandboxUnavailableError, startConfined } from './bubblewrap.js';
import { type AllLimits, allLimits, type OsSandboxLimits } from './limits.js';
import { INSIDE, targetInside, targetOutside } from './link-targets.js';
import { type ChangedFile, hashOf, isSame, Workspace, type WorkspaceChanges } from './workspace.js';

export interface OsSandboxOptions {
  /** Wall time. Default 60,000. */
  readonly timeoutMs?: number | undefined;
  readonly limits?: OsSandboxLimits | undefined;
  /** Whether the command may use the network. Default: as the sandbox says; more than that is an escalation. */
  readonly network?: boolean | undefined;
  /** All that is in the command's environment besides PATH, HOME and LANG. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Why a command was ended before its time. */
export type Stopped = 'timeout' | 'output' | 'memory';

export interface OsSandboxResult {
  /** Null where the command was ended by a signal. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Undefined where the command ended by itself. Nothing comes back of one that was stopped. */
  readonly stopped: Stopped | undefined;
  /** What has changed in the filesystem, as the sandbox writes paths: files and links, and beside them directories. */
  readonly changes: {
    readonly added: readonly string[];
    readonly removed: readonly string[];
    readonly changed: readonly string[];
    readonly addedDirectories: readonly string[];
    readonly removedDirectories: readonly string[];
  };
  /** What the command did and the sandbox did not take, each path by itself, with the reason. */
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
  /**
   * The state before the changes, to go back to: for the caller to drop. Undefined where nothing was changed, where the filesystem
   * has no checkpoints, and where it keeps as many as it may.
   */
  readonly checkpoint: Checkpoint | undefined;
}

const TIMEOUT_MS = 60_000;
const WATCHED_EVERY_MS = 50;

/**
 * Runs a command on a copy of what a sandbox may read, held by the operating system (bubblewrap, on Linux), and brings back what
 * it changed where the sandbox may write: in one step, after a checkpoint. The command sees the sandbox at `/work`, the
 * programs of the host in `/usr`, and nothing else of it: no file, process, environment, descriptor, and no network unless the
 * sandbox has it. A process of root runs it as nobody.
 *
 * It never runs unheld: where it cannot be held it is refused, whether the sandbox requires that or not.
 *
 * @param command a program with its arguments, or a line for `/bin/sh`
 * @throws OsSandboxUnavailableError where nothing can hold it; SandboxPermissionEscalationError for a network that the sandbox does
 * not have; FsError EFBIG for more than may be copied, with nothing changed; the reason of the signal
 * @example
 * ```ts no-run
 * import { runInOsSandbox } from '@scratchfs/host';
 * import { Sandbox } from '@scratchfs/sandbox';
 * import { createFileSystem } from 'scratchfs';
 *
 * const fs = createFileSystem({ files: { '/src/a.txt': 'one\n' } });
 * const sandbox = new Sandbox(fs, { root: { root: '/src' }, requireOsSandbox: true });
 * const { stdout, changes } = await runInOsSandbox(sandbox, 'cat a.txt; echo two >b.txt', { timeoutMs: 10_000 });
 * ```
 */
export async function runInOsSandbox(
  sandbox: Sandbox,
  command: string | readonly string[],
  options: OsSandboxOptions = {},
): Promise<OsSandboxResult> {
  const { signal, timeoutMs = TIMEOUT_MS } = options;
  const limits = allLimits(options.limits);
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs <= 0)
    throw new RangeError('timeoutMs must be a whole number above 0');
  const argv = argumentsOf(command);
  const environment = environmentOf(options.env);
  const network = networkOf(sandbox, options.network);
  signal?.throwIfAborted();
  await using workspace = await Workspace.copy(sandbox, limits, signal);
  const confinement = { bindings: workspace.bindings, network, limits, environment, directory: INSIDE };
  const run = await runToEnd(argv, confinement, { limits, timeoutMs, signal });
  if (run.stopped !== undefined) return { ...run, ...NOTHING };
  const changes = await workspace.changes(limits, signal);
  return { ...run, ...(await bringBack(sandbox, workspace, changes, signal)) };
}

const NOTHING = {
  changes: { added: [], removed: [], changed: [], addedDirectories: [], removedDirectories: [] },
  refused: [],
  checkpoint: undefined,
} as const;

type Run = Pick<OsSandboxResult, 'exitCode' | 'stdout' | 'stderr' | 'stopped'>;

async function runToEnd(
  argv: readonly string[],
  confinement: Parameters<typeof startConfined>[1],
  { limits, timeoutMs, signal }: { limits: AllLimits; timeoutMs: number; signal: AbortSignal | undefined },
): Promise<Run> {
  signal?.throwIfAborted();
  const { child, started } = startConfined(argv, confinement);
  let stopped: Stopped | undefined;
  let stands = false;
  void started.then((is) => {
    stands = is;
  });
  const stop = (why?: Stopped): void => {
    stopped ??= why;
    killConfined(child);
  };
  const abort = (): void => stop();
  const outputs = [child.stdout, child.stderr].map((stream) => {
    const chunks: Buffer[] = [];
    let size = 0;
    stream?.on('data', (chunk: Buffer) => {
      chunks.push(chunk.subarray(0, Math.max(0, limits.outputBytes - size)));
      size += chunk.length;
      if (size > limits.outputBytes) stop('output');
    });
    return () => Buffer.concat(chunks).toString('utf8');
  });
  const timer = setTimeout(() => stop('timeout'), timeoutMs);
  const watch = setInterval(() => {
    if (child.pid !== undefined && memoryOf(child.pid, stands) > limits.memoryBytes) stop('memory');
  }, WATCHED_EVERY_MS);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.on('error', (cause) => reject(new OsSandboxUnavailableError('bubblewrap cannot be started', { cause })));
      child.on('close', resolve);
    });
    signal?.throwIfAborted();
    const [stdout, stderr] = outputs.map((text) => text()) as [string, string];
    if (!(await started) && stopped === undefined)
      throw new OsSandboxUnavailableError(`The command was not run, because nothing could hold it: ${stderr.trim()}`);
    return { exitCode, stdout, stderr, stopped };
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    signal?.removeEventListener('abort', abort);
  }
}

/** Takes the changes over, all in one step where the filesystem can; what the sandbox refuses is left out and told. */
async function bringBack(
  sandbox: Sandbox,
  workspace: Workspace,
  { written, removed, addedDirectories, removedDirectories, refused: unusable }: WorkspaceChanges,
  signal: AbortSignal | undefined,
): Promise<Pick<OsSandboxResult, 'changes' | 'refused' | 'checkpoint'>> {
  const refused = unusable.map(({ path, reason }) => ({ path, reason }));
  const none = (): string[] => [];
  const changes = {
    added: none(),
    removed: none(),
    changed: none(),
    addedDirectories: none(),
    removedDirectories: none(),
  };
  if ([written, removed, addedDirectories, removedDirectories].every(({ length }) => length === 0))
    return { changes, refused, checkpoint: undefined };
  const { fileSystem } = sandbox;
  const checkpoint = await unlessUnable(() => fileSystem.checkpoint(undefined, { signal }), 'ENOSPC');
  const drop = async (): Promise<void> => {
    if (checkpoint !== undefined) await fileSystem.drop(checkpoint);
  };
  const attempt = async (path: string, list: string[], work: () => Promise<void>): Promise<void> => {
    try {
      await work();
      list.push(path);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      refused.push({ path, reason: error.message });
    }
  };
  const take = async (inside: FileSystem): Promise<void> => {
    for (const list of Object.values(changes)) list.length = 0;
    refused.length = unusable.length;
    for (const { path } of removed) {
      await attempt(path, changes.removed, async () => {
        const place = sandbox.locate(path);
        await checkUnchanged(sandbox, inside, place, workspace.files.get(path));
        await inside.rm(place);
      });
    }
    // What was a directory may be something else now, and the other way round: room is made first.
    for (const path of removedDirectories.toReversed())
      await attempt(path, changes.removedDirectories, () => inside.rmdir(sandbox.locate(path)));
    for (const path of addedDirectories) {
      await attempt(path, changes.addedDirectories, async () => {
        await inside.mkdir(sandbox.locate(path), { recursive: true });
      });
    }
    for (const file of written) {
      const before = workspace.files.get(file.path);
      await attempt(file.path, before === undefined ? changes.added : changes.changed, async () => {
        const place = sandbox.locate(file.path);
        await checkUnchanged(sandbox, inside, place, before);
        await put(sandbox, inside, place, file);
      });
    }
  };
  try {
    const isAtomic = await unlessUnable(async () => {
      await fileSystem.transaction(take, { signal });
      return true;
    });
    if (isAtomic === undefined) await take(fileSystem);
  } catch (error) {
    await drop().catch(() => undefined);
    throw error;
  }
  if (Object.values(changes).every(({ length }) => length === 0)) {
    await drop();
    return { changes, refused, checkpoint: undefined };
  }
  for (const list of Object.values(changes)) list.sort();
  return { changes, refused, checkpoint };
}

async function put(
  sandbox: Sandbox,
  fileSystem: FileSystem,
  place: string,
  { body, isLink, isExecutable }: ChangedFile,
): Promise<void> {
  const target = isLink ? targetOutside(sandbox, Buffer.from(body).toString('utf8')) : undefined;
  await fileSystem.mkdir(parentPath(place), { recursive: true });
  if (target !== undefined) return instead(fileSystem, place, () => fileSystem.symlink(target, place));
  const there = await fileSystem.lstat(place).catch(() => undefined);
  const write = (): Promise<void> => fileSystem.writeFile(place, body);
  await (there?.isSymbolicLink() === true ? instead(fileSystem, place, write) : write());
  const mode = there?.isFile() === true ? there.mode & 0o777 : 0o644;
  const wanted = isExecutable ? mode | 0o111 : mode & ~0o111;
  if (wanted !== mode || there?.isFile() !== true) await fileSystem.chmod(place, wanted);
}

const isRefusal = (error: unknown): error is Error => isSandboxError(error) || isFsError(error);

/** Makes room for what cannot be written over; where that fails, what was there is back. */
async function instead(fileSystem: FileSystem, place: string, write: () => Promise<void>): Promise<void> {
  const there = await fileSystem.lstat(place).catch(() => undefined);
  if (there === undefined) return write();
  const isLink = there.isSymbolicLink();
  const was = isLink ? await fileSystem.readlink(place) : await fileSystem.readFile(place);
  await fileSystem.rm(place);
  try {
    await write();
  } catch (error) {
    try {
      await fileSystem.rm(place, { force: true });
      if (isLink) await fileSystem.symlink(was as string, place);
      else await fileSystem.writeFile(place, was, { mode: there.mode & 0o7777 });
    } catch (cause) {
      // No refusal of this path alone: the transaction has to end without its changes.
      const end = [error, cause].find((thrown) => !isRefusal(thrown));
      throw end ?? new Error(`What was at ${place} could not be put back`, { cause });
    }
    throw error;
  }
}

/** What somebody else has changed since the copy was made is not overwritten. */
async function checkUnchanged(
  sandbox: Sandbox,
  fileSystem: FileSystem,
  place: string,
  before: Parameters<typeof isSame>[0] | undefined,
): Promise<void> {
  const stat = await fileSystem.lstat(place).catch((error: unknown) => {
    if (isFsError(error, 'ENOENT') || isFsError(error, 'ENOTDIR')) return undefined;
    throw error;
  });
  const changed = new FsError('EBUSY', {
    syscall: 'copy',
    path: place,
    hint: 'Somebody else has changed it meanwhile',
  });
  if (stat === undefined) {
    if (before !== undefined) throw changed;
    return;
  }
  if (before === undefined && stat.isDirectory())
    throw new FsError('EISDIR', { syscall: 'copy', path: place, hint: 'A directory is there that has to stay' });
  if (before === undefined || stat.isDirectory()) throw changed;
  const isLink = stat.isSymbolicLink();
  const body = isLink
    ? Buffer.from(targetInside(sandbox, await fileSystem.readlink(place)))
    : await fileSystem.readFile(place);
  const now = { path: before.path, isLink, isExecutable: (stat.mode & 0o100) !== 0, hash: hashOf(body) };
  if (!isSame(before, now)) throw changed;
}

/** What a storage cannot do at all is no error here, nor is one of the codes. */
async function unlessUnable<T>(work: () => Promise<T>, ...codes: readonly 'ENOSPC'[]): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (['ENOTSUP' as const, ...codes].some((code) => isFsError(error, code))) return undefined;
    throw error;
  }
}

function argumentsOf(command: string | readonly string[]): readonly string[] {
  const argv = typeof command === 'string' ? ['/bin/sh', '-c', command] : [...command];
  if (argv.length === 0 || argv.some((part) => typeof part !== 'string' || part.includes('\0')))
    throw new TypeError('A command is a line for the shell, or a program with its arguments, all text without NUL');
  return argv;
}

function environmentOf(given: Readonly<Record<string, string>> = {}): Record<string, string> {
  for (const [name, value] of Object.entries(given)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || typeof value !== 'string' || value.includes('\0'))
      throw new TypeError(`env must hold names and texts without NUL`);
  }
  return { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/tmp', LANG: 'C.UTF-8', ...given };
}

/** @throws SandboxPermissionEscalationError for more than the sandbox has */
function networkOf(sandbox: Sandbox, asked: boolean | undefined): boolean {
  if (asked !== undefined && typeof asked !== 'boolean') throw new TypeError('network must be true or false');
  if (asked === true && !sandbox.network) {
    const advice = 'Run it without the network, or ask for a sandbox that has it.';
    throw new SandboxPermissionEscalationError(
      'The network was asked for, which this sandbox does not have.',
      sandbox,
      advice,
    );
  }
  return asked ?? sandbox.network;
}
