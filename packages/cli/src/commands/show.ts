import { CliError, ExitCode } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { escapeText } from '../terminal/escape.js';
import { timeText } from '../terminal/quantities.js';
import { patchLines, pathJson, statLines, sumText } from '../workspace/diff-text.js';
import { parseOperation, withAttempt } from '../workspace/open.js';
import { operationJson } from '../workspace/operation-text.js';

export function run(call: Call): Promise<Result> {
  const { args, options, output, signal } = call;
  const { style } = output;
  const id = parseOperation(args[0] ?? '', 'OP');
  return withAttempt(call, async (attempt) => {
    const { operations } = await attempt.log({ before: id + 1, limit: 1, signal });
    const operation = operations[0];
    if (operation?.id !== id)
      throw new CliError(
        ExitCode.notFound,
        `Attempt ${attempt.name} has no operation ${id}.`,
        '`scratchfs log` lists the operations.',
      );
    const { paths } = await attempt.diff({ operation: id, hunks: !options.flag('stat'), signal });
    const lines = [
      `Operation ${style.name(String(id))} of ${style.name(attempt.name)}: ${escapeText(operation.summary)}`,
      style.dim(
        `${escapeText(operation.actor)}, ${escapeText(operation.tool)}, ${timeText(operation.at, Date.now())}, ${operation.ms} ms`,
      ),
      ...(operation.ok ? [] : [style.error('It reported a failure.')]),
      '',
      ...(options.flag('stat')
        ? [...statLines(paths, output), '', style.dim(sumText(paths))]
        : paths.flatMap((path) => patchLines(path, output))),
    ];
    return { lines, json: { operation: operationJson(operation), paths: paths.map(pathJson) } };
  });
}
