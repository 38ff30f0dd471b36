import { usageError } from '../errors.js';
import type { Call, Result } from '../table/command-spec.js';
import { withTarget } from '../target/target.js';
import { count } from '../terminal/quantities.js';

const KINDS: readonly string[] = ['file', 'directory', 'symlink'];

export async function run(call: Call): Promise<Result> {
  const { args, options, output, signal } = call;
  const kind = options.text('type');
  if (kind !== undefined && !KINDS.includes(kind)) throw usageError(`--type must be one of ${KINDS.join(', ')}.`);
  const { glob } = await import('@scratchfs/core/search');
  return withTarget(call, 'read', async ({ fileSystem, path }) => {
    const place = path('.');
    const patterns = args.length === 0 ? ['**'] : args;
    const found: string[] = [];
    await output.progress('Searching', async (report) => {
      for await (const one of glob(fileSystem, patterns, { cwd: place, dot: true, signal })) {
        if (kind === undefined || (await fileSystem.lstat(one, { signal })).kind === kind) found.push(one);
        report(`${count(found.length, 'path')} found`);
      }
    });
    if (options.flag('null') && !output.isJson) {
      await output.bytes(Buffer.from(found.map((one) => `${one}\0`).join('')));
      return {};
    }
    return { lines: found.map((one) => output.listed(one)), json: { paths: found } };
  });
}
