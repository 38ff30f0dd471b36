import { type Attempt, type Operation, type RefreshedOperation, WorkspaceError } from '@scratchfs/workspace';
import { CliError, ExitCode } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { askKey } from '../terminal/ask.js';
import { escapeText } from '../terminal/escape.js';
import { count } from '../terminal/quantities.js';
import { pathList } from './accept-text.js';
import { conflictJson } from './diff-text.js';
import { parseNumber, withAttempt } from './open.js';
import { operationJson, operationText } from './operation-text.js';
import { joined, refreshedLines } from './refreshed-text.js';

type Step = (
  attempt: Attempt,
  options: { readonly actor: string | undefined; readonly expect: number | undefined; readonly signal: AbortSignal },
) => Promise<RefreshedOperation>;

const VERBS = { undo: 'Undid', redo: 'Redid' } as const;

/**
 * Undoes or redoes N operations. If there are fewer, all of them are done and the exit code is 1. In a terminal the user
 * is asked before each accept among them, because that changes the disk or a branch; a no ends the steps.
 * @throws WorkspaceError with the code `nothing-to-undo` or `nothing-to-redo` if there are none
 */
export function takeSteps(call: Call, tool: 'undo' | 'redo', step: Step): Promise<Result> {
  const { args, options, output, signal } = call;
  const wanted = parseNumber(args[0] ?? '1', 'N');
  return withAttempt(call, async (attempt) => {
    const done: RefreshedOperation[] = [];
    const lines: string[] = [];
    let isDeclined = false;
    // Operations that are added from now on must not be undone, so each undo names the operation that it expects.
    const targets = tool === 'undo' ? await undoable(attempt, wanted, signal) : [];
    while (done.length < wanted) {
      const target = await attempt.next(tool, { signal });
      const isAccept = target?.tool === 'accept';
      if (isAccept && output.isInteractive && !(await isAgreed(call, tool, target))) {
        isDeclined = true;
        break;
      }
      const expect = targets[done.length] ?? target?.id;
      try {
        done.push(await step(attempt, { actor: options.text('actor'), expect, signal }));
      } catch (error) {
        const isEnd = error instanceof WorkspaceError && error.code === `nothing-to-${tool}`;
        if (!isEnd || done.length === 0) throw error;
        break;
      }
      if (target !== undefined) lines.push(`${VERBS[tool]} ${operationText(target, output, placeOf(target))}`);
      if (isAccept)
        lines.push(
          ...pathList(
            target.changes.map(({ path }) => path),
            output,
          ),
        );
    }
    if (isDeclined && done.length === 0) throw new CliError(ExitCode.refused, 'Nothing was changed.');
    if (done.length < wanted)
      lines.push(`Only ${done.length} of ${wanted}: ${isDeclined ? 'you said no' : 'there is no more'}.`);
    const { merged, conflicts } = joined(done.map(({ refreshed }) => refreshed));
    lines.push(...refreshedLines({ merged, conflicts }, output));
    return {
      code: isDeclined ? ExitCode.refused : done.length < wanted ? ExitCode.failed : ExitCode.ok,
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

/** Returns what undoing or redoing an operation changes besides the attempt. An accept without changes made a commit. */
function placeOf({ tool, changes }: Operation): string | undefined {
  if (tool !== 'accept') return undefined;
  return changes.length === 0 ? 'in git' : 'on your disk';
}

async function isAgreed(call: Call, tool: 'undo' | 'redo', target: Operation): Promise<boolean> {
  const { id, summary, changes } = target;
  const what = changes.length === 0 ? 'a branch' : count(changes.length, 'path');
  const question = `${tool === 'undo' ? 'Take back' : 'Make again'} ${id}, ${escapeText(summary)}: change ${what} ${placeOf(target)}?`;
  return (await askKey(question, { y: 'yes', n: 'no, change nothing' }, call)) === 'y';
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
