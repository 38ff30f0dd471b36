import { randomBytes } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, relative, sep } from 'node:path';
import { nameOf } from '../tools/format.js';
import type { HostName } from './arguments.js';
import type { ExitCode } from './exit-code.js';
import { ConfigError, HOST_CONFIGS, type ServerEntry } from './host-configs.js';
import { program } from './program.js';
import { isConfirmed } from './terminal.js';

export interface InstallOptions {
  readonly host: HostName;
  readonly directory: string;
  readonly isPrint: boolean;
  /** Words before the arguments, if this is a command of another program. Default: none. */
  readonly words?: readonly string[];
  /** Options for the server. */
  readonly rest: readonly string[];
  /** Default: asks on the terminal. */
  readonly confirm?: (question: string) => Promise<boolean>;
  /** Default: writes to stdout. */
  readonly print?: (text: string) => void;
}

/**
 * Adds the server to the configuration of a host: shows the change, asks for a yes, and keeps a copy of the old file.
 * With `isPrint` it only prints what to add.
 * @throws Error if the file cannot be understood, read or written; the old one is not changed then
 */
export async function install(options: InstallOptions): Promise<ExitCode> {
  const { host, directory, isPrint, rest, words = [], confirm = isConfirmed } = options;
  const print = options.print ?? ((text: string) => void process.stdout.write(`${text}\n`));
  const { file, nameFor, snippet, add, next } = HOST_CONFIGS[host];
  const { command, args } = program(words);
  const entry: ServerEntry = { command, args: [...args, directory, ...rest] };
  const name = nameFor(directory);
  const path = file(directory);
  if (isPrint) {
    process.stderr.write(`To be added to ${nameOf(path)}:\n`);
    print(snippet(name, entry));
    return 0;
  }
  const before = textOf(path, directory);
  let after: string | undefined;
  try {
    after = add(before ?? '', name, entry);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new Error(`${path} was not changed: ${error.message}. To add by hand:\n${snippet(name, entry)}`, {
      cause: error,
    });
  }
  if (after === undefined) {
    print(`${path} has this server already.`);
    return 0;
  }
  print(`${before === undefined ? 'Creates' : 'Adds to'} ${path}:\n\n${snippet(name, entry)}\n`);
  if (!(await confirm('Write it? Type yes: '))) {
    print('Nothing was written: only yes, typed in full, writes it.');
    return 4;
  }
  if (textOf(path, directory) !== before)
    throw new Error(`${path} has changed meanwhile. Nothing was written: run it again`);
  const backup = write(path, after, before !== undefined);
  print(`${backup === undefined ? 'Written.' : `Written. As it was: ${backup}`}\n${next}`);
  return 0;
}

/** Reads a configuration. Returns undefined if there is none. */
function textOf(path: string, directory: string): string | undefined {
  // A repository can hold links to anywhere, so a file in the directory is not read or written through one.
  const parent = dirname(path);
  if (isIn(path, directory) && existsSync(parent) && !isIn(`${realpathSync(parent)}/x`, directory))
    throw new Error(`${parent} leads out of the directory`);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (stats.isSymbolicLink() && isIn(path, directory)) throw new Error(`${path} is a link`);
  if (!statSync(path).isFile()) throw new Error(`${path} is not a file`);
  return readFileSync(path, 'utf8');
}

function isIn(path: string, directory: string): boolean {
  const from = relative(directory, path);
  return from !== '' && from !== '..' && !from.startsWith(`..${sep}`) && !isAbsolute(from);
}

/** Creates a file; or replaces it atomically, and returns the path of a copy of the old one. */
function write(path: string, text: string, isThere: boolean): string | undefined {
  if (!isThere) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: 'wx' });
    return undefined;
  }
  const target = realpathSync(path);
  const suffix = randomBytes(4).toString('hex');
  const [backup, next] = [`${target}.before-scratchfs-${suffix}`, `${target}.scratchfs-${suffix}`];
  copyFileSync(target, backup);
  try {
    writeFileSync(next, text, { flag: 'wx', mode: statSync(target).mode & 0o777 });
    renameSync(next, target);
  } catch (error) {
    rmSync(next, { force: true });
    throw error;
  }
  return backup;
}
