import type { RunResult } from '@scratchfs/workspace';
import { conflictLines, nameOf } from './format.js';
import { type ServerTool, workspaceTool } from './server-tool.js';
import { visibleOnly, visibleOperation, withoutHidden } from './visible.js';

interface RunInput {
  readonly command: string;
  readonly cwd?: string;
  readonly timeout_s: number;
}

const STOPPED: Readonly<Record<NonNullable<RunResult['stopped']>, string>> = {
  timeout: 'Killed after timeout_s seconds; its changes were discarded.',
  memory: 'Killed because it needed too much memory; its changes were discarded.',
  disk: 'Killed because it wrote too much to the disk; its changes were discarded.',
  output: 'Killed because it printed too much; its changes were discarded.',
};

/** @param network whether commands may use the network, so that undo cannot take back all they do */
export function runTool(network: boolean): ServerTool {
  return workspaceTool<RunInput>({
    name: 'run',
    description: `Runs a shell command on the attempt's files, confined by the operating system, ${network ? 'with' : 'without'} network. It is one operation.`,
    properties: {
      command: { type: 'string', description: 'For sh.' },
      cwd: { type: 'string', description: 'Directory.' },
      timeout_s: { type: 'integer', description: 'Seconds. Default 600.', minimum: 1, maximum: 86_400, default: 600 },
    },
    required: ['command'],
    paths: ['cwd'],
    isAboutAll: true,
    effect: network ? 'outside' : 'attempt',
    isOpenWorld: network,
    async run({ command, cwd, timeout_s }, context) {
      const { attempt, actor, signal } = context;
      const result = await attempt.run(command, { cwd, timeoutMs: timeout_s * 1000, network, actor, signal });
      const {
        exitCode,
        signal: killedBy,
        stdout,
        stderr,
        stopped,
        operation,
        conflicts,
        refused,
        autoRun,
        hint,
      } = result;
      const lines = [stopped === undefined ? `exit code ${exitCode ?? killedBy}` : STOPPED[stopped]];
      if (stdout !== '') lines.push(stdout.trimEnd());
      if (stderr !== '') lines.push('stderr:', stderr.trimEnd());
      const shown = async <T extends { readonly path: string }>(found: readonly T[]): Promise<readonly T[]> =>
        (await visibleOnly(found, context, signal)).shown;
      lines.push(...conflictLines(await shown(conflicts)));
      for (const { path, reason } of await shown(refused))
        lines.push(`not taken ${nameOf(path)}: ${await withoutHidden(reason, context, signal)}`);
      const programs = await shown(autoRun.map((path) => ({ path })));
      if (programs.length > 0)
        lines.push(`Programs run these on their own: ${programs.map(({ path }) => nameOf(path)).join(', ')}`);
      if (hint !== undefined) lines.push(await withoutHidden(hint, context, signal));
      const made = operation === undefined ? [] : [await visibleOperation(operation, context, signal)];
      return { text: lines.join('\n'), operations: made };
    },
  });
}
