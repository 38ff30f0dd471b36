import { type FileSystem, isFsError } from '@scratchfs/core';
import { shellCommand } from '@scratchfs/core/internal';
import { CliError, ExitCode, usageError } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { withTarget } from '../target/target.js';
import { escapeText } from '../terminal/escape.js';
import { count } from '../terminal/quantities.js';

export function run(call: Call): Promise<Result> {
  const { args, options, output, signal } = call;
  const [name = '', old, text] = args;
  if (old !== undefined && text === undefined)
    throw usageError('NEW is missing.', 'An empty text removes: scratchfs fs edit PATH OLD ""');
  if (old === undefined && !output.isInteractive)
    throw usageError(
      'OLD and NEW are missing, and there is no terminal for an editor.',
      'Usage: scratchfs fs edit PATH OLD NEW',
    );
  return withTarget(call, 'change', async ({ fileSystem, change, path }) => {
    const at = path(name);
    if (old === undefined || text === undefined) return edited(call, at, fileSystem, change);
    const replaced = await change(`Edit ${at}`, async (inside) => {
      try {
        return await inside.editFile(at, old, text, { all: options.flag('all'), signal });
      } catch (error) {
        if (!isFsError(error, 'EINVAL')) throw error;
        const isAmbiguous = old !== '' && (await inside.readText(at, { signal })).includes(old);
        throw new CliError(
          ExitCode.failed,
          error.hint ?? error.message,
          isAmbiguous ? '--all replaces every occurrence.' : `scratchfs fs cat ${shellCommand([name])} shows the file.`,
          { cause: error },
        );
      }
    });
    const lines = output.isQuiet ? [] : [`Replaced ${count(replaced, 'occurrence')} in ${escapeText(at)}`];
    return { lines, json: { path: at, replaced } };
  });
}

/**
 * Lets the user edit a copy, and writes it back. @throws CliError if the editor fails, or the file was changed in the
 * meantime
 */
async function edited(
  { environment, interrupts, signal }: Call,
  at: string,
  fileSystem: FileSystem,
  change: <T>(summary: string, work: (inside: FileSystem) => Promise<T>) => Promise<T>,
): Promise<Result> {
  const { editInEditor } = await import('../terminal/editor.js');
  const before = await fileSystem.readFile(at, { signal });
  const release = interrupts.hold();
  const after = await editInEditor(at, before, environment).finally(release);
  if (Buffer.compare(before, after) === 0) return { lines: ['Nothing was changed'], json: { path: at, replaced: 0 } };
  await change(`Edit ${at}`, async (inside) => {
    if (Buffer.compare(await inside.readFile(at, { signal }), before) !== 0)
      throw new CliError(
        ExitCode.conflict,
        `${at} was changed by somebody else while you edited it. Nothing was written.`,
        'Edit it again.',
      );
    await inside.writeFile(at, after, { signal });
  });
  return { lines: [`Edited ${escapeText(at)}`], json: { path: at, replaced: 1 } };
}
