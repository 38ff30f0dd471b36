import { createSnapshot } from 'scratchfs/snapshot';
import type { Call, Result } from '../table/command-spec.js';
import { checkOutput, writeOutput } from '../target/output-file.js';
import { withTarget } from '../target/target.js';
import { escapeText } from '../terminal/escape.js';
import { bytesText } from '../terminal/quantities.js';

export async function run(call: Call): Promise<Result> {
  const {
    args: [file = ''],
    output,
    signal,
  } = call;
  await checkOutput(call, file);
  return withTarget(call, 'read', async ({ fileSystem }) => {
    const bytes = await output.progress('Reading', () => createSnapshot(fileSystem, { signal }));
    await writeOutput(call, file, bytes);
    if (file === '-') return {};
    const lines = output.isQuiet ? [] : [`Wrote ${escapeText(file)}, ${bytesText(bytes.length)}`];
    return { lines, json: { file, size: bytes.length } };
  });
}
