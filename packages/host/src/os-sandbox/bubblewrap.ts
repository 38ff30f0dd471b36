import { type ChildProcess, spawn } from 'node:child_process';
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

/** A command cannot be run, because nothing can hold it. Nothing was run. */
export class OsSandboxUnavailableError extends Error {
  override readonly name = 'OsSandboxUnavailableError';
}

/** One directory of the host as the command sees it. */
export interface Binding {
  readonly host: string;
  readonly inside: string;
  readonly isWritable: boolean;
}

export interface Confinement {
  readonly bindings: readonly Binding[];
  readonly network: boolean;
  readonly limits: AllLimits;
  readonly environment: Readonly<Record<string, string>>;
  readonly directory: string;
}

/** Who the command is, outside: an account that owns nothing. Only root can become it. */
export const NOBODY = 65_534;

/** Where bubblewrap is looked for; not along PATH, which anybody may have set. */
const PLACES = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap'];

/** Directories of programs; links among them, as most systems have them, stay links. */
const PROGRAMS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
const LOADING = ['/etc/ld.so.cache', '/etc/alternatives'];
const NETWORK = ['/etc/resolv.conf', '/etc/hosts', '/etc/nsswitch.conf', '/etc/ssl', '/etc/ca-certificates'];

/** Directories of a command's own that are kept in memory. */
const IN_MEMORY = ['/dev/shm', '/tmp'];

/** The descriptors by which bubblewrap gets its arguments and the script tells that everything stands. */
const ARGUMENTS = 3;
const STARTED = 4;

/**
 * The first thing that runs inside: it binds itself and what follows to the limits, says that it stands, closes what only it
 * needs, and becomes the command. It does without /dev/null, which the host may have closed to others.
 */
const SCRIPT = `
data=$1 file=$2 processes=$3; shift 3
ulimit -c 0 && ulimit -d "$data" && ulimit -f "$file" || exit 125
(ulimit -u "$processes") 2>&- && flag=-u || flag=-p
ulimit "$flag" "$processes" || exit 125
printf started >&${STARTED}
exec ${STARTED}>&-
exec "$@"
`;

export function findBubblewrap(): string {
  if (process.platform !== 'linux')
    throw new OsSandboxUnavailableError(
      'Commands are held by bubblewrap, which is there for Linux only: nothing was run',
    );
  for (const place of PLACES) {
    try {
      accessSync(place, constants.X_OK);
      return place;
    } catch {
      // The next one.
    }
  }
  throw new OsSandboxUnavailableError('Commands are held by bubblewrap, which is not installed: nothing was run');
}

/**
 * Starts a command that sees nothing of the host but its programs and the bindings, and is killed with this process.
 * `started` is told once the command is about to begin inside; a process that ends before has not run it.
 */
export function startConfined(
  command: readonly string[],
  confinement: Confinement,
): { readonly child: ChildProcess; readonly started: Promise<boolean> } {
  const bubblewrap = findBubblewrap();
  const { limits } = confinement;
  const numbers = [Math.ceil(limits.memoryBytes / 1_024), Math.ceil(limits.fileBytes / 512), limits.processes].map(
    String,
  );
  const args = ['--args', String(ARGUMENTS), '--', '/bin/sh', '-c', SCRIPT, 'sh', ...numbers, ...command];
  const nothing = openSync(devNull, 'r');
  try {
    const child = spawn(bubblewrap, args, {
      // What is in the environment of bubblewrap can be read inside, as that of process 1.
      env: {},
      cwd: '/',
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', ...instead(nothing)],
      ...(process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}),
    });
    const pipes = child.stdio as unknown as readonly [null, Readable, Readable, Writable, Readable];
    // It may be gone before it has read them.
    pipes[ARGUMENTS].on('error', () => undefined);
    pipes[ARGUMENTS].end(
      argumentsOf(confinement)
        .map((argument) => `${argument}\0`)
        .join(''),
    );
    const started = new Promise<boolean>((resolve) => {
      let said = '';
      pipes[STARTED].on('data', (chunk: Buffer) => {
        said += chunk.toString('latin1');
        if (said.startsWith('started')) resolve(true);
      });
      pipes[STARTED].on('close', () => resolve(false));
      child.on('error', () => resolve(false));
    });
    return { child, started };
  } finally {
    closeSync(nothing);
  }
}

/**
 * For each descriptor above those that bubblewrap is given: one of nothing where it is open here and would pass into the command,
 * because a parent of this process left it open.
 */
function instead(nothing: number): (number | 'ignore')[] {
  const leaking = readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => fd > STARTED && !closesOnExec(fd));
  const last = Math.max(STARTED, ...leaking);
  return Array.from({ length: last - STARTED }, (_, i) => (leaking.includes(STARTED + 1 + i) ? nothing : 'ignore'));
}

function closesOnExec(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1] ?? '0';
    return (Number.parseInt(flags, 8) & 0o2000000) !== 0;
  } catch {
    // The descriptor with which they were listed.
    return true;
  }
}

function argumentsOf({ bindings, network, limits, environment, directory }: Confinement): string[] {
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
  args.push('--cap-drop', 'ALL', '--new-session', '--die-with-parent', '--hostname', 'sandbox', '--clearenv');
  for (const [name, value] of Object.entries(environment)) args.push('--setenv', name, value);
  args.push('--ro-bind', '/usr', '/usr');
  for (const path of PROGRAMS) {
    if (!existsSync(path)) continue;
    if (lstatSync(path).isSymbolicLink()) args.push('--symlink', readlinkSync(path), path);
    else args.push('--ro-bind', path, path);
  }
  for (const path of network ? [...LOADING, ...NETWORK] : LOADING) args.push('--ro-bind-try', path, path);
  const size = String(limits.memoryBytes);
  args.push('--proc', '/proc', '--dev', '/dev');
  for (const path of IN_MEMORY) args.push('--size', size, '--tmpfs', path);
  for (const { host, inside, isWritable } of bindings) args.push(isWritable ? '--bind' : '--ro-bind', host, inside);
  args.push('--remount-ro', '/dev', '--remount-ro', '/', '--chdir', directory);
  return args;
}

/**
 * Bytes of memory that a confined command holds: those of all its processes, and what lies in its directories of memory.
 *
 * @param stands whether it has begun; before, those who set it up still see the host's directories
 */
export function memoryOf(pid: number, stands: boolean): number {
  const processes = treeOf(pid);
  let pages = 0;
  for (const one of processes) pages += Number(textOf(join('/proc', one, 'statm')).split(' ')[1] ?? 0);
  // The first process of bubblewrap stays outside.
  return pages * 4_096 + (stands ? filesInMemory(processes.slice(1)) : 0);
}

/** Bytes in the directories of memory, which all these processes share. */
function filesInMemory(processes: readonly string[]): number {
  for (const one of processes) {
    try {
      return IN_MEMORY.map((path) => statfsSync(join('/proc', one, 'root', path)))
        .map(({ blocks, bfree, bsize }) => (blocks - bfree) * bsize)
        .reduce((sum, size) => sum + size);
    } catch {
      // It has ended meanwhile.
    }
  }
  return 0;
}

/**
 * Ends a confined command and all that belongs to it. Killing bubblewrap alone is not enough while it is still setting up: what it
 * has just started does not know yet that it has to die with it, but is still of the same group.
 */
export function killConfined({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  for (const target of [-pid, ...treeOf(pid).map(Number)]) {
    try {
      process.kill(target, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** A process and all beneath it. */
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
