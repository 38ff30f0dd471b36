import { type Attempt, type RefreshedOperation, WorkspaceError } from '@scratchfs/workspace';
import { ExitCode } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { conflictJson } from './diff-text.js';
import { parseNumber, withAttempt } from './open.js';
import { operationJson, operationText } from './operation-text.js';
import { joined, refreshedLines } from './refreshed-text.js';

type Step = (
  attempt: Attempt,
  options: { readonly actor: string | undefined; readonly expect: number | undefined; readonly signal: AbortSignal },
) => Promise<RefreshedOperation>;

/**
 * Undoes or redoes N operations. If there are fewer, all of them are done and the exit code is 1.
 * @throws WorkspaceError with the code `end` if there are none
 */
export function takeSteps(
  call: Call,
  verb: string,
  end: 'nothing-to-undo' | 'nothing-to-redo',
  step: Step,
): Promise<Result> {
  const { args, options, output, signal } = call;
  const wanted = parseNumber(args[0] ?? '1', 'N');
  return withAttempt(call, async (attempt) => {
    const done: RefreshedOperation[] = [];
    // Operations that are added from now on must not be undone, so each undo names the operation that it expects.
    const targets = end === 'nothing-to-undo' ? await undoable(attempt, wanted, signal) : [];
    while (done.length < wanted) {
      try {
        done.push(await step(attempt, { actor: options.text('actor'), expect: targets[done.length], signal }));
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
    const { merged, conflicts } = joined(done.map(({ refreshed }) => refreshed));
    lines.push(...refreshedLines({ merged, conflicts }, output));
    return {
      code: done.length < wanted ? ExitCode.failed : ExitCode.ok,
      lines: output.isQuiet ? [] : lines,
      json: {
        attempt: attempt.name,
        operations: done.map(operationJson),
        merged,
        conflicts: conflicts.map(conflictJson),
      },
    };
  });
}

/** Returns the operations that the next undos take back, the first one first. */
async function undoable(attempt: Attempt, wanted: number, signal: AbortSignal): Promise<number[]> {
  const found: number[] = [];
  /** Newest of `undo` and `redo` for each operation. */
  const moves = new Map<number, string>();
  let before: number | undefined;
  do {
    const { operations, next } = await attempt.log({ before, limit: 200, signal });
    for (const { id, tool, target } of operations) {
      if ((tool === 'undo' || tool === 'redo') && target !== undefined) {
        if (!moves.has(target)) moves.set(target, tool);
      } else if (tool !== 'refresh' && moves.get(id) !== 'undo') found.push(id);
    }
    before = next;
  } while (before !== undefined && found.length < wanted);
  return found.slice(0, wanted);
}

/** Returns the summary of an undo or redo without `Undo operation N: ` or `Redo operation N: `. */
function plain(summary: string): string {
  return summary.replace(/^(?:Undo|Redo) operation \d+: /, '');
}
