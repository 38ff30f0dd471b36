import { constants } from 'node:os';
import { type Sandbox, SandboxPermissionEscalationError } from '@scratchfs/sandbox';
import { checkOptions } from '../check-options.js';
import { type BroughtBack, bringBack } from './bring-back.js';
import { killConfined, memoryOf, OsSandboxUnavailableError, startConfined } from './bubblewrap.js';
import { type AllLimits, allLimits, type OsSandboxLimits } from './limits.js';
import { INSIDE } from './link-targets.js';
import { StagedCopy } from './staged-copy.js';

export interface OsSandboxOptions {
  /** Maximum run time in milliseconds of wall time. Default 60,000. */
  readonly timeoutMs?: number | undefined;
  readonly limits?: OsSandboxLimits | undefined;
  /** Allows the command to use the network. Default: the sandbox's setting; `true` without it is an escalation. */
  readonly network?: boolean | undefined;
  /** Environment of the command, besides PATH, HOME and LANG. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Reason for which a command was killed. */
export type Stopped = 'timeout' | 'output' | 'memory';

export interface OsSandboxResult extends BroughtBack {
  /**
   * Exit code. Null if a signal ended the command. bubblewrap and shells report a signal as 128 plus its number, so a
   * code that stands for a fatal signal (139 for SIGSEGV) counts as that signal.
   */
  readonly exitCode: number | null;
  /** Signal that ended the command. Undefined if it ended by itself. */
  readonly signal: NodeJS.Signals | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /**
   * Reason for which the command was killed, in which case no change is brought back. Undefined if it ended by itself.
   */
  readonly stopped: Stopped | undefined;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const MEMORY_CHECK_INTERVAL_MS = 50;

/**
 * Runs a command on a copy of what a sandbox may read, confined by the operating system (bubblewrap, on Linux), and
 * brings back its changes where the sandbox may write. They are applied after a checkpoint, in one transaction if the
 * filesystem has transactions, otherwise path by path, undoing all of them if one fails. The command sees the sandbox
 * at `/work` and the programs of the host in `/usr`, but no other file, process, environment or descriptor of the host,
 * and no network unless the sandbox has it. If this process is root, the command runs as nobody.
 *
 * The command never runs unconfined: if it cannot be confined it is refused, whether the sandbox requires that or not.
 *
 * @param command a program with its arguments, or a line for `/bin/sh`
 * @throws OsSandboxUnavailableError if the command cannot be confined; SandboxPermissionEscalationError for a network
 *   that the sandbox does not have; FsError EFBIG for more than may be copied, ENOTDIR for a root that is a link, with nothing changed;
 *   OsSandboxIncompleteError if only a part was brought back and could not be undone; the reason of the signal
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
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs <= 0)
    throw new RangeError('timeoutMs must be a whole number above 0');
  const argv = argumentsOf(command);
  const environment = environmentOf(options.env);
  const network = networkOf(sandbox, options.network);
  signal?.throwIfAborted();
  await using stagedCopy = await StagedCopy.copy(sandbox, limits, signal);
  const confinement = { bindings: stagedCopy.bindings, network, limits, environment, directory: INSIDE };
  const run = await runToEnd(argv, confinement, { limits, timeoutMs, signal });
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

type Run = Pick<OsSandboxResult, 'exitCode' | 'signal' | 'stdout' | 'stderr' | 'stopped'>;

/**
 * Signals that end a program that does not expect them. SIGHUP and SIGINT are left out: nothing but the command itself
 * sends them, and 129 and 130 are exit codes of programs, such as git.
 */
const FATAL: readonly NodeJS.Signals[] = [
  'SIGILL',
  'SIGTRAP',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGKILL',
  'SIGSEGV',
  'SIGPIPE',
  'SIGTERM',
  'SIGXCPU',
  'SIGXFSZ',
  'SIGSYS',
];

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
  }, MEMORY_CHECK_INTERVAL_MS);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    const end = await new Promise<Pick<Run, 'exitCode' | 'signal'>>((resolve, reject) => {
      child.on('error', (cause) => reject(new OsSandboxUnavailableError('bubblewrap cannot be started', { cause })));
      child.on('close', (code, killedBy) => resolve(endOf(code, killedBy)));
    });
    signal?.throwIfAborted();
    const [stdout, stderr] = outputs.map((text) => text()) as [string, string];
    if (!(await started) && stopped === undefined)
      throw new OsSandboxUnavailableError(
        `The command was not run, because it could not be confined: ${stderr.trim()}`,
      );
    return { ...end, stdout, stderr, stopped };
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    signal?.removeEventListener('abort', abort);
  }
}

/** Returns how the command ended, from how bubblewrap ended. */
function endOf(code: number | null, killedBy: NodeJS.Signals | null): Pick<Run, 'exitCode' | 'signal'> {
  const signal = killedBy ?? FATAL.find((name) => code === 128 + constants.signals[name]);
  return { exitCode: signal === undefined ? code : null, signal };
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

/**
 * Returns whether the command has the network.
 * @throws SandboxPermissionEscalationError for more than the sandbox has
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
