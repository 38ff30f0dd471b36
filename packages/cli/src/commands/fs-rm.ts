import { isFsError } from '@scratchfs/core';
import { CliError, ExitCode } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { withTarget } from '../target/target.js';
import { escapeText } from '../terminal/escape.js';

export function run(call: Call): Promise<Result> {
  const { args, options, output, signal } = call;
  return withTarget(call, 'change', async ({ change, path }) => {
    const paths = args.map(path);
    await change(`Remove ${paths.join(', ')}`, async (fileSystem) => {
      for (const at of paths) {
        try {
          const given = { recursive: options.flag('recursive'), force: options.flag('force'), signal };
          await output.progress('Removing', () => fileSystem.rm(at, given));
        } catch (error) {
          if (!isFsError(error, 'EISDIR')) throw error;
          throw new CliError(ExitCode.failed, `${at} is a directory.`, '-r removes it with everything in it.', {
            cause: error,
          });
        }
      }
    });
    return { lines: output.isQuiet ? [] : [`Removed ${paths.map(escapeText).join(', ')}`], json: { paths } };
  });
}
