import {
  type Attempt,
  type Operation,
  type RefreshedOperation,
  type Workspace,
  WorkspaceError,
} from '@scratchfs/workspace';
import { CliError, ExitCode, HintedError } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { count } from '../terminal/quantities.js';
import { effectLines } from './accept-text.js';
import { conflictJson } from './diff-text.js';
import { isAgreed, noTerminal, placeOf, questionOf } from './disk-question.js';
import { commandLine, undoAccept } from './hint-text.js';
import { parseNumber, withAttempt } from './open.js';
import { operationJson, operationText } from './operation-text.js';
import { joined, refreshedLines } from './refreshed-text.js';

type Step = (
  attempt: Attempt,
  options: { readonly actor: string | undefined; readonly expect: number; readonly signal: AbortSignal },
) => Promise<RefreshedOperation>;

const WORDS = {
  undo: {
    done: 'Undid',
    left: 'Not undone',
    past: 'undone',
    verb: 'Take back',
    none: 'no operation that could be taken back',
  },
  redo: { done: 'Redid', left: 'Not redone', past: 'redone', verb: 'Make again', none: 'no undone operation' },
} as const;

/** Codes of errors that may arise because the user means an accept of another attempt. */
const EXPLAINED: ReadonlySet<string> = new Set(['nothing-to-undo', 'refused']);

/**
 * Undoes or redoes N operations. If there are fewer, nothing is done. Unless `--yes` was given, it asks before each
 * operation that also changes the disk or git, and does nothing if there is no terminal to ask on. A no or a failure
 * ends the steps: the result then has what was done before it, what was not done, and the error if there was one.
 * @throws WorkspaceError with the code `nothing-to-undo` or `nothing-to-redo`; CliError if nothing was done for the
 * reasons above; any error of the first step
 */
export function takeSteps(call: Call, tool: 'undo' | 'redo', step: Step): Promise<Result> {
  const { args, options, output, signal } = call;
  const wanted = parseNumber(args[0] ?? '1', 'N');
  return withAttempt(call, async (attempt, workspace) => {
    // Operations that are added from now on must not be undone, so each step names the operation that it expects.
    const targets = await attempt.steps(tool, { limit: wanted, signal });
    const elsewhere = tool === 'undo' ? await newerAccept(call, workspace, attempt, targets[0]?.at ?? 0) : undefined;
    const explained = (error: unknown): unknown =>
      elsewhere !== undefined && error instanceof WorkspaceError && EXPLAINED.has(error.code)
        ? new HintedError(error, elsewhere)
        : error;
    if (targets.length === 0)
      throw explained(new WorkspaceError(`nothing-to-${tool}`, `Attempt ${attempt.name} has ${WORDS[tool].none}`));
    checkSteps(call, tool, attempt, targets, wanted);
    const done: RefreshedOperation[] = [];
    const lines: string[] = [];
    let isDeclined = false;
    let failure: unknown;
    for (const target of targets) {
      try {
        const question = options.flag('yes') ? undefined : questionOf(WORDS[tool].verb, attempt, target);
        isDeclined = question !== undefined && !(await isAgreed(call, question));
        if (isDeclined) break;
        const made = await step(attempt, { actor: options.text('actor'), expect: target.id, signal });
        done.push(made);
        lines.push(`${WORDS[tool].done} ${operationText(target, output, placeOf(attempt, target))}`);
        if (placeOf(attempt, target) !== undefined) lines.push(...effectLines(made.changes, output));
      } catch (error) {
        if (done.length === 0) throw explained(error);
        failure = explained(error);
        break;
      }
    }
    if (isDeclined && done.length === 0) throw new CliError(ExitCode.refused, 'Nothing was changed.');
    const left = targets.slice(done.length);
    for (const target of left) lines.push(`${output.style.error(WORDS[tool].left)} ${operationText(target, output)}`);
    if (done.length < wanted)
      lines.push(`Only ${done.length} of ${wanted}: ${isDeclined ? 'you said no' : 'the next one failed'}.`);
    const { merged, conflicts } = joined(done.map(({ refreshed }) => refreshed));
    lines.push(...refreshedLines({ merged, conflicts }, call));
    if (elsewhere !== undefined && failure === undefined)
      lines.push(...output.wrapped(elsewhere).map((line) => output.style.dim(line)));
    return {
      code: isDeclined ? ExitCode.failed : ExitCode.ok,
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

/** @throws CliError if there are fewer operations than wanted, or if one needs a yes and there is no terminal to ask */
function checkSteps(
  call: Call,
  tool: 'undo' | 'redo',
  attempt: Attempt,
  targets: readonly Operation[],
  wanted: number,
): void {
  const { past, verb } = WORDS[tool];
  const number = targets.length;
  if (number < wanted)
    throw new CliError(
      ExitCode.refused,
      `Only ${count(number, 'operation')} of attempt ${attempt.name} can be ${past}, not ${wanted}. Nothing was changed.`,
      `\`${commandLine(call, [tool, String(number)])}\``,
    );
  if (call.options.flag('yes') || call.output.isInteractive) return;
  const questions = targets.flatMap((target) => questionOf(verb, attempt, target) ?? []);
  if (questions.length > 0) throw noTerminal(call, questions, [tool, ...call.args]);
}

/**
 * Returns a sentence about the last accept after `since` that `undo` in another open attempt would take back: the user
 * may have meant that one. Undefined if there is none.
 * @param since epoch milliseconds
 */
async function newerAccept(
  call: Call,
  workspace: Workspace,
  { name: own }: Attempt,
  since: number,
): Promise<string | undefined> {
  const { signal } = call;
  let last: Operation | undefined;
  for (const { name, state, changedAt } of await workspace.attempts({ signal })) {
    if (name === own || state !== 'open' || changedAt <= since) continue;
    const next = await (await workspace.attempt(name, { signal })).next('undo', { signal });
    const isUndoable = next?.tool === 'accept' && next.as !== 'merge';
    if (isUndoable && next.at > Math.max(since, last?.at ?? 0)) last = next;
  }
  if (last === undefined) return undefined;
  return `The last accept was of attempt ${last.attempt}: \`${undoAccept(call, last.attempt)}\` takes it back.`;
}
