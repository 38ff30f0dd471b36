import { CliError, ExitCode } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { count } from '../terminal/quantities.js';
import { withWorkspace } from '../workspace/open.js';

export function run(call: Call): Promise<Result> {
  const { args: names, options, output, signal } = call;
  return withWorkspace(call, async (workspace) => {
    // All attempts must exist before the first is discarded.
    const attempts = [];
    for (const name of names) attempts.push(await workspace.attempt(name, { signal }));
    if (!options.flag('yes')) await confirm(call, names);
    for (const attempt of attempts) await attempt.discard({ signal });
    return {
      lines: output.isQuiet ? [] : [`Discarded ${names.map((name) => output.style.name(name)).join(', ')}`],
      json: { attempts: names },
    };
  });
}

async function confirm(call: Call, names: readonly string[]): Promise<void> {
  const { output } = call;
  const what = `Discard ${count(names.length, 'attempt')}: ${names.join(', ')}`;
  if (!output.isInteractive)
    throw new CliError(ExitCode.refused, `${what}? There is no terminal to ask.`, '--yes discards without asking.');
  const { askKey } = await import('../terminal/ask.js');
  const key = await askKey(`${what}?`, { y: 'yes, it cannot be undone', n: 'no' }, call);
  if (key === 'n') throw new CliError(ExitCode.refused, 'Nothing was discarded.');
}
