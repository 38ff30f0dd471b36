import { spawn } from 'node:child_process';
import { devNull } from 'node:os';
import { quote } from '@scratchfs/core';

/** A failed call of git, with its exit code and its error output. The exit code is null if git was killed. */
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
  /** Exit codes that are not errors. Default: 0. */
  readonly accept?: readonly number[] | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Receives the output in pieces as it arrives; it is not collected then. If it throws, git is killed. */
  readonly onOutput?: ((chunk: Buffer) => void) | undefined;
}

/** Environment variables passed on to git. They locate programs, the user's own settings and temporary files. */
const PASSED_ON = ['PATH', 'HOME', 'XDG_CONFIG_HOME', 'USER', 'LOGNAME', 'TMPDIR', 'TEMP', 'TMP', 'SYSTEMROOT'];

/**
 * Settings of every call. Most keep a repository, which an untrusted person may have prepared, from running its own
 * programs.
 */
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
  // Otherwise git prints this advice at each call, before its own messages.
  ['advice.graftFileDeprecated', 'false'],
  // Messages are passed to git as UTF-8.
  ['i18n.commitEncoding', 'UTF-8'],
];

/**
 * Runs the user's git in one directory, in an environment in which hooks and fsmonitor do not run. Filters and merge
 * drivers run unless `withoutDrivers` turns them off.
 */
export class Git {
  constructor(
    readonly cwd: string,
    readonly environment: Readonly<Record<string, string>> = {},
    readonly settings: readonly (readonly [name: string, value: string])[] = [],
  ) {}

  /** Returns a git with further environment variables and settings. */
  with(
    environment: Readonly<Record<string, string>>,
    settings: readonly (readonly [name: string, value: string])[] = [],
  ): Git {
    return new Git(this.cwd, { ...this.environment, ...environment }, [...this.settings, ...settings]);
  }

  /** Returns the complete environment of a git process. */
  env(): Record<string, string> {
    const env: Record<string, string> = {
      LC_ALL: 'C',
      GIT_TERMINAL_PROMPT: '0',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_LITERAL_PATHSPECS: '1',
      GIT_NO_REPLACE_OBJECTS: '1',
      GIT_GRAFT_FILE: devNull,
      // No protocol has this name, so git refuses every transport, whatever the repository's settings say.
      GIT_ALLOW_PROTOCOL: 'none',
      GIT_ADVICE: '0',
    };
    for (const name of PASSED_ON) if (process.env[name] !== undefined) env[name] = process.env[name];
    // Passed in the environment, because the name of a driver may contain the character that ends a name on the command
    // line.
    const settings = [...SETTINGS, ...this.settings];
    env['GIT_CONFIG_COUNT'] = String(settings.length);
    for (const [i, [name, value]] of settings.entries()) {
      env[`GIT_CONFIG_KEY_${i}`] = name;
      env[`GIT_CONFIG_VALUE_${i}`] = value;
    }
    return { ...env, ...this.environment };
  }

  /**
   * Runs git and returns its output.
   * @throws GitError for an exit code that is not accepted, the reason of the signal, the error of `onOutput`, and
   *   Error if git cannot be started
   */
  run(args: readonly string[], { input, accept = [0], signal, onOutput }: GitCall = {}): Promise<GitResult> {
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const child = spawn('git', args, { cwd: this.cwd, env: this.env(), stdio: 'pipe', windowsHide: true });
      const out: Buffer[] = [];
      const err: Buffer[] = [];
      const abort = (): void => void child.kill('SIGKILL');
      signal?.addEventListener('abort', abort, { once: true });
      let refusal: { readonly error: unknown } | undefined;
      child.stdout.on('data', (chunk: Buffer) => {
        if (refusal !== undefined) return;
        try {
          if (onOutput === undefined) out.push(chunk);
          else onOutput(chunk);
        } catch (error) {
          refusal = { error };
          abort();
        }
      });
      child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
      child.on('error', (cause) => {
        signal?.removeEventListener('abort', abort);
        reject(new Error('git cannot be started: it has to be installed (2.38 or newer)', { cause }));
      });
      child.on('close', (exitCode) => {
        signal?.removeEventListener('abort', abort);
        const stderr = Buffer.concat(err).toString('utf8');
        if (signal?.aborted === true) reject(signal.reason);
        else if (refusal !== undefined) reject(refusal.error);
        else if (exitCode === null || !accept.includes(exitCode)) reject(new GitError(args, exitCode, stderr));
        else resolve({ exitCode, stdout: Buffer.concat(out), stderr });
      });
      // If git ends before it has read its input, its exit code and output say why.
      child.stdin.on('error', () => undefined);
      child.stdin.end(input);
    });
  }

  /** Runs git and returns its output as text, without the last line end. */
  async text(args: readonly string[], call?: GitCall): Promise<string> {
    return (await this.run(args, call)).stdout.toString('utf8').replace(/\n$/, '');
  }

  /**
   * Runs git with `-z` arguments and returns the items that NUL bytes end. With `latin1` each character is one byte,
   * whatever bytes the names contain.
   */
  async items(args: readonly string[], call?: GitCall, encoding: 'utf8' | 'latin1' = 'utf8'): Promise<string[]> {
    return nulSeparated((await this.run(args, call)).stdout).map((item) => item.toString(encoding));
  }

  /**
   * Runs git with `-z` arguments and passes on each item as it arrives. If `take` throws, git is killed, so that output
   * without end takes neither time nor memory.
   */
  async eachItem(args: readonly string[], take: (item: Buffer) => void, signal?: AbortSignal): Promise<void> {
    const splitter = new ItemSplitter(take);
    await this.run(args, { signal, onOutput: (chunk) => splitter.add(chunk) });
  }
}

/** Longest item of git's output that is read in pieces: a path and the fields before it. */
const MAX_ITEM_BYTES = 2 ** 20;

/** Splits output that arrives in pieces into the items that NUL bytes end. The items are copies. */
class ItemSplitter {
  #rest: Buffer = Buffer.alloc(0);

  constructor(readonly take: (item: Buffer) => void) {}

  add(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, from)) {
      this.take(Buffer.concat([this.#rest, chunk.subarray(from, end)]));
      this.#rest = Buffer.alloc(0);
      from = end + 1;
    }
    this.#rest = Buffer.concat([this.#rest, chunk.subarray(from)]);
    if (this.#rest.length > MAX_ITEM_BYTES)
      throw new Error(`git prints a path of more than ${MAX_ITEM_BYTES} bytes, which no filesystem can hold`);
  }
}

/** Quotes a path for a list of paths in git's environment, in which `:` separates paths and `"` begins a quoted one. */
export function inList(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&')}"`;
}

/** Encodes a list for git's `-z` input. With `latin1` each character of an item is one byte. */
export function nulEnded(items: readonly string[], encoding: 'utf8' | 'latin1' = 'utf8'): Buffer {
  return Buffer.from(items.map((item) => `${item}\0`).join(''), encoding);
}

/** Splits bytes in which a NUL ends each item. */
export function nulSeparated(bytes: Buffer): Buffer[] {
  const items: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0, at);
    items.push(bytes.subarray(at, end < 0 ? bytes.length : end));
    at = end < 0 ? bytes.length : end + 1;
  }
  return items;
}

/** Oldest git that can merge without a work tree (`merge-tree --write-tree`). */
const MIN_GIT_VERSION = [2, 38] as const;

/**
 * Checks that git is new enough.
 * @throws Error if it is older than 2.38
 */
export async function checkGitVersion(git: Git): Promise<void> {
  const text = await git.text(['--version']);
  const [, major = '0', minor = '0'] = /(\d+)\.(\d+)/.exec(text) ?? [];
  if (
    Number(major) < MIN_GIT_VERSION[0] ||
    (Number(major) === MIN_GIT_VERSION[0] && Number(minor) < MIN_GIT_VERSION[1])
  )
    throw new Error(`git ${MIN_GIT_VERSION.join('.')} or newer is needed, and this is ${quote(text)}`);
}
