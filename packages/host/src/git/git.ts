import { spawn } from 'node:child_process';
import { devNull } from 'node:os';
import { quote } from '@scratchfs/core';

/** git said no: its exit code and what it printed. */
export class GitError extends Error {
  override readonly name = 'GitError';

  constructor(
    readonly args: readonly string[],
    readonly exitCode: number | null,
    readonly stderr: string,
  ) {
    super(`git ${args[0]} failed (${exitCode ?? 'killed'}): ${quote(stderr.trim())}`);
  }
}

export interface GitResult {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface GitCall {
  readonly input?: string | Uint8Array | undefined;
  /** Exit codes that are an answer. Default: 0. */
  readonly accept?: readonly number[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What git may see of the environment: where programs and the user's own settings lie, and nothing that steers git. */
const PASSED_ON = ['PATH', 'HOME', 'XDG_CONFIG_HOME', 'USER', 'LOGNAME', 'TMPDIR', 'TEMP', 'TMP', 'SYSTEMROOT'];

/** In a repository that somebody else may have prepared, nothing of it is run. */
const SETTINGS: readonly (readonly [name: string, value: string])[] = [
  ['core.hooksPath', devNull],
  ['core.fsmonitor', 'false'],
  ['core.protectHFS', 'true'],
  ['core.protectNTFS', 'true'],
  ['core.splitIndex', 'false'],
  ['core.alternateRefsCommand', ''],
  ['protocol.allow', 'never'],
  ['submodule.recurse', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  // Else git says it at each call, before what it has to say.
  ['advice.graftFileDeprecated', 'false'],
  // What git is told to write comes as UTF-8.
  ['i18n.commitEncoding', 'UTF-8'],
];

/** Runs the user's git in one place, in an environment in which the repository's own programs do not run. */
export class Git {
  constructor(
    readonly cwd: string,
    readonly environment: Readonly<Record<string, string>> = {},
    readonly settings: readonly (readonly [name: string, value: string])[] = [],
  ) {}

  /** The same with more in its environment and settings. */
  with(
    environment: Readonly<Record<string, string>>,
    settings: readonly (readonly [name: string, value: string])[] = [],
  ): Git {
    return new Git(this.cwd, { ...this.environment, ...environment }, [...this.settings, ...settings]);
  }

  /** The whole environment of a process of git. */
  env(): Record<string, string> {
    const env: Record<string, string> = {
      LC_ALL: 'C',
      GIT_TERMINAL_PROMPT: '0',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_LITERAL_PATHSPECS: '1',
      GIT_NO_REPLACE_OBJECTS: '1',
      GIT_GRAFT_FILE: devNull,
      // No protocol has this name, so none is allowed, whatever the repository's settings say.
      GIT_ALLOW_PROTOCOL: 'none',
      GIT_ADVICE: '0',
    };
    for (const name of PASSED_ON) if (process.env[name] !== undefined) env[name] = process.env[name];
    // By the environment, because names of drivers may hold what ends a name on the command line.
    const settings = [...SETTINGS, ...this.settings];
    env['GIT_CONFIG_COUNT'] = String(settings.length);
    for (const [i, [name, value]] of settings.entries()) {
      env[`GIT_CONFIG_KEY_${i}`] = name;
      env[`GIT_CONFIG_VALUE_${i}`] = value;
    }
    return { ...env, ...this.environment };
  }

  /** @throws GitError for an exit code that is none of the accepted ones, the reason of the signal, and where there is no git */
  run(args: readonly string[], { input, accept = [0], signal }: GitCall = {}): Promise<GitResult> {
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const child = spawn('git', args, { cwd: this.cwd, env: this.env(), stdio: 'pipe', windowsHide: true });
      const out: Buffer[] = [];
      const err: Buffer[] = [];
      const abort = (): void => void child.kill('SIGKILL');
      signal?.addEventListener('abort', abort, { once: true });
      child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
      child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
      child.on('error', (cause) => {
        signal?.removeEventListener('abort', abort);
        reject(new Error('git cannot be started: it has to be installed (2.38 or newer)', { cause }));
      });
      child.on('close', (exitCode) => {
        signal?.removeEventListener('abort', abort);
        const stderr = Buffer.concat(err).toString('utf8');
        if (signal?.aborted === true) reject(signal.reason);
        else if (exitCode === null || !accept.includes(exitCode)) reject(new GitError(args, exitCode, stderr));
        else resolve({ exitCode, stdout: Buffer.concat(out), stderr });
      });
      // Where git ends early, it says why by its exit code.
      child.stdin.on('error', () => undefined);
      child.stdin.end(input);
    });
  }

  /** What git printed, without the last line end. */
  async text(args: readonly string[], call?: GitCall): Promise<string> {
    return (await this.run(args, call)).stdout.toString('utf8').replace(/\n$/, '');
  }

  /** What git printed with `-z`: one item for each NUL. As `latin1` it is a character a byte, whatever names hold. */
  async items(args: readonly string[], call?: GitCall, encoding: 'utf8' | 'latin1' = 'utf8'): Promise<string[]> {
    return nulSeparated((await this.run(args, call)).stdout).map((item) => item.toString(encoding));
  }
}

/** A path as git takes it in a list of paths in its environment, where `:` would end it and `"` begin a quoted one. */
export function inList(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&')}"`;
}

/** A list as git reads it with `-z`. As `latin1` a character of an item is a byte. */
export function nulEnded(items: readonly string[], encoding: 'utf8' | 'latin1' = 'utf8'): Buffer {
  return Buffer.from(items.map((item) => `${item}\0`).join(''), encoding);
}

/** The pieces of a list in which each item ends with NUL. */
export function nulSeparated(bytes: Buffer): Buffer[] {
  const items: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0, at);
    items.push(bytes.subarray(at, end < 0 ? bytes.length : end));
    at = end < 0 ? bytes.length : end + 1;
  }
  return items;
}

/** The oldest git that can merge without touching anything (`merge-tree --write-tree`). */
const NEEDED = [2, 38] as const;

/** @throws Error where git is too old */
export async function checkGitVersion(git: Git): Promise<void> {
  const text = await git.text(['--version']);
  const [, major = '0', minor = '0'] = /(\d+)\.(\d+)/.exec(text) ?? [];
  if (Number(major) < NEEDED[0] || (Number(major) === NEEDED[0] && Number(minor) < NEEDED[1]))
    throw new Error(`git ${NEEDED.join('.')} or newer is needed, and this is ${quote(text)}`);
}
