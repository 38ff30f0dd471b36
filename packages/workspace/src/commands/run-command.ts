import { join } from 'node:path';
import { type CallOptions, type FileSystem, FsError, type Path } from '@scratchfs/core';
import { checkOptions, shellCommand } from '@scratchfs/core/internal';
import { autoRunFiles } from '@scratchfs/host';
import {
  allLimits,
  argumentsOf,
  type CopyChanges,
  type CopySource,
  changesOf,
  checkTimeout,
  dropChanges,
  environmentOf,
  findBubblewrap,
  INSIDE,
  isDependency,
  limitOwn,
  PersistentCopy,
  runConfined,
  takeChanges,
} from '@scratchfs/host/internal';
import type { OperationResult, RunOptions, RunResult } from '../attempt-types.js';
import type { OperationLabel } from '../operation.js';
import { type BroughtIn, bringIn } from './bring-in.js';
import type { CommandVisibility } from './command-visibility.js';
import { mountsOf } from './mounts.js';

/** An attempt, as far as its commands need it. */
export interface CommandFiles extends Pick<CopySource, 'directory' | 'fileSystem'>, CommandVisibility {
  /** Relative paths at and under which the attempt may differ from the directory. */
  readonly differing: () => Promise<readonly string[]>;
  readonly operation: <T>(
    label: OperationLabel,
    work: (fileSystem: FileSystem) => Promise<T>,
    options: CallOptions,
  ) => Promise<Pick<OperationResult<T>, 'value' | 'operation'>>;
  /** Directory for the copies of this attempt's files. */
  readonly copies: string;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}

const DEFAULT_TIMEOUT_MS = 600_000;
const MIB = 2 ** 20;

/** Higher than the defaults of the sandbox, because commands of a project need more than those on a few files. */
const DEFAULT_LIMITS = {
  memoryBytes: 4_096 * MIB,
  processes: 1_024,
  fileBytes: 1_024 * MIB,
  writtenBytes: 4_096 * MIB,
  copyInBytes: 4_096 * MIB,
  copyBackBytes: 256 * MIB,
  copyBackFiles: 200_000,
};

const RUN_OPTIONS = [
  'signal',
  'timeoutMs',
  'limits',
  'network',
  'env',
  'cwd',
  'install',
  'terminal',
  'onOutput',
  'onStage',
  'actor',
  'summary',
] as const;

/** Variables that tell programs about the terminal. */
const TERMINAL_VARIABLES = ['TERM', 'COLORTERM', 'NO_COLOR', 'FORCE_COLOR'];

/** Settings of git that suit a copy, whose files have other change times and inode numbers than those in the index. */
const GIT_SETTINGS = { 'core.checkStat': 'minimal', 'core.trustctime': 'false', 'safe.directory': '*' };

/**
 * Runs a command on an attempt's files, confined by the operating system, and brings its changes in as one operation.
 * The changes of a command that is killed are discarded.
 *
 * @throws OsSandboxUnavailableError if commands cannot be confined on this system; FsError, such as ENOENT or ENOTDIR
 *   for a `cwd` that is not a directory, EFBIG for more than the limits allow; TypeError or RangeError for wrong
 *   options; the reason of the signal
 */
export async function runCommand(
  files: CommandFiles,
  command: string | readonly string[],
  options: RunOptions = {},
): Promise<RunResult> {
  checkOptions(options, RUN_OPTIONS, 'run');
  const { signal, timeoutMs = DEFAULT_TIMEOUT_MS, network = false, terminal = false, install = false } = options;
  checkTimeout(timeoutMs);
  for (const [name, value] of Object.entries({ network, terminal, install }))
    if (typeof value !== 'boolean') throw new TypeError(`${name} must be true or false`);
  const limits = allLimits(options.limits, DEFAULT_LIMITS);
  const argv = argumentsOf(command);
  const given = options.env ?? {};
  environmentOf(given);
  signal?.throwIfAborted();
  findBubblewrap();
  options.onStage?.('copying');
  const cwd = await directoryIn(files.fileSystem, options.cwd ?? '/', signal);
  using copy = await PersistentCopy.open(files.copies);
  const { directory, fileSystem, visibilityOf } = files;
  const source = { directory, fileSystem, differing: await files.differing(), visibilityOf };
  if (!copy.isClean) await dropAll(copy, source);
  const mounted = await copy.update(source, { install, maxBytes: limits.copyInBytes, signal });
  const { mounts, path, unreachable } = await mountsOf(directory, mounted, {
    files: copy.files,
    scratch: copy.directory,
    path: process.env['PATH'],
  });
  const environment = environmentOf({ PATH: path, ...gitEnvironment(), ...terminalEnvironment(terminal), ...given });
  const confinement = { bindings: mounts, network, limits, environment, directory: join(INSIDE, cwd), terminal };
  const startedAt = files.clock();
  let isTaken = false;
  let changes: CopyChanges | undefined;
  try {
    options.onStage?.('running');
    const run = await runConfined(argv, confinement, {
      timeoutMs,
      signal,
      longOutput: 'cut',
      onOutput: options.onOutput,
    });
    options.onStage?.('collecting');
    const isKilled = run.stopped !== undefined || run.signal !== undefined;
    if (isKilled) return { ...run, ...NOTHING, hint: hintFor(run.stderr, unreachable) };
    changes = await changesOf(copy, source, limits, signal);
    const allowed = changes.changes.filter(({ path }) => !files.isReadOnly(path));
    const label = {
      actor: options.actor,
      tool: 'run',
      summary: options.summary ?? summaryOf(command),
      ok: run.exitCode === 0,
      startedAt,
    };
    const work = (inside: FileSystem): Promise<BroughtIn> =>
      bringIn(inside, allowed, {
        directory,
        contentOf: (one) => copy.index.contentOf(one),
        isAsGiven: async (removed, given) =>
          !(await files.differing()).some((one) => one === removed || one.startsWith(`${removed}/`)) &&
          copy.isSourceAsGiven(source, removed, given, signal),
      });
    const { value, operation } =
      allowed.length === 0 ? { value: EMPTY, operation: undefined } : await files.operation(label, work, { signal });
    isTaken = true;
    const tooLarge = await limitOwn(copy, isDependency);
    return {
      ...run,
      operation,
      conflicts: value.conflicts,
      refused: [
        ...changes.refused,
        ...changes.changes
          .filter(({ path }) => files.isReadOnly(path))
          .map(({ path }) => ({ path: `/${path}`, reason: 'it is a secret, which commands can only read' })),
        ...value.refused,
        ...tooLarge.map((one) => ({ path: `/${one}`, reason: 'build output of commands may take 2 GiB' })),
      ],
      autoRun: autoRunFiles(value.written.map((one) => one.slice(1))).map((one) => `/${one}`),
      hint: hintFor(run.stderr, unreachable),
    };
  } finally {
    // The copy is made ready for the next command, with the changes of this one or without them.
    if (isTaken && changes !== undefined) takeChanges(copy, changes);
    else await dropAll(copy, source);
    copy.keep();
  }
}

const EMPTY: BroughtIn = { written: [], conflicts: [], refused: [] };
const NOTHING = { operation: undefined, conflicts: [], refused: [], autoRun: [] } as const;

async function dropAll(copy: PersistentCopy, source: CopySource): Promise<void> {
  dropChanges(copy, await changesOf(copy, source));
}

/** Returns the real path of a directory. */
async function directoryIn(fileSystem: FileSystem, path: Path, signal: AbortSignal | undefined): Promise<string> {
  const real = await fileSystem.realpath(path, { signal });
  const stat = await fileSystem.stat(real, { signal });
  if (!stat.isDirectory()) throw new FsError('ENOTDIR', { syscall: 'chdir', path: String(path) });
  return real;
}

function gitEnvironment(): Record<string, string> {
  const environment: Record<string, string> = { GIT_OPTIONAL_LOCKS: '0' };
  for (const [i, [key, value]] of Object.entries(GIT_SETTINGS).entries()) {
    environment[`GIT_CONFIG_KEY_${i}`] = key;
    environment[`GIT_CONFIG_VALUE_${i}`] = value;
    environment['GIT_CONFIG_COUNT'] = String(i + 1);
  }
  return environment;
}

function terminalEnvironment(terminal: boolean): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of terminal ? TERMINAL_VARIABLES : []) {
    const value = process.env[name];
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}

function summaryOf(command: string | readonly string[]): string {
  const line = typeof command === 'string' ? command : shellCommand(command);
  const first = line.trim().replaceAll(/\s+/g, ' ');
  return first.length > MAX_SUMMARY ? `${first.slice(0, MAX_SUMMARY - 1)}…` : first;
}

const MAX_SUMMARY = 200;

/** Returns advice about what a command could not do; undefined if there is none. */
function hintFor(stderr: string, unreachable: readonly string[]): string | undefined {
  if (/\.git\b.*: Read-only file system/.test(stderr))
    return 'Commands cannot change the repository. To commit, accept the attempt as a branch: accept({ as: "branch", branch, message }).';
  if (unreachable.length > 0)
    return `The command runs as the user nobody, who cannot reach ${unreachable.join(', ')}: give other users the permission to enter the directories above.`;
  return undefined;
}
