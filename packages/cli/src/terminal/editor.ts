import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { CliError, ExitCode } from '../errors.js';

/** Opens a copy of a content in the user's editor, and returns what they saved. @throws CliError if the editor fails */
export async function editInEditor(
  name: string,
  content: Uint8Array,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Uint8Array> {
  const editor = environment['VISUAL'] ?? environment['EDITOR'] ?? 'vi';
  const folder = await mkdtemp(join(tmpdir(), 'scratchfs-edit-'));
  try {
    const file = join(folder, basename(name).replaceAll(/[^\w.-]/g, '_'));
    await writeFile(file, content, { mode: 0o600 });
    // VISUAL or EDITOR may contain arguments, as in `code --wait`, so a shell splits it; the file is an argument of its
    // own.
    const code = await new Promise<number | null>((resolve, reject) => {
      const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' });
      child.on('error', reject);
      child.on('close', resolve);
    });
    if (code !== 0)
      throw new CliError(
        ExitCode.failed,
        `The editor ${editor} failed. Nothing was changed.`,
        'Set EDITOR to the editor of your choice.',
      );
    return await readFile(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
