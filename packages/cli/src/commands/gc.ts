import type { Call, Result } from '../table/command-spec.js';
import { bytesText, count } from '../terminal/quantities.js';
import { withWorkspace } from '../workspace/open.js';

export function run(call: Call): Promise<Result> {
  const { output, signal } = call;
  return withWorkspace(call, async (workspace) => {
    const { deleted, bytes, kept } = await output.progress('Looking for what nothing needs', () =>
      workspace.gc({ signal }),
    );
    const line = `Deleted ${count(deleted, 'entry', 'entries')}, ${bytesText(bytes)}; kept ${kept}`;
    return { lines: output.isQuiet ? [] : [line], json: { deleted, bytes, kept } };
  });
}
