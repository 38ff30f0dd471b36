import { parentPath } from '@scratchfs/core';
import type { Call, Result } from '../table/command-spec.js';
import { readStandardInput } from '../target/standard-input.js';
import { withTarget } from '../target/target.js';
import { escapeText } from '../terminal/escape.js';
import { bytesText } from '../terminal/quantities.js';

export async function run(call: Call): Promise<Result> {
  const { args, options, output, signal } = call;
  const [name = '', text] = args;
  const data =
    text === undefined
      ? await readStandardInput(call, 'Give the text as an argument, or pipe it: echo text | scratchfs fs write PATH')
      : new TextEncoder().encode(text);
  const append = options.flag('append');
  return withTarget(call, 'create', async ({ change, path }) => {
    const at = path(name);
    const size = await change(`${append ? 'Append to' : 'Write'} ${at}`, async (fileSystem) => {
      await fileSystem.mkdir(parentPath(at), { recursive: true, signal });
      if (append) await fileSystem.appendFile(at, data, { signal });
      else await fileSystem.writeFile(at, data, { signal });
      return (await fileSystem.stat(at, { signal })).size;
    });
    const lines = output.isQuiet ? [] : [`Wrote ${escapeText(at)}, ${bytesText(size)}`];
    return { lines, json: { path: at, size } };
  });
}
