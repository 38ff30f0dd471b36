import { accessSync, constants, lstatSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { Binding } from './bubblewrap.js';

/** Programs of the user that lie outside the system's directories. */
export interface Toolchain {
  /** Read-only, at the same paths as on the host. */
  readonly mounts: readonly Binding[];
  /** Value of PATH. */
  readonly path: string;
}

const SYSTEM_PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** Directories beside `bin` in which an installation keeps what its programs need. Others may hold the user's data. */
const BESIDE_BIN = ['lib', 'lib64', 'libexec', 'include'];

/**
 * Directories of version managers, relative to the home directory or absolute. A program anywhere in one may need any
 * other part of it.
 */
const MANAGERS = [
  '.nvm/versions',
  '.local/share/fnm',
  '.volta',
  '.pyenv',
  '.rbenv',
  '.asdf',
  '.local/share/mise',
  '.sdkman/candidates',
  '.rustup',
  '.bun/bin',
  '.deno/bin',
  '/home/linuxbrew/.linuxbrew',
  '/nix/store',
];

/** Programs in the key's directory need the directories of the value; both are relative to the home directory. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = { '.cargo/bin': ['.rustup'] };

/**
 * Returns mounts of the directories that a PATH names, with what their programs need, for a command that sees only the
 * system's programs otherwise. Leaves out the home directory, what contains it, and what overlaps with `excluded`.
 *
 * @param excluded the directory that the command works on, which it sees at another path
 */
export function toolchainOf(path: string | undefined, excluded: string, home: string = homedir()): Toolchain {
  const shown = new Set<string>();
  const found: string[] = [];
  const show = (directory: string): boolean => {
    if (!isUsable(directory) || isWithin(home, directory) || overlaps(directory, excluded)) return false;
    shown.add(directory);
    return true;
  };
  for (const directory of (path ?? '').split(':')) {
    if (!isAbsolute(directory) || SYSTEM_PATH.includes(directory) || isWithin(directory, '/usr')) continue;
    const real = realOf(directory);
    if (real === undefined || isWithin(real, '/usr')) continue;
    if (overlaps(directory, excluded) || overlaps(real, excluded)) continue;
    const manager = MANAGERS.map((one) => (isAbsolute(one) ? one : join(home, one))).find(
      (one) => isWithin(real, one) || isWithin(directory, one),
    );
    const isShown = show(manager ?? directory);
    if (!isShown) continue;
    if (manager === undefined && basename(directory) === 'bin' && dirname(directory) !== home)
      for (const name of BESIDE_BIN) show(join(dirname(directory), name));
    if (!isWithin(real, directory)) show(manager ?? real);
    for (const [bin, others] of Object.entries(ELSEWHERE))
      if (directory === join(home, bin)) for (const other of others) show(join(home, other));
    found.push(directory);
  }
  const outer = [...shown].filter((one) => ![...shown].some((other) => other !== one && isWithin(one, other)));
  return {
    mounts: outer.map((directory) => ({ host: directory, inside: directory, isWritable: false })),
    path: [...new Set([...found, ...SYSTEM_PATH])].join(':'),
  };
}

/** Reports whether a path is a directory that the command's user can enter. */
function isUsable(path: string): boolean {
  try {
    if (!statSync(path).isDirectory()) return false;
    accessSync(path, constants.R_OK | constants.X_OK);
    return process.getuid?.() !== 0 || isOpenToAll(realpathSync(path));
  } catch {
    return false;
  }
}

/**
 * Reports whether the modes of a directory and of those above it let every user enter. A command of root runs as another
 * user.
 */
export function isOpenToAll(path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    if ((lstatSync(at).mode & 0o001) === 0) return false;
    if (at === '/') return true;
  }
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`);
}

function overlaps(a: string, b: string): boolean {
  return isWithin(a, b) || isWithin(b, a);
}
