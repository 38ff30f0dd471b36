import { createFileSystem } from 'scratchfs';
import type { Call, Result } from '../table/command-spec.js';
import { copiedResult, importTree } from '../target/copied-tree.js';
import { readInput } from '../target/input-file.js';
import { fillFrom } from '../target/snapshot-file.js';
import { withTarget } from '../target/target.js';

export async function run(call: Call): Promise<Result> {
  const {
    args: [file = ''],
    options,
    output,
  } = call;
  const snapshot = createFileSystem();
  await output.progress('Reading', async () => fillFrom(snapshot, await readInput(call, file), file));
  return withTarget(call, 'create', async ({ change, path }) => {
    const place = path(options.text('to') ?? '/');
    const copied = await change(`Import ${file}`, (inside) => importTree(call, snapshot, inside, place));
    return copiedResult('Imported into', place, copied, output);
  });
}
