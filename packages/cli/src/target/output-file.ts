import { lstat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CliError, ExitCode } from '../errors.js';
import type { Call } from '../table/command-spec.js';
import { replaceFile } from './snapshot-file.js';

/**
 * Checks that an output file may be written, before the work for it.
 * @throws CliError if the file exists and `--force` is not given, or if it is `-` and standard output is a terminal
 */
export async function checkOutput({ options, directory, output }: Call, file: string): Promise<void> {
  if (file === '-') {
    if (output.isTerminal)
      throw new CliError(ExitCode.usage, 'Standard output is a terminal.', 'Name a file, or redirect: … - > FILE');
    return;
  }
  const exists = await lstat(resolve(directory, file)).then(
    () => true,
    () => false,
  );
  if (exists && !options.flag('force'))
    throw new CliError(ExitCode.conflict, `${file} exists.`, '--force replaces it.');
}

/** Writes bytes to a file of the disk atomically; `-` is standard output. */
export async function writeOutput(
  { directory, interrupts, output, signal }: Call,
  file: string,
  bytes: Uint8Array,
): Promise<void> {
  if (file === '-') await output.bytes(bytes);
  else await interrupts.orderly(() => replaceFile(resolve(directory, file), bytes, signal));
}
