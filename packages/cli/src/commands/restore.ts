import type { RefreshedOperation } from '@scratchfs/workspace';
import type { Call, Result } from '../table/command-spec.js';
import { conflictJson } from '../workspace/diff-text.js';
import { agreeToRestore } from '../workspace/disk-question.js';
import { knownPaths, parseOperation, withAttempt } from '../workspace/open.js';
import { operationJson, operationText, pathText } from '../workspace/operation-text.js';
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
    let expect =
      to === 'disk' ? undefined : await agreeToRestore(call, attempt, to, given.length === 0 ? undefined : given);
    const paths = given.length === 0 ? [undefined] : given;
    let done = 0;
    const operations: RefreshedOperation[] = [];
    let failure: unknown;
    for (const path of paths) {
      try {
        const operation = await attempt.restore(to, { path, expect, actor: options.text('actor'), signal });
        done++;
        if (operation === undefined) continue;
        operations.push(operation);
        // Nothing else may come between the paths that the user has agreed to.
        if (expect !== undefined) expect = operation.id;
      } catch (error) {
        if (operations.length === 0) throw error;
        failure = error;
        break;
      }
    }
    const { merged, conflicts } = joined(operations.map(({ refreshed }) => refreshed));
    const place = attempt.isLive === true ? 'on your disk' : undefined;
    const lines = operations.map((operation) => operationText(operation, output, place));
    const left = given.slice(failure === undefined ? given.length : done);
    for (const path of left) lines.push(`${output.style.error('Not restored')} ${pathText(path)}`);
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
        ...(left.length === 0 ? {} : { left }),
      },
      failure,
    };
  });
}
