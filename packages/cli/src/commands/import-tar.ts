import { createFileSystem } from 'scratchfs';
import { unpackTar } from 'scratchfs/tar';
import type { Call, Result } from '../table/command-spec.js';
import { copiedResult } from '../target/copied-text.js';
import { copyTree } from '../target/copy-tree.js';
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
  await unpackTar(archive, await readInput(call, file), '/', { signal });
  return withTarget(call, 'create', async ({ change, path }) => {
    const place = path(options.text('to') ?? '/');
    const copied = await change(`Import ${file}`, (inside) =>
      output.progress('Importing', () => copyTree(archive, '/', inside, place, { signal })),
    );
    return copiedResult('Imported into', place, copied, output);
  });
}
