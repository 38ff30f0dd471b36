import type { Call, Result } from '../table/command-spec.js';
import { parseOperation, withAttempt } from '../workspace/open.js';

export function run(call: Call): Promise<Result> {
  const { args, options, output, signal } = call;
  const at = options.text('at');
  return withAttempt(call, async (attempt, workspace) => {
    const fork = await attempt.fork(args[0], {
      signal,
      ...(at === undefined ? {} : { at: parseOperation(at, '--at', 0) }),
    });
    const isCurrent = options.flag('switch');
    if (isCurrent) await workspace.switchTo(fork.name, { signal });
    const name = output.style.name(fork.name);
    const text = isCurrent
      ? `Made attempt ${name}, the current one now`
      : `Made attempt ${name}; use it with: scratchfs switch ${fork.name}`;
    return {
      lines: output.isQuiet ? [fork.name] : [text],
      json: { attempt: fork.name, parent: attempt.name, current: isCurrent },
    };
  });
}
