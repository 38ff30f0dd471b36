import { isFsError } from '@scratchfs/core';
import { CliError, ExitCode } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { placeFor } from '../target/copy-tree.js';
import { withTarget } from '../target/target.js';
import { escapeText } from '../terminal/escape.js';

export function run(call: Call): Promise<Result> {
  const { args, options, output, signal } = call;
  const [source = '', destination = ''] = args;
  return withTarget(call, 'change', async ({ fileSystem, change, path }) => {
    const from = path(source);
    const to = await placeFor(fileSystem, path(destination), from, destination.endsWith('/'));
    const force = options.flag('force');
    await change(`Copy ${from} to ${to}`, async (inside) => {
      try {
        const given = { recursive: options.flag('recursive'), force, errorOnExist: !force, signal };
        await output.progress('Copying', () => inside.cp(from, to, given));
      } catch (error) {
        if (isFsError(error, 'EEXIST'))
          throw new CliError(ExitCode.conflict, `${to} exists.`, '--force replaces files there.', { cause: error });
        if (isFsError(error, 'EISDIR'))
          throw new CliError(ExitCode.failed, `${from} is a directory.`, '-r copies it with everything in it.', {
            cause: error,
          });
        throw error;
      }
    });
    return { lines: output.isQuiet ? [] : [`Copied ${escapeText(from)} to ${escapeText(to)}`], json: { from, to } };
  });
}
