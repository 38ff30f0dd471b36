import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { parentPath } from '@scratchfs/core';
import { usageError } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { copyTree, placeFor } from '../target/copy-tree.js';
import { localName } from '../target/local-name.js';
import { readStandardInput } from '../target/standard-input.js';
import { withTarget } from '../target/target.js';
import { escapeText } from '../terminal/escape.js';
import { bytesText, count } from '../terminal/quantities.js';

export async function run(call: Call): Promise<Result> {
  const { args, directory, output, signal } = call;
  const [local = '', given] = args;
  const name = localName(resolve(directory, local)) ?? '';
  if (local === '-' && (given === undefined || given.endsWith('/')))
    throw usageError('PATH is missing.', 'Standard input has no name: scratchfs fs put - PATH');
  const input =
    local === '-'
      ? await readStandardInput(call, 'Pipe something into it: cat file | scratchfs fs put - PATH')
      : undefined;
  const source = resolve(directory, local);
  const isDirectory = input === undefined && (await stat(source)).isDirectory();
  const { hostFileSystem } = await import('@scratchfs/host');
  return withTarget(call, 'create', async ({ fileSystem, change, path }) => {
    const isInside = given === undefined || given.endsWith('/');
    const target =
      input === undefined ? await placeFor(fileSystem, path(given ?? '.'), name, isInside) : path(given ?? '');
    const copied = await change(`Put ${target}`, async (inside) => {
      if (input !== undefined) {
        await inside.mkdir(parentPath(target), { recursive: true, signal });
        await inside.writeFile(target, input, { signal });
        return { files: 1, directories: 0, symlinks: 0, bytes: input.length };
      }
      const host = hostFileSystem(isDirectory ? source : dirname(source), { readonly: true, git: 'hidden' });
      try {
        return await output.progress('Copying', (report) =>
          copyTree(host, isDirectory ? '/' : `/${basename(source)}`, inside, target, {
            signal,
            onProgress: ({ files }) => report(count(files, 'file')),
          }),
        );
      } finally {
        await host.close();
      }
    });
    const lines = output.isQuiet
      ? []
      : [`Put ${escapeText(target)}: ${count(copied.files, 'file')}, ${bytesText(copied.bytes)}`];
    return { lines, json: { path: target, ...copied } };
  });
}
