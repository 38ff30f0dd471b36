import { parentPath } from '@scratchfs/core';
import { CliError, ExitCode } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { placeFor } from '../target/copy-tree.js';
import { withTarget } from '../target/target.js';
import { escapeText } from '../terminal/escape.js';
import { hasPath } from '../workspace/open.js';

export function run(call: Call): Promise<Result> {
  const { args, options, output, signal } = call;
  const [source = '', destination = ''] = args;
  return withTarget(call, 'change', async ({ fileSystem, change, path }) => {
    const from = path(source);
    const to = await placeFor(fileSystem, path(destination), from, destination.endsWith('/'));
    await change(`Move ${from} to ${to}`, async (inside) => {
      if (!options.flag('force') && (await hasPath(inside, to, signal)))
        throw new CliError(ExitCode.conflict, `${to} exists.`, '--force replaces it.');
      await inside.mkdir(parentPath(to), { recursive: true, signal });
      await inside.rename(from, to, { signal });
    });
    return { lines: output.isQuiet ? [] : [`Moved ${escapeText(from)} to ${escapeText(to)}`], json: { from, to } };
  });
}
