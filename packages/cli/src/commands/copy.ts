import { copyFileSystem } from '@scratchfs/core/checkpoints';
import { withoutPassword } from '@scratchfs/core/internal';
import { CliError, ExitCode, usageError } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { openStore } from '../target/open-store.js';
import { escapeText } from '../terminal/escape.js';
import { bytesText, count } from '../terminal/quantities.js';

export async function run({ args: [from = '', to = ''], directory, output, signal }: Call): Promise<Result> {
  if (from === to) throw usageError('FROM and TO are the same storage.');
  const source = await openStore(from, directory, 'read');
  try {
    const target = await openStore(to, directory, 'create');
    const place = withoutPassword(to);
    let hasBegun = false;
    try {
      const { mapped: _, ...copied } = await output.progress('Copying', (report) =>
        copyFileSystem(source.fileSystem, target.fileSystem, {
          signal,
          checkpoints: !target.isSnapshot,
          progress: ({ files }) => {
            hasBegun = !target.isSnapshot;
            report(count(files, 'file'));
          },
        }).catch((error) => explained(error, place, hasBegun, signal)),
      );
      await target.save();
      const counts = [count(copied.files, 'file'), bytesText(copied.bytes)];
      if (copied.checkpoints > 0) counts.push(count(copied.checkpoints, 'checkpoint'));
      const line = `Copied to ${escapeText(place)}: ${counts.join(', ')}`;
      return { lines: output.isQuiet ? [] : [line], json: { path: place, ...copied } };
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** @param hasBegun true if a part of the copy is in the target, with a mark that lets the next copy remove it */
function explained(error: NodeJS.ErrnoException, place: string, hasBegun: boolean, signal: AbortSignal): never {
  const left = hasBegun ? `What is at ${place} is not whole.` : 'Nothing was copied.';
  const again = hasBegun ? 'Repeat the command: it begins again and removes that.' : 'Repeat the command.';
  if (signal.aborted) throw new CliError(ExitCode.interrupted, `Interrupted. ${left}`, again, { cause: error });
  if (error.code === 'ENOSPC' && !('limit' in error))
    throw new CliError(ExitCode.failed, `No space is left for ${place}. ${left}`, `Free some space. ${again}`, {
      cause: error,
    });
  if (error.code !== 'ENOTEMPTY') throw error;
  throw new CliError(
    ExitCode.failed,
    'TO is not empty. Nothing was changed.',
    'Name a new storage; `scratchfs fs put` adds files to one that has some.',
    { cause: error },
  );
}
