import { createFileSystem } from 'scratchfs';
import { unpackTar } from 'scratchfs/tar';
import type { Call, Result } from '../table/command-spec.js';
import { copiedResult, importTree } from '../target/copied-tree.js';
import { readInput } from '../target/input-file.js';
import { withTarget } from '../target/target.js';

export async function run(call: Call): Promise<Result> {
  const {
    args: [file = ''],
    options,
    output,
    signal,
  } = call;
  const archive = createFileSystem();
  await output.progress('Reading', async () => unpackTar(archive, await readInput(call, file), '/', { signal }));
  return withTarget(call, 'create', async ({ change, path }) => {
    const place = path(options.text('to') ?? '/');
    const copied = await change(`Import ${file}`, (inside) => importTree(call, archive, inside, place));
    return copiedResult('Imported into', place, copied, output);
  });
}
