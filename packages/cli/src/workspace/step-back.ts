import {
  type Attempt,
  mainChanges,
  type Operation,
  type RefreshedOperation,
  WorkspaceError,
} from '@scratchfs/workspace';
import { CliError, ExitCode } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { askKey } from '../terminal/ask.js';
import { escapeText } from '../terminal/escape.js';
import { count } from '../terminal/quantities.js';
import { effectLines } from './accept-text.js';
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
 * is asked before each accept among them, because that changes the disk or a branch; a no ends the steps. So does a
 * failure: the result then has what was done before it, what was not done, and the error.
 * @throws WorkspaceError with the code `nothing-to-undo` or `nothing-to-redo` if there are none; any error of the first
 *   step
 */
export function takeSteps(call: Call, tool: 'undo' | 'redo', step: Step): Promise<Result> {
  const { args, options, output, signal } = call;
  const wanted = parseNumber(args[0] ?? '1', 'N');
  return withAttempt(call, async (attempt) => {
    const done: RefreshedOperation[] = [];
    const lines: string[] = [];
    // Operations that are added from now on must not be undone, so each undo names the operation that it expects.
    const targets = tool === 'undo' ? await undoable(attempt, wanted, signal) : [];
    let isDeclined = false;
    let failure: unknown;
    while (done.length < wanted && !isDeclined && failure === undefined) {
      try {
        const target = await attempt.next(tool, { signal });
        const isAccept = target?.tool === 'accept';
        isDeclined = isAccept && output.isInteractive && !(await isAgreed(call, tool, target));
        if (isDeclined) break;
        const expect = targets[done.length]?.id ?? target?.id;
        const made = await step(attempt, { actor: options.text('actor'), expect, signal });
        done.push(made);
        if (target === undefined) continue;
        lines.push(`${VERBS[tool]} ${operationText(target, output, placeOf(target))}`);
        if (isAccept) lines.push(...effectLines(made.changes, output));
      } catch (error) {
        if (done.length === 0) throw error;
        if (error instanceof WorkspaceError && error.code === `nothing-to-${tool}`) break;
        failure = error;
      }
    }
    if (isDeclined && done.length === 0) throw new CliError(ExitCode.refused, 'Nothing was changed.');
    // Which redo comes next is known only after the one before it.
    const left = failure === undefined ? [] : targets.slice(done.length);
    for (const target of left) lines.push(`${output.style.error('Not undone')} ${operationText(target, output)}`);
    if (done.length < wanted) {
      const end = isDeclined ? 'you said no' : failure === undefined ? 'there is no more' : 'the next one failed';
      lines.push(`Only ${done.length} of ${wanted}: ${end}.`);
    }
    const { merged, conflicts } = joined(done.map(({ refreshed }) => refreshed));
    lines.push(...refreshedLines({ merged, conflicts }, call));
    return {
      code: isDeclined ? ExitCode.refused : done.length < wanted ? ExitCode.failed : ExitCode.ok,
      lines: output.isQuiet && failure === undefined ? [] : lines,
      json: {
        attempt: attempt.name,
        operations: done.map(operationJson),
        merged,
        conflicts: conflicts.map(conflictJson),
        ...(left.length === 0 ? {} : { left: left.map(operationJson) }),
      },
      failure,
    };
  });
}

/** Returns what undoing or redoing an operation changes besides the attempt. */
function placeOf({ tool, as }: Operation): string | undefined {
  if (tool !== 'accept') return undefined;
  return as === 'branch' ? 'in git' : 'on your disk';
}

async function isAgreed(call: Call, tool: 'undo' | 'redo', target: Operation): Promise<boolean> {
  const { id, summary, changes, as } = target;
  const what = as === 'branch' ? 'a branch' : count(mainChanges(changes).length, 'path');
  const question = `${tool === 'undo' ? 'Take back' : 'Make again'} ${id}, ${escapeText(summary)}: change ${what} ${placeOf(target)}?`;
  return (await askKey(question, { y: 'yes', n: 'no, change nothing' }, call)) === 'y';
}

/** Returns the operations that the next undos take back, the first one first. */
async function undoable(attempt: Attempt, wanted: number, signal: AbortSignal): Promise<Operation[]> {
  const found: Operation[] = [];
  /** Newest of `undo` and `redo` for each operation. */
  const moves = new Map<number, string>();
  let before: number | undefined;
  do {
    const { operations, next } = await attempt.log({ before, limit: 200, signal });
    for (const operation of operations) {
      const { id, tool, target } = operation;
      if ((tool === 'undo' || tool === 'redo') && target !== undefined) {
        if (!moves.has(target)) moves.set(target, tool);
      } else if (tool !== 'refresh' && moves.get(id) !== 'undo') found.push(operation);
    }
    before = next;
  } while (before !== undefined && found.length < wanted);
  return found.slice(0, wanted);
}
