import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statfsSync,
} from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { textOf } from '../process-start.js';
import type { AllLimits } from './limits.js';
import { seccompFilter } from './seccomp-filter.js';

/** Thrown if the operating system cannot confine a command. The command was not run. */
export class OsSandboxUnavailableError extends Error {
  override readonly name = 'OsSandboxUnavailableError';
}

/** A directory or file of the host and its path inside the sandbox. */
export interface Binding {
  readonly host: string;
  readonly inside: string;
  readonly isWritable: boolean;
}

/** An empty directory in memory, which is gone when the command ends. */
export interface Scratch {
  readonly inside: string;
  readonly bytes: number;
}

export interface Confinement {
  /** In the order in which they are mounted. */
  readonly bindings: readonly (Binding | Scratch)[];
  readonly network: boolean;
  readonly limits: AllLimits;
  readonly environment: Readonly<Record<string, string>>;
  readonly directory: string;
  /**
   * Connect the command with the terminal of this process. The filter of system calls then keeps it from typing into
   * the terminal. Without a terminal, the command also has a session of its own. Default false.
   */
  readonly terminal?: boolean | undefined;
}

/**
 * User and group id that every command sees as its own: those of the account nobody. A command of root really runs as
 * nobody.
 */
export const NOBODY = 65_534;

/** Paths of bubblewrap. PATH is not searched, because an untrusted process may have set it. */
const BUBBLEWRAP_PATHS = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap'];

/** Directories of programs. Those that are links, as on most systems, stay links. */
const PROGRAMS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
/** Files that programs need to find their libraries and their alternatives. */
const LINKER_PATHS = ['/etc/ld.so.cache', '/etc/alternatives'];
const NETWORK_PATHS = ['/etc/resolv.conf', '/etc/hosts', '/etc/nsswitch.conf', '/etc/ssl', '/etc/ca-certificates'];

/** Directories of the command that are kept in memory. */
const IN_MEMORY = ['/dev/shm', '/tmp'];

/** Files that tell about keys of the caller. */
const KEYS = ['/proc/keys', '/proc/key-users'];

/** Descriptor from which bubblewrap reads its arguments. */
const ARGUMENTS_FD = 3;
/** Descriptor on which the script reports that the sandbox is set up. */
const STARTED_FD = 4;
/** Descriptor from which bubblewrap reads the filter of system calls. */
const FILTER_FD = 5;

/**
 * First program inside the sandbox: it sets the limits for itself and its children, reports that the sandbox is set up,
 * closes the descriptor for that, and executes the command. It does not use /dev/null, which the host may have closed
 * to other users.
 */
const SCRIPT = `
data=$1 file=$2 processes=$3; shift 3
ulimit -c 0 && ulimit -d "$data" && ulimit -f "$file" || exit 125
(ulimit -u "$processes") 2>&- && flag=-u || flag=-p
ulimit "$flag" "$processes" || exit 125
printf started >&${STARTED_FD}
exec ${STARTED_FD}>&-
exec "$@"
`;

/**
 * Ctrl-C goes to every process of the terminal's foreground. It would end bubblewrap, and with it a command that
 * handles Ctrl-C itself. So bubblewrap is started with Ctrl-C ignored, if `env` can give the command the default back;
 * a shell cannot.
 */
const ENV = '/usr/bin/env';
const IGNORING = ['/bin/sh', '-c', 'trap "" INT QUIT; exec "$@"', 'sh'];
const WITH_DEFAULT = [ENV, '--default-signal=INT,QUIT', '/bin/sh', '-c', 'exec "$@"', 'sh'];

let canReset: boolean | undefined;

/** Reports whether this system's `env` can reset signals, as that of GNU since 8.31 can. */
function canResetSignals(): boolean {
  canReset ??=
    spawnSync(ENV, [...WITH_DEFAULT.slice(1), '/bin/sh', '-c', ':'], { env: {}, stdio: 'ignore' }).status === 0;
  return canReset;
}

export function findBubblewrap(): string {
  if (process.platform !== 'linux')
    throw new OsSandboxUnavailableError(
      'The command was not run: bubblewrap, which confines it, exists only for Linux. Run this program in Linux: a container, a virtual machine or WSL 2',
    );
  for (const place of BUBBLEWRAP_PATHS) {
    try {
      accessSync(place, constants.X_OK);
      return place;
    } catch {
      // Try the next path.
    }
  }
  throw new OsSandboxUnavailableError(
    'The command was not run: bubblewrap, which confines it, is not installed. Install it with the package manager of the system, for example `sudo apt install bubblewrap` or `sudo dnf install bubblewrap`',
  );
}

/**
 * Starts a command that sees of the host only its programs, with some files of `/etc` that they need, and the bindings,
 * and is killed with this process. `started` resolves to true when the command is about to begin inside, and to false
 * if the process ended before, without running it.
 * @throws OsSandboxUnavailableError if bubblewrap or a filter for this processor is missing
 */
export function startConfined(
  command: readonly string[],
  confinement: Confinement,
): { readonly child: ChildProcess; readonly started: Promise<boolean> } {
  const bubblewrap = findBubblewrap();
  const filter = seccompFilter(process.arch);
  if (filter === undefined)
    throw new OsSandboxUnavailableError(
      `The command was not run: the filter that keeps it from keyrings exists for x64 and arm64 only, and this is ${process.arch}`,
    );
  const { limits } = confinement;
  const numbers = [Math.ceil(limits.memoryBytes / 1_024), Math.ceil(limits.fileBytes / 512), limits.processes].map(
    String,
  );
  const { terminal = false } = confinement;
  const keepsInterrupts = terminal && canResetSignals();
  const inside = keepsInterrupts ? [...WITH_DEFAULT, ...command] : command;
  const args = ['--args', String(ARGUMENTS_FD), '--', '/bin/sh', '-c', SCRIPT, 'sh', ...numbers, ...inside];
  const [program = '', ...rest] = keepsInterrupts ? [...IGNORING, bubblewrap, ...args] : [bubblewrap, ...args];
  const nothing = openSync(devNull, 'r');
  try {
    const child = spawn(program, rest, {
      // bubblewrap's environment can be read inside, as that of process 1.
      env: {},
      cwd: '/',
      // A process group of its own does not get the Ctrl-C of the terminal.
      detached: !terminal,
      stdio: [
        ...(terminal ? (['inherit', 'inherit', 'inherit'] as const) : (['ignore', 'pipe', 'pipe'] as const)),
        ...(['pipe', 'pipe', 'pipe'] as const),
        ...instead(nothing),
      ],
      ...(process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}),
    });
    const pipes = child.stdio as unknown as readonly [null, Readable, Readable, Writable, Readable, Writable];
    const given = argumentsOf(confinement).map((argument) => `${argument}\0`);
    for (const [pipe, content] of [
      [pipes[ARGUMENTS_FD], given.join('')] as const,
      [pipes[FILTER_FD], filter] as const,
    ]) {
      // bubblewrap may end before it has read everything.
      pipe.on('error', () => undefined);
      pipe.end(content);
    }
    const started = new Promise<boolean>((resolve) => {
      let said = '';
      pipes[STARTED_FD].on('data', (chunk: Buffer) => {
        said += chunk.toString('latin1');
        if (said.startsWith('started')) resolve(true);
      });
      pipes[STARTED_FD].on('close', () => resolve(false));
      child.on('error', () => resolve(false));
    });
    return { child, started };
  } finally {
    closeSync(nothing);
  }
}

/**
 * Returns the stdio entries after those for bubblewrap: `nothing` for each descriptor that is open here and would leak
 * into the command, because a parent of this process left it open.
 */
function instead(nothing: number): (number | 'ignore')[] {
  const leaking = readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => fd > FILTER_FD && !closesOnExec(fd));
  const last = Math.max(FILTER_FD, ...leaking);
  return Array.from({ length: last - FILTER_FD }, (_, i) => (leaking.includes(FILTER_FD + 1 + i) ? nothing : 'ignore'));
}

function closesOnExec(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1] ?? '0';
    return (Number.parseInt(flags, 8) & 0o2000000) !== 0;
  } catch {
    // The descriptor used to list the directory is closed by now.
    return true;
  }
}

function argumentsOf({ bindings, network, limits, environment, directory, terminal }: Confinement): string[] {
  const args = [
    '--unshare-all',
    '--unshare-user',
    '--disable-userns',
    '--uid',
    String(NOBODY),
    '--gid',
    String(NOBODY),
  ];
  if (network) args.push('--share-net');
  args.push(
    '--seccomp',
    String(FILTER_FD),
    '--cap-drop',
    'ALL',
    ...(terminal === true ? [] : ['--new-session']),
    '--die-with-parent',
    '--hostname',
    'sandbox',
    '--clearenv',
  );
  for (const [name, value] of Object.entries(environment)) args.push('--setenv', name, value);
  args.push('--ro-bind', '/usr', '/usr');
  for (const path of PROGRAMS) {
    if (!existsSync(path)) continue;
    if (lstatSync(path).isSymbolicLink()) args.push('--symlink', readlinkSync(path), path);
    else args.push('--ro-bind', path, path);
  }
  for (const path of network ? [...LINKER_PATHS, ...NETWORK_PATHS] : LINKER_PATHS)
    args.push('--ro-bind-try', path, path);
  const size = String(limits.memoryBytes);
  args.push('--proc', '/proc', '--dev', '/dev');
  for (const path of KEYS) if (existsSync(path)) args.push('--ro-bind', devNull, path);
  for (const path of IN_MEMORY) args.push('--size', size, '--tmpfs', path);
  for (const one of bindings) {
    if ('host' in one) args.push(one.isWritable ? '--bind' : '--ro-bind', one.host, one.inside);
    else args.push('--size', String(one.bytes), '--tmpfs', one.inside);
  }
  args.push('--remount-ro', '/dev', '--remount-ro', '/', '--chdir', directory);
  return args;
}

/**
 * Returns the bytes of memory that a confined command uses: those of all its processes, and the files in its `/tmp` and
 * `/dev/shm`.
 *
 * @param stands whether the sandbox is set up; before that, its processes still see the host's directories
 */
export function memoryOf(pid: number, stands: boolean): number {
  const processes = treeOf(pid);
  let pages = 0;
  for (const one of processes) pages += Number(textOf(join('/proc', one, 'statm')).split(' ')[1] ?? 0);
  // The first process of bubblewrap stays outside the sandbox.
  return pages * 4_096 + (stands ? filesInMemory(processes.slice(1)) : 0);
}

/** Returns the bytes in the in-memory directories, which all these processes share. */
function filesInMemory(processes: readonly string[]): number {
  for (const one of processes) {
    try {
      return IN_MEMORY.map((path) => statfsSync(join('/proc', one, 'root', path)))
        .map(({ blocks, bfree, bsize }) => (blocks - bfree) * bsize)
        .reduce((sum, size) => sum + size);
    } catch {
      // The process has ended.
    }
  }
  return 0;
}

/**
 * Kills a confined command and all its processes. Killing bubblewrap alone is not enough while it is setting up: its
 * new child is not yet bound to die with it, but is in the same process group.
 */
export function killConfined({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  for (const target of [-pid, ...treeOf(pid).map(Number)]) {
    try {
      process.kill(target, 'SIGKILL');
    } catch {
      // The process has ended.
    }
  }
}

/** Returns a process and all its descendants. */
function treeOf(pid: number): string[] {
  const found = [String(pid)];
  for (let i = 0; i < found.length; i++) {
    const tasks = join('/proc', found[i] as string, 'task');
    for (const task of namesIn(tasks)) {
      const children = textOf(join(tasks, task, 'children')).trim();
      if (children !== '') found.push(...children.split(' '));
    }
  }
  return found;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
