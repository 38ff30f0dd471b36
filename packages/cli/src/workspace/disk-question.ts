import { type Attempt, mainChanges, type Operation } from '@scratchfs/workspace';
import { CliError, ExitCode } from '../errors.js';
import type { Call } from '../table/command-spec.js';
import { askKey } from '../terminal/ask.js';
import { escapeText } from '../terminal/escape.js';
import { count } from '../terminal/quantities.js';
import { commandLine } from './hint-text.js';

/** Maximum number of questions that an error quotes. */
const MAX_QUESTIONS = 3;

/** Returns where an undo or redo of an operation changes more than the attempt, in words. Undefined if it does not. */
export function placeOf({ isLive }: Attempt, { tool, as }: Operation): string | undefined {
  if (tool === 'accept' && as === 'branch') return 'in git';
  return tool === 'accept' || isLive === true ? 'on your disk' : undefined;
}

/**
 * Returns the question to ask before an operation is undone or redone. Undefined if that changes neither the disk nor
 * git.
 */
export function questionOf(verb: string, attempt: Attempt, target: Operation): string | undefined {
  const { id, summary, as, tool } = target;
  const place = placeOf(attempt, target);
  const paths = mainChanges(target.changes).length;
  const isBranch = tool === 'accept' && as === 'branch';
  // A merge cannot be undone, so there is nothing to ask: the step fails and says why.
  if (place === undefined || as === 'merge' || (paths === 0 && !isBranch)) return undefined;
  return `${verb} ${id}, ${escapeText(summary)}: change ${isBranch ? 'a branch' : count(paths, 'path')} ${place}?`;
}

/** Asks a question of {@link questionOf} or {@link agreeToRestore}. Only for a terminal. */
export async function isAgreed(call: Call, question: string): Promise<boolean> {
  return (await askKey(question, { y: 'yes', n: 'no, change nothing' }, call)) === 'y';
}

/**
 * Returns the error for questions that there is no terminal to ask on. @param words the command, which `--yes` is added
 * to
 */
export function noTerminal(call: Call, questions: readonly string[], words: readonly string[]): CliError {
  const quoted = questions.slice(0, MAX_QUESTIONS).join(' ');
  const more = questions.length > MAX_QUESTIONS ? ` And ${questions.length - MAX_QUESTIONS} more.` : '';
  return new CliError(
    ExitCode.refused,
    `${quoted}${more} There is no terminal to ask.`,
    `\`${commandLine(call, [...words, '--yes'])}\` does not ask.`,
  );
}

/**
 * Asks before a live attempt goes back to an earlier state, because that writes the disk. Returns the number of the
 * last operation at the time of the question, for `expect`; undefined if nothing was asked.
 * @param paths default: everything
 * @throws CliError after a no, or if there is something to ask and no terminal
 */
export async function agreeToRestore(
  call: Call,
  attempt: Attempt,
  to: number,
  paths?: readonly string[],
): Promise<number | undefined> {
  if (attempt.isLive !== true || call.options.flag('yes')) return undefined;
  const { paths: changed, head } = await attempt.diff({ from: to, paths, signal: call.signal });
  if (changed.length === 0) return undefined;
  const question = `Restore the state after operation ${to}: change ${count(changed.length, 'path')} on your disk?`;
  if (!call.output.isInteractive) throw noTerminal(call, [question], [call.spec.name, ...call.args]);
  if (!(await isAgreed(call, question))) throw new CliError(ExitCode.refused, 'Nothing was changed.');
  return head;
}
