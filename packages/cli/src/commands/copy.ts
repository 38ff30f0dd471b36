import { copyFileSystem } from '@scratchfs/core/checkpoints';
import { CliError, ExitCode, usageError } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { openStore, withoutPassword } from '../target/open-store.js';
import { escapeText } from '../terminal/escape.js';
import { bytesText, count } from '../terminal/quantities.js';

export async function run({ args: [from = '', to = ''], directory, output, signal }: Call): Promise<Result> {
  if (from === to) throw usageError('FROM and TO are the same storage.');
  const source = await openStore(from, directory, 'read');
  try {
    const target = await openStore(to, directory, 'create');
    try {
      const { mapped: _, ...copied } = await output.progress('Copying', (report) =>
        copyFileSystem(source.fileSystem, target.fileSystem, {
          signal,
          checkpoints: target.keepsCheckpoints,
          progress: ({ files }) => report(count(files, 'file')),
        }).catch((error) => explained(error, withoutPassword(to), signal)),
      );
      await target.save();
      const place = withoutPassword(to);
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

function explained(error: NodeJS.ErrnoException, place: string, signal: AbortSignal): never {
  const again = 'Repeat the command: it begins again and removes that.';
  if (signal.aborted)
    throw new CliError(ExitCode.interrupted, `Interrupted. What is at ${place} is not whole.`, again, { cause: error });
  if (error.code === 'ENOSPC' && !('limit' in error))
    throw new CliError(
      ExitCode.failed,
      `No space is left for ${place}. What is there is not whole.`,
      `Free some space. ${again}`,
      { cause: error },
    );
  if (error.code !== 'ENOTEMPTY') throw error;
  throw new CliError(
    ExitCode.failed,
    'TO is not empty. Nothing was changed.',
    'Name a new storage; `scratchfs fs put` adds files to one that has some.',
    { cause: error },
  );
}
