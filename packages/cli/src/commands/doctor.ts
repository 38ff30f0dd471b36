import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { hostGuarantees, OsSandboxUnavailableError, runInOsSandbox } from '@scratchfs/host';
import { Sandbox } from '@scratchfs/sandbox';
import { createFileSystem } from 'scratchfs';
import { ExitCode, failureOf } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { alignColumns } from '../terminal/columns.js';
import { escapeText } from '../terminal/escape.js';
import { count } from '../terminal/quantities.js';
import { withWorkspace, workspaceDirectory } from '../workspace/open.js';

interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** Text that says what was found or what is missing. */
  readonly text: string;
  readonly hint?: string;
  /** True if scratchfs can be used without it, except for some commands. */
  readonly isOptional?: boolean;
}

export async function run(call: Call): Promise<Result> {
  const { output } = call;
  const { style } = output;
  const checks = await output.progress('Checking', async () => [
    { name: 'Node', ok: true, text: `${process.version}, ${process.platform} ${process.arch}` },
    checkConfinement(),
    await checkSandbox(),
    await checkGit(),
    await checkWorkspace(call),
  ]);
  const lines = alignColumns(
    checks.flatMap(({ name, ok, text, hint, isOptional }) => [
      [ok ? style.added('ok') : isOptional ? style.warning('missing') : style.error('problem'), name, escapeText(text)],
      ...(hint === undefined ? [] : [['', '', style.dim(escapeText(hint))]]),
    ]),
  );
  return {
    code: checks.every(({ ok, isOptional }) => ok || isOptional) ? ExitCode.ok : ExitCode.failed,
    lines,
    json: {
      checks: checks.map(({ name, ok, text, hint }) => ({ name, ok, text, ...(hint === undefined ? {} : { hint }) })),
    },
  };
}

function checkConfinement(): Check {
  const { raceFree, weaker } = hostGuarantees();
  return raceFree
    ? { name: 'confinement', ok: true, text: 'directories are confined against races' }
    : { name: 'confinement', ok: false, isOptional: true, text: weaker[0] ?? 'weaker than on Linux' };
}

async function checkSandbox(): Promise<Check> {
  const sandbox = new Sandbox(createFileSystem(), { root: { root: '/' } });
  try {
    const { exitCode } = await runInOsSandbox(sandbox, ['/bin/true'], { timeoutMs: 20_000 });
    if (exitCode === 0) return { name: 'commands', ok: true, text: 'held by bubblewrap' };
    return { name: 'commands', ok: false, isOptional: true, text: `a test command ended with ${exitCode}` };
  } catch (error) {
    if (!(error instanceof OsSandboxUnavailableError)) throw error;
    return {
      name: 'commands',
      ok: false,
      isOptional: true,
      text: `cannot be held: ${error.message}`,
      hint: '`run` and `try` refuse; everything else works.',
    };
  }
}

async function checkGit(): Promise<Check> {
  try {
    const { stdout } = await promisify(execFile)('git', ['--version']);
    return { name: 'git', ok: true, text: stdout.trim() };
  } catch {
    return {
      name: 'git',
      ok: false,
      isOptional: true,
      text: 'not found',
      hint: '`accept --merge` and ignored files need it.',
    };
  }
}

async function checkWorkspace(call: Call): Promise<Check> {
  const name = 'workspace';
  try {
    const directory = workspaceDirectory(call.directory);
    return await withWorkspace(
      call,
      async (workspace) => {
        const attempts = await workspace.attempts();
        const text = `${directory}, ${workspace.isRepository ? 'a git repository' : 'no repository'}, ${count(attempts.length, 'attempt')}`;
        return { name, ok: true, text };
      },
      call.options.flag('adopt') ? { adopt: true } : {},
    );
  } catch (error) {
    const { message, hint, code } = failureOf(error);
    const adopt =
      code === 'replaced' ? 'scratchfs doctor --adopt keeps the attempts for the directory of today.' : hint;
    return { name, ok: false, text: message, ...(adopt === undefined ? {} : { hint: adopt }) };
  }
}
