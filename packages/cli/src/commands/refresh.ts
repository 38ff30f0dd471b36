import { ExitCode } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { conflictJson } from '../workspace/diff-text.js';
import { withAttempt } from '../workspace/open.js';
import { refreshedLines } from '../workspace/refreshed-text.js';

export function run(call: Call): Promise<Result> {
  const { options, output, signal } = call;
  return withAttempt(call, async (attempt) => {
    const { merged, conflicts } = await output.progress('Comparing with the disk', () =>
      attempt.refresh({ signal, ...(options.flag('onto') ? { onto: true } : {}) }),
    );
    const lines = refreshedLines({ merged, conflicts }, call);
    if (lines.length === 0) lines.push('Nothing that the attempt has changed was changed on the disk.');
    return {
      code: conflicts.length > 0 ? ExitCode.conflict : ExitCode.ok,
      lines: output.isQuiet ? [] : lines,
      json: { attempt: attempt.name, merged, conflicts: conflicts.map(conflictJson) },
    };
  });
}
