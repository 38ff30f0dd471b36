import { type Sandbox, SandboxPermissionEscalationError } from '@scratchfs/sandbox';
import { checkOptions } from '../check-options.js';
import { type BroughtBack, bringBack } from './bring-back.js';
import { allLimits, type OsSandboxLimits } from './limits.js';
import { INSIDE } from './link-targets.js';
import { argumentsOf, checkTimeout, environmentOf, type Run, runConfined } from './run-confined.js';
import { StagedCopy } from './staged-copy.js';

export interface OsSandboxOptions {
  /** Maximum run time in milliseconds of wall time. Default 60,000. */
  readonly timeoutMs?: number | undefined;
  readonly limits?: OsSandboxLimits | undefined;
  /**
   * Allows the command to use the network. Default: the sandbox's setting. `true` throws if the sandbox has no network.
   */
  readonly network?: boolean | undefined;
  /**
   * Environment of the command. PATH, HOME and LANG have defaults; nothing comes from the environment of this process.
   */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface OsSandboxResult extends Run, BroughtBack {}

const DEFAULT_TIMEOUT_MS = 60_000;

/**
 * Runs a command on a copy of what a sandbox may read, confined by the operating system (bubblewrap, on Linux), and
 * brings back its changes where the sandbox may write. They are applied after a checkpoint, if the filesystem can keep
 * one, in one transaction if the filesystem has transactions, otherwise path by path, undoing all of them if one fails.
 * The command sees the sandbox at `/work` and the programs of the host in `/usr`, with some files of `/etc` that they
 * need, but no other file, process, environment or descriptor of the host, and no network unless the sandbox has it. If
 * this process is root, the command runs as nobody.
 *
 * The command never runs unconfined: if it cannot be confined it is refused, whether the sandbox requires that or not.
 *
 * @param command a program with its arguments, or a line for `/bin/sh`
 * @throws OsSandboxUnavailableError if the command cannot be confined; SandboxPermissionEscalationError for a network
 *   that the sandbox does not have; FsError EFBIG for more than may be copied, ENOTDIR for a root that is a link, with
 *   nothing changed; OsSandboxIncompleteError if only a part was brought back and could not be undone; TypeError,
 *   RangeError for malformed arguments; the reason of the signal
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
  checkOptions(options, ['timeoutMs', 'limits', 'network', 'env', 'signal'], 'runInOsSandbox');
  const { signal, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const limits = allLimits(options.limits);
  checkTimeout(timeoutMs);
  const argv = argumentsOf(command);
  const environment = environmentOf(options.env);
  const network = networkOf(sandbox, options.network);
  signal?.throwIfAborted();
  await using stagedCopy = await StagedCopy.copy(sandbox, limits, signal);
  const confinement = { bindings: stagedCopy.bindings, network, limits, environment, directory: INSIDE };
  const run = await runConfined(argv, confinement, { timeoutMs, signal });
  if (run.stopped !== undefined) return { ...run, ...NOTHING };
  const changes = await stagedCopy.changes(limits, signal);
  return { ...run, ...(await bringBack(sandbox, stagedCopy, changes, signal)) };
}

const NOTHING = {
  changes: { added: [], removed: [], changed: [], addedDirectories: [], removedDirectories: [] },
  autoRun: [],
  refused: [],
  checkpoint: undefined,
} as const;

/**
 * Reports whether the command may use the network.
 * @throws SandboxPermissionEscalationError for more than the sandbox has; TypeError if `asked` is not a boolean
 */
function networkOf(sandbox: Sandbox, asked: boolean | undefined): boolean {
  if (asked !== undefined && typeof asked !== 'boolean') throw new TypeError('network must be true or false');
  if (asked === true && !sandbox.network) {
    const advice = 'Run it without the network, or ask for a sandbox that has it.';
    throw new SandboxPermissionEscalationError(
      'The command asks for the network, which this sandbox does not have.',
      sandbox,
      advice,
    );
  }
  return asked ?? sandbox.network;
}
