import { CliError, ExitCode, usageError } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { cutTo } from '../terminal/columns.js';
import { escapeText } from '../terminal/escape.js';
import { timeText } from '../terminal/quantities.js';
import { patchLines } from '../workspace/diff-text.js';
import { withAttempt } from '../workspace/open.js';
import { operationJson, operationText, pathText } from '../workspace/operation-text.js';

const MAX_STATES = 200;
const MAX_PATHS_NAMED = 3;

/** Lets a person choose a state, shows what going back would change, and goes back. */
export function run(call: Call): Promise<Result> {
  const { output, signal } = call;
  if (!output.isInteractive)
    throw usageError('`scratchfs rewind` needs a terminal.', 'In scripts: scratchfs log, then scratchfs restore OP');
  return withAttempt(call, async (attempt) => {
    const { operations } = await attempt.log({ limit: MAX_STATES, signal });
    const seen = operations[0]?.id;
    if (seen === undefined) throw new CliError(ExitCode.failed, `Attempt ${attempt.name} has no operations.`);
    const { isCancel, select } = await import('@clack/prompts');
    const { askKey } = await import('../terminal/ask.js');
    const width = Math.max(20, output.columns - 24);
    const now = Date.now();
    const states = [
      ...operations.map(({ id, at, summary, changes }) => ({
        value: id,
        label: cutTo(`${String(id).padStart(4)}  ${timeText(at, now)}  ${escapeText(summary)}`, width),
        hint:
          changes
            .slice(0, MAX_PATHS_NAMED)
            .map(({ path }) => pathText(path))
            .join(', ') + (changes.length > MAX_PATHS_NAMED ? ' …' : ''),
      })),
      { value: 0, label: '   0  before the first operation', hint: 'the disk as it is now' },
    ];
    let initialValue = operations[1]?.id ?? 0;
    for (;;) {
      const chosen = await select<number>({
        message: `Back to the state after which operation of ${attempt.name}?`,
        options: states,
        maxItems: 12,
        initialValue,
      });
      if (isCancel(chosen)) throw new CliError(ExitCode.refused, 'Nothing was changed.');
      const { paths, head } = await attempt.diff({ from: seen, to: chosen, hunks: true, signal });
      if (head !== seen) throw moved();
      for (const path of paths) for (const line of patchLines(path, output)) output.line(line);
      if (paths.length === 0) output.line('Nothing differs from now.');
      const key = await askKey(
        'Go back to it?',
        { y: 'yes; scratchfs undo takes it back', n: 'choose another one', q: 'leave everything as it is' },
        output,
      );
      if (key === 'q') throw new CliError(ExitCode.refused, 'Nothing was changed.');
      initialValue = chosen;
      if (key === 'n') continue;
      const operation = await attempt.restore(chosen, { expect: seen, signal });
      return {
        lines: [operation === undefined ? 'Nothing differs.' : operationText(operation, output)],
        json: { operation: operation === undefined ? null : operationJson(operation) },
      };
    }
  });
}

/** The person must see an operation before it is taken back. */
function moved(): CliError {
  return new CliError(
    ExitCode.conflict,
    'Another operation has come meanwhile. Nothing was changed.',
    'Repeat the command.',
  );
}
