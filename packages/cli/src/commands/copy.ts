import { usageError } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { copiedResult } from '../target/copied-text.js';
import { copyTree } from '../target/copy-tree.js';
import { openStore, withoutPassword } from '../target/open-store.js';
import { count } from '../terminal/quantities.js';

export async function run({ args: [from = '', to = ''], directory, output, signal }: Call): Promise<Result> {
  if (from === to) throw usageError('FROM and TO are the same storage.');
  const source = await openStore(from, directory, 'read');
  try {
    const target = await openStore(to, directory, 'create');
    try {
      const copied = await output.progress('Copying', (report) =>
        copyTree(source.fileSystem, '/', target.fileSystem, '/', {
          signal,
          onProgress: ({ files }) => report(count(files, 'file')),
        }),
      );
      await target.save();
      return copiedResult('Copied to', withoutPassword(to), copied, output);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}
