import type { RefreshedOperation } from '@scratchfs/workspace';
import type { Call, Result } from '../table/command-spec.js';
import { conflictJson } from '../workspace/diff-text.js';
import { knownPaths, parseOperation, withAttempt } from '../workspace/open.js';
import { operationJson, operationText } from '../workspace/operation-text.js';
import { joined, refreshedLines } from '../workspace/refreshed-text.js';

export function run(call: Call): Promise<Result> {
  const {
    args: [number = ''],
    options,
    output,
    signal,
  } = call;
  const to = number === 'disk' ? number : parseOperation(number, 'OP', 0);
  return withAttempt(call, async (attempt, workspace) => {
    const given = await knownPaths(call, 1, attempt, workspace, to === 'disk' ? [] : [attempt.at(to)]);
    const paths = given.length === 0 ? [undefined] : given;
    const operations: RefreshedOperation[] = [];
    let failure: unknown;
    for (const path of paths) {
      try {
        const operation = await attempt.restore(to, { path, actor: options.text('actor'), signal });
        if (operation !== undefined) operations.push(operation);
      } catch (error) {
        if (operations.length === 0) throw error;
        failure = error;
        break;
      }
    }
    const { merged, conflicts } = joined(operations.map(({ refreshed }) => refreshed));
    const lines = operations.map((operation) => operationText(operation, output));
    lines.push(...refreshedLines({ merged, conflicts }, call));
    return {
      lines:
        output.isQuiet && failure === undefined
          ? []
          : lines.length === 0
            ? [`Nothing differs from ${to === 'disk' ? 'the disk there' : `the state after operation ${to}`}.`]
            : lines,
      json: {
        attempt: attempt.name,
        operations: operations.map(operationJson),
        merged,
        conflicts: conflicts.map(conflictJson),
      },
      failure,
    };
  });
}
