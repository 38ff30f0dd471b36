import { type Attempt, type Operation, WorkspaceError } from '@scratchfs/workspace';
import { ExitCode } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { parseNumber, withAttempt } from './open.js';
import { operationJson, operationText } from './operation-text.js';

type Step = (
  attempt: Attempt,
  options: { readonly actor: string | undefined; readonly signal: AbortSignal },
) => Promise<Operation>;

/** Takes N steps back or forward. Those that were possible stay done; if one was not, the exit code is 1. */
export function takeSteps(
  call: Call,
  verb: string,
  end: 'nothing-to-undo' | 'nothing-to-redo',
  step: Step,
): Promise<Result> {
  const { args, options, output, signal } = call;
  const wanted = parseNumber(args[0] ?? '1', 'N');
  return withAttempt(call, async (attempt) => {
    const done: Operation[] = [];
    while (done.length < wanted) {
      try {
        done.push(await step(attempt, { actor: options.text('actor'), signal }));
      } catch (error) {
        const isEnd = error instanceof WorkspaceError && error.code === end;
        if (!isEnd || done.length === 0) throw error;
        break;
      }
    }
    const lines = done.map(
      (operation) =>
        `${verb} ${operationText({ ...operation, id: operation.target ?? operation.id, summary: plain(operation.summary) }, output)}`,
    );
    if (done.length < wanted) lines.push(`Only ${done.length} of ${wanted}: there is no more.`);
    return {
      code: done.length < wanted ? ExitCode.failed : ExitCode.ok,
      lines: output.isQuiet ? [] : lines,
      json: { attempt: attempt.name, operations: done.map(operationJson) },
    };
  });
}

/** Returns the summary of the operation that was undone, without the words in front of it. */
function plain(summary: string): string {
  return summary.replace(/^(?:Undo|Redo) operation \d+: /, '');
}
