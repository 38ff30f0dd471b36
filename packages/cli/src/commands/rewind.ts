import { CliError, ExitCode, usageError } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { Style } from '../terminal/style.js';
import { patchLines, sumText } from '../workspace/diff-text.js';
import { agreeToRestore } from '../workspace/disk-question.js';
import { withAttempt } from '../workspace/open.js';
import { operationJson, operationText } from '../workspace/operation-text.js';
import { refreshedLines } from '../workspace/refreshed-text.js';
import type { RewindChanges } from '../workspace/rewind-screen.js';

const MAX_STATES = 200;
const WITHOUT_COLORS = { style: new Style(false), isTerminal: true };

/** Shows a list of states and what going back to each would change, and restores the one that the user chooses. */
export function run(call: Call): Promise<Result> {
  const { output, signal } = call;
  if (!output.isInteractive)
    throw usageError('`scratchfs rewind` needs a terminal.', 'In scripts: scratchfs log, then scratchfs restore OP');
  return withAttempt(call, async (attempt) => {
    const { operations } = await attempt.log({ limit: MAX_STATES, signal });
    const seen = operations[0]?.id;
    if (seen === undefined) throw new CliError(ExitCode.failed, `Attempt ${attempt.name} has no operations.`);
    const { showScreen } = await import('../terminal/screen.js');
    const { RewindScreen, statesOf } = await import('../workspace/rewind-screen.js');
    const load = async (to: number): Promise<RewindChanges> => {
      const { paths, head } = await attempt.diff({ from: seen, to, hunks: true, signal });
      // An operation that was added since is not on the screen, so it must not be undone.
      if (head !== seen) throw moved();
      if (paths.length === 0) return { sum: 'Nothing differs from now.', lines: [] };
      const lines = paths.flatMap((path) => patchLines(path, WITHOUT_COLORS));
      return { sum: sumText(paths), lines: lines.map((line) => line.replaceAll('\t', '    ')) };
    };
    const chosen = await showScreen(
      (redraw, fail) =>
        new RewindScreen({
          title: `Back to the state after which operation of ${attempt.name}?`,
          states: statesOf(operations, Date.now()),
          style: output.style,
          load,
          redraw,
          fail,
        }),
      signal,
    );
    if (chosen === 'interrupt') throw new CliError(ExitCode.interrupted, 'Interrupted. Nothing was changed.');
    if (chosen === 'q') throw new CliError(ExitCode.refused, 'Nothing was changed.');
    const agreed = await agreeToRestore(call, attempt, chosen);
    if (agreed !== undefined && agreed !== seen) throw moved();
    const operation = await attempt.restore(chosen, { expect: seen, signal });
    return {
      lines:
        operation === undefined
          ? ['Nothing differs.']
          : [
              operationText(operation, output, attempt.isLive === true ? 'on your disk' : undefined),
              ...refreshedLines(operation.refreshed, call),
            ],
      json: { operation: operation === undefined ? null : operationJson(operation) },
    };
  });
}

function moved(): CliError {
  return new CliError(
    ExitCode.conflict,
    'Another operation has come meanwhile. Nothing was changed.',
    'Repeat the command.',
  );
}
