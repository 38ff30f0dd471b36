import type { FileSystem } from '@scratchfs/core';
import type { Attempt } from '@scratchfs/workspace';
import { CliError, ExitCode } from '../errors.js';
import type { Call } from '../table/command-spec.js';
import { attemptPath, parseOperation, withAttempt } from '../workspace/open.js';
import { refreshedLines } from '../workspace/refreshed-text.js';
import type { Target } from './store.js';

/**
 * Calls `use` with the files of an attempt, in the current state or the one after the operation that `--at` names. A
 * `change` is at most one operation of the attempt's log.
 */
export function withAttemptTarget<T>(call: Call, use: (target: Target) => Promise<T>): Promise<T> {
  const at = call.options.text('at');
  return withAttempt(call, async (attempt, workspace) => {
    const fileSystem: FileSystem = at === undefined ? attempt.fileSystem : attempt.at(parseOperation(at, '--at', 0));
    return use({
      fileSystem,
      path: (argument) => shownPath(attempt, attemptPath(call, workspace, argument)),
      change: async (summary, work) => {
        const label = { tool: call.spec.name, summary };
        const { value, refreshed } = await attempt.operation(label, work, { signal: call.signal });
        for (const line of refreshedLines(refreshed, call)) call.output.problem(line);
        return value;
      },
    });
  });
}

/** Returns a path that the attempt shows. @throws CliError for a hidden one, because it may exist on the disk */
function shownPath(attempt: Attempt, path: string): string {
  if (!attempt.hides(path)) return path;
  throw new CliError(
    ExitCode.refused,
    `${path} is hidden: secrets, and git's own directories, are not shown or created in an attempt.`,
    'Use the file on your disk. To show a secret to an agent: scratchfs mcp … --allow-secrets GLOB',
  );
}
