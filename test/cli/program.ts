import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { afterAll } from 'vitest';
import { ERROR_SCHEMA, resultSchema } from '../../packages/cli/src/json/result-schemas.js';
import { PROGRAM } from './bundle.js';

export interface RunOptions {
  readonly cwd?: string;
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  /** Start it in a session of its own, which has no terminal. */
  readonly detached?: boolean;
}

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly bytes: Buffer;
}

/** Home directory of the program, removed after the tests of a file. */
const home = mkdtempSync(join(tmpdir(), 'scratchfs-cli-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

export const ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: process.env['PATH'] ?? '',
  HOME: home,
  XDG_STATE_HOME: join(home, 'state'),
  // Credentials of the test server, and no warning of its client about the version of Node.
  AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('AWS_'))),
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Test',
  GIT_AUTHOR_EMAIL: 'test@example.com',
  GIT_COMMITTER_NAME: 'Test',
  GIT_COMMITTER_EMAIL: 'test@example.com',
};

let folders = 0;

/** Makes an empty directory that is removed after the tests of the file. */
export function folder(name = 'folder'): string {
  const path = join(home, `${name}-${++folders}`);
  mkdirSync(path);
  return path;
}

/** Runs the program as a shell does, with pipes and no terminal. */
export function run(
  args: readonly string[],
  { cwd = home, input = '', env = {}, detached = false }: RunOptions = {},
): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [PROGRAM, ...args], { cwd, detached, env: { ...ENVIRONMENT, ...env } });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.on('error', reject);
    child.on('close', (code) => {
      const bytes = Buffer.concat(out);
      resolve({ code, bytes, stdout: bytes.toString(), stderr: Buffer.concat(err).toString() });
    });
  });
}

/** Runs the program, which must succeed, and returns what it prints. */
export async function ok(args: readonly string[], options?: RunOptions): Promise<string> {
  const { code, stdout, stderr } = await run(args, options);
  if (code !== 0) throw new Error(`scratchfs ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`);
  return stdout;
}

const ajv = new Ajv({ strict: true, allowUnionTypes: true });

/** Parses a line of `--json`, and checks it by the schema of the command. */
export function checked(command: string, line: string): Record<string, unknown> {
  const value = JSON.parse(line) as Record<string, unknown>;
  const check = ajv.compile('command' in value ? resultSchema(command) : ERROR_SCHEMA);
  if (!check(value)) throw new Error(`${ajv.errorsText(check.errors)}\n${line}`);
  return value;
}

/** Runs the program with `--json`, checks the object by the schema of the command, and returns it. */
export async function json(
  command: string,
  args: readonly string[],
  options?: RunOptions,
): Promise<Record<string, unknown> & { readonly code: number | null }> {
  const { code, stdout, stderr } = await run([...command.split(' '), '--json', ...args], options);
  const lines = stdout.trimEnd().split('\n');
  if (lines.length !== 1 || stderr !== '') throw new Error(`Not one line of JSON:\n${stdout}${stderr}`);
  const value = checked(command, stdout);
  return Object.assign(value, { code });
}
