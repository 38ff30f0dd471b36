import type { Call, Result } from '../table/command-spec.js';
import { otherAttempts } from '../workspace/attempt-info.js';
import { patchLines } from '../workspace/diff-text.js';
import { attemptPath, parseNumber, parseOperation, withAttempt } from '../workspace/open.js';
import { operationJson, operationLines } from '../workspace/operation-text.js';

export function run(call: Call): Promise<Result> {
  const { args, options, output, signal } = call;
  const limit = parseNumber(options.text('limit') ?? '50', '-n, --limit');
  const before = options.text('before');
  return withAttempt(call, async (attempt, workspace) => {
    const path = args[0] === undefined ? undefined : attemptPath(call, workspace, args[0]);
    const { operations, next } = await attempt.log({
      limit,
      signal,
      tool: options.text('tool'),
      actor: options.text('actor'),
      ...(path === undefined ? {} : { path }),
      ...(before === undefined ? {} : { before: parseOperation(before, '--before') }),
    });
    const isBare = options.flag('numbers');
    const summaries = isBare ? operations.map(({ id }) => String(id)) : operationLines(operations, output, Date.now());
    const lines: string[] = [];
    for (const [index, operation] of operations.entries()) {
      lines.push(summaries[index] ?? '');
      if (!options.flag('patch')) continue;
      const { paths } = await attempt.diff({
        operation,
        hunks: true,
        signal,
        ...(path === undefined ? {} : { paths: [path] }),
      });
      lines.push('');
      for (const one of paths) for (const line of patchLines(one, output)) lines.push(line);
      lines.push('');
    }
    const isFiltered =
      path !== undefined || ['tool', 'actor', 'before'].some((name) => options.text(name) !== undefined);
    const none = isFiltered ? `Attempt ${attempt.name} has no such operations.` : 'Nothing was done yet.';
    if (lines.length === 0 && !isBare)
      lines.push(output.style.dim(none), ...(isFiltered ? [] : await otherAttempts(call, workspace)));
    if (next !== undefined && !output.isQuiet && !isBare)
      lines.push(output.style.dim(`More: scratchfs log --before ${next}`));
    return { lines, json: { attempt: attempt.name, operations: operations.map(operationJson), next: next ?? null } };
  });
}
