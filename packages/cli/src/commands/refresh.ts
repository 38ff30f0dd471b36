import { ExitCode } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { count } from '../terminal/quantities.js';
import { conflictJson, conflictLines } from '../workspace/diff-text.js';
import { withAttempt } from '../workspace/open.js';
import { pathText } from '../workspace/operation-text.js';

export function run(call: Call): Promise<Result> {
  const { options, output, signal } = call;
  return withAttempt(call, async (attempt) => {
    const { merged, conflicts } = await output.progress('Comparing with the disk', () =>
      attempt.refresh({ signal, ...(options.flag('onto') ? { onto: true } : {}) }),
    );
    const lines = [
      ...merged.map((path) => `  ${output.style.changed('merged')}  ${pathText(path)}`),
      ...conflictLines(conflicts, output),
    ];
    if (lines.length === 0) lines.push('Nothing that the attempt has changed was changed on the disk.');
    if (conflicts.length > 0)
      lines.push(
        '',
        `${count(conflicts.length, 'conflict')}: the attempt keeps its version. Edit it, or take yours: scratchfs restore 0 PATH`,
      );
    return {
      code: conflicts.length > 0 ? ExitCode.conflict : ExitCode.ok,
      lines: output.isQuiet ? [] : lines,
      json: { attempt: attempt.name, merged, conflicts: conflicts.map(conflictJson) },
    };
  });
}
