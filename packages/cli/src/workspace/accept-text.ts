import { type AcceptResult, type ChangeSide, mainChanges, type OperationChange } from '@scratchfs/workspace';
import { ExitCode } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { escapeText } from '../terminal/escape.js';
import { conflictJson, conflictLines, statLines } from './diff-text.js';
import { commandLine, takeYours, undoAccept } from './hint-text.js';
import { operationJson, pathText } from './operation-text.js';

const MAX_PATHS = 20;

/**
 * Returns a line for each of the first changes of an operation, as `status` has them, and one for the number of the
 * others.
 */
export function effectLines(changes: readonly OperationChange[], output: Call['output']): string[] {
  const main = mainChanges(changes, MAX_PATHS);
  const known = (side: ChangeSide) => (side === 'disk' ? null : side);
  const shown = main.slice(0, MAX_PATHS).map(({ path, from, type, files, before, after }) => {
    const common = { path, from, type, files, before: known(before), after: known(after) };
    return { ...common, binary: false, additions: 0, deletions: 0, hunks: [] };
  });
  const lines = statLines(shown, output);
  return main.length > MAX_PATHS ? [...lines, output.style.dim(`  and ${main.length - MAX_PATHS} more`)] : lines;
}

/**
 * Returns the result of an accept, for a person and as JSON.
 * @param size number of the paths that were to be accepted; only used if the accept failed
 */
export function acceptResult(
  result: AcceptResult,
  { name, isCurrent, size }: { readonly name: string; readonly isCurrent: boolean; readonly size: number },
  call: Call,
): Result {
  const { output } = call;
  const { style } = output;
  const { success, message, accepted, changes, conflicts, autoRun, operation, commit } = result;
  const lines = output.wrapped(escapeText(message)).map((line) => (success ? line : style.error(line)));
  lines.push(...effectLines(changes, output));
  lines.push(...conflictLines(conflicts, output));
  if (autoRun.length > 0)
    lines.push(
      style.warning('Other programs run or obey these files on their own. Look at them before you go on:'),
      ...autoRun.map((path) => `  ${pathText(path)}`),
    );
  const of = isCurrent ? undefined : name;
  if (conflicts.length > 0 && !success) {
    lines.push(style.dim(`Take yours, then edit that: ${takeYours(call, conflicts, of)}`));
    if (size > conflicts.length) {
      const rest =
        call.spec.name === 'accept'
          ? 'the same command with --skip-conflicts'
          : commandLine(call, ['accept', '--skip-conflicts'], of);
      lines.push(style.dim(`Accept the rest: ${rest}`));
    }
  }
  if (operation !== undefined) {
    const undo = operation.as === 'merge' ? `git revert ${commit}` : undoAccept(call, of);
    lines.push(style.dim(`${undo} takes it back.`));
  }
  return {
    code: success ? ExitCode.ok : conflicts.length > 0 ? ExitCode.conflict : ExitCode.refused,
    lines: output.isQuiet && success ? [] : lines,
    json: {
      attempt: name,
      success,
      message,
      accepted,
      conflicts: conflicts.map(conflictJson),
      autoRun,
      operation: operation === undefined ? null : operationJson(operation),
      ...(commit === undefined ? {} : { commit }),
    },
  };
}
