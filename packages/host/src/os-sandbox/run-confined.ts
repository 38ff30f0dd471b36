import { constants } from 'node:os';
import { type Confinement, killConfined, memoryOf, OsSandboxUnavailableError, startConfined } from './bubblewrap.js';
import { CommandOutput } from './command-output.js';
import { WrittenBytes } from './written-bytes.js';

/** Reason for which a command was killed. */
export type Stopped = 'timeout' | 'output' | 'memory' | 'disk';

/** End of a command and its output. */
export interface Run {
  /**
   * Exit code. Null if a signal ended the command. bubblewrap and shells report a signal as 128 plus its number, so a
   * code that stands for a fatal signal (139 for SIGSEGV) counts as that signal.
   */
  readonly exitCode: number | null;
  /** Signal that ended the command. Undefined if it ended by itself. */
  readonly signal: NodeJS.Signals | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** Reason for which the command was killed; `runInOsSandbox` then brings no change back. Undefined if it was not. */
  readonly stopped: Stopped | undefined;
}

export interface RunConfinedOptions {
  /** Milliseconds of wall time. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** Treatment of output above `limits.outputBytes`: kill the command, or leave out the middle. Default `kill`. */
  readonly longOutput?: 'kill' | 'cut' | undefined;
  /** Receives output as it comes, all of it. If it throws, the command is killed and the run fails with that error. */
  readonly onOutput?: ((chunk: Uint8Array, stream: 'stdout' | 'stderr') => void) | undefined;
}

const MEMORY_CHECK_INTERVAL_MS = 50;
const DISK_CHECK_INTERVAL_MS = 500;

/**
 * Signals that end a program that does not expect them. SIGHUP and SIGINT are left out, because 129 and 130 are exit
 * codes of programs, such as git.
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

/**
 * Runs a confined command to its end, or kills it with all its processes at a limit, at the end of its time or when the
 * signal aborts.
 * @throws OsSandboxUnavailableError if the command could not be confined and was not run; the reason of the signal;
 *   what `onOutput` throws
 */
export async function runConfined(
  argv: readonly string[],
  confinement: Confinement,
  { timeoutMs, signal, longOutput = 'kill', onOutput }: RunConfinedOptions,
): Promise<Run> {
  signal?.throwIfAborted();
  const { bindings, limits, terminal = false } = confinement;
  const writable = bindings.flatMap((one) => ('isWritable' in one && one.isWritable ? [one.host] : []));
  const written = new WrittenBytes(writable, limits.writtenBytes);
  const { child, started } = startConfined(argv, confinement);
  let stopped: Stopped | undefined;
  let stands = false;
  let failure: { readonly error: unknown } | undefined;
  void started.then((is) => {
    stands = is;
  });
  const stop = (why?: Stopped): void => {
    stopped ??= why;
    killConfined(child);
  };
  const abort = (): void => stop();
  const outputs = (['stdout', 'stderr'] as const).map((name) => {
    const output = new CommandOutput(limits.outputBytes, longOutput === 'cut' ? 'both ends' : 'beginning');
    child[name]?.on('data', (chunk: Buffer) => {
      output.push(chunk);
      if (longOutput === 'kill' && output.size > limits.outputBytes) stop('output');
      if (failure !== undefined) return;
      try {
        onOutput?.(chunk, name);
      } catch (error) {
        failure = { error };
        stop();
      }
    });
    return output;
  });
  const timer = setTimeout(() => stop('timeout'), timeoutMs);
  const watch = setInterval(() => {
    if (child.pid !== undefined && memoryOf(child.pid, stands) > limits.memoryBytes) stop('memory');
  }, MEMORY_CHECK_INTERVAL_MS);
  let isLooking = false;
  const diskWatch = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    void written.isExceeded().then((is) => {
      isLooking = false;
      if (is) stop('disk');
    });
  }, DISK_CHECK_INTERVAL_MS);
  signal?.addEventListener('abort', abort, { once: true });
  // Ctrl-C is for the command: this process has to stay, to see how it ends.
  if (terminal) for (const name of FROM_TERMINAL) process.on(name, ignore);
  try {
    const end = await new Promise<Pick<Run, 'exitCode' | 'signal'>>((resolve, reject) => {
      child.on('error', (cause) => reject(new OsSandboxUnavailableError('bubblewrap cannot be started', { cause })));
      child.on('close', (code, killedBy) => resolve(endOf(code, killedBy)));
    });
    signal?.throwIfAborted();
    if (failure !== undefined) throw failure.error;
    const [stdout, stderr] = outputs.map((output) => output.text()) as [string, string];
    if (!(await started) && stopped === undefined && (!terminal || end.signal === undefined))
      throw new OsSandboxUnavailableError(
        `The command was not run, because it could not be confined: ${stderr.trim()}. The system, or the profile of the container, has to allow unprivileged user namespaces`,
      );
    return { ...end, stdout, stderr, stopped };
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    clearInterval(diskWatch);
    signal?.removeEventListener('abort', abort);
    for (const name of FROM_TERMINAL) process.off(name, ignore);
  }
}

/** Signals that a terminal sends to all processes of the foreground. */
const FROM_TERMINAL = ['SIGINT', 'SIGQUIT'] as const;
const ignore = (): void => undefined;

/** Returns how the command ended, from how bubblewrap ended. */
function endOf(code: number | null, killedBy: NodeJS.Signals | null): Pick<Run, 'exitCode' | 'signal'> {
  const signal = killedBy ?? FATAL.find((name) => code === 128 + constants.signals[name]);
  return { exitCode: signal === undefined ? code : null, signal };
}

/** @throws RangeError for a time that is not a positive whole number */
export function checkTimeout(timeoutMs: number): void {
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs <= 0)
    throw new RangeError('timeoutMs must be a whole number above 0');
}

/**
 * Returns a program with its arguments: those given, or `/bin/sh` with a text as its line.
 * @throws TypeError for no program, and for anything but texts without NUL
 */
export function argumentsOf(command: string | readonly string[]): readonly string[] {
  const argv = typeof command === 'string' ? ['/bin/sh', '-c', command] : [...command];
  if (argv.length === 0 || argv.some((part) => typeof part !== 'string' || part.includes('\0')))
    throw new TypeError('A command is a line for the shell, or a program with its arguments, all text without NUL');
  return argv;
}

/**
 * Returns the whole environment of a command: the given variables, and defaults for PATH, HOME and LANG.
 * @throws TypeError for a name that a shell does not accept, and for a value that is not a text without NUL
 */
export function environmentOf(given: Readonly<Record<string, string>> = {}): Record<string, string> {
  for (const [name, value] of Object.entries(given)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || typeof value !== 'string' || value.includes('\0'))
      throw new TypeError(`env must hold names and texts without NUL`);
  }
  return { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/tmp', LANG: 'C.UTF-8', ...given };
}
