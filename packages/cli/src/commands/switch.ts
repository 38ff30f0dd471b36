import type { Call, Result } from '../table/command-spec.js';
import { withWorkspace } from '../workspace/open.js';

export function run(call: Call): Promise<Result> {
  const {
    args: [name = ''],
    output,
    signal,
  } = call;
  return withWorkspace(call, async (workspace) => {
    await workspace.switchTo(name, { signal });
    return {
      lines: output.isQuiet ? [] : [`The current attempt is ${output.style.name(name)}`],
      json: { attempt: name },
    };
  });
}
