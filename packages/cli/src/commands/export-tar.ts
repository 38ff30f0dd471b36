import { packTar } from 'scratchfs/tar';
import type { Call, Result } from '../table/command-spec.js';
import { checkOutput, writeOutput } from '../target/output-file.js';
import { withTarget } from '../target/target.js';
import { escapeText } from '../terminal/escape.js';
import { bytesText } from '../terminal/quantities.js';

export async function run(call: Call): Promise<Result> {
  const {
    args: [file = ''],
    options,
    output,
    signal,
  } = call;
  await checkOutput(call, file);
  return withTarget(call, 'read', async ({ fileSystem, path }) => {
    const archive = packTar(fileSystem, path(options.text('from') ?? '/'), { signal });
    const bytes = await output.progress('Packing', () => readAll(archive));
    await writeOutput(call, file, bytes);
    if (file === '-') return {};
    const lines = output.isQuiet ? [] : [`Wrote ${escapeText(file)}, ${bytesText(bytes.length)}`];
    return { lines, json: { file, size: bytes.length } };
  });
}

async function readAll(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
