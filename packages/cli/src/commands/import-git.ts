import { resolve } from 'node:path';
import { HostHistory } from '@scratchfs/host';
import { createFileSystem } from 'scratchfs';
import type { Call, Result } from '../table/command-spec.js';
import { copiedResult, importTree } from '../target/copied-tree.js';
import { withTarget } from '../target/target.js';

export async function run(call: Call): Promise<Result> {
  const {
    args: [repository = ''],
    options,
    directory,
    output,
    signal,
  } = call;
  await using versions = new HostHistory();
  const source = resolve(directory, repository);
  const head = await output.progress('Reading the repository', () => versions.onboardRepo(source, { signal }));
  const files = createFileSystem();
  await output.progress('Reading the files', () => versions.historyOf(head).checkout(head, files, { signal }));
  return withTarget(call, 'create', async ({ change, path }) => {
    const place = path(options.text('to') ?? '/');
    const copied = await change(`Import commit ${head.slice(0, 12)}`, (inside) =>
      importTree(call, files, inside, place),
    );
    const result = copiedResult('Imported into', place, copied, output);
    return { ...result, json: { ...result.json, commit: head } };
  });
}
