import type { Call, Result } from '../table/command-spec.js';
import { withTarget } from '../target/target.js';

export function run(call: Call): Promise<Result> {
  const { args, output, signal } = call;
  return withTarget(call, 'read', async ({ fileSystem, path }) => {
    const files: unknown[] = [];
    for (const argument of args) {
      const at = path(argument);
      const content = await fileSystem.readFile(at, { signal });
      if (output.isJson) files.push({ path: at, ...contentJson(content) });
      else if (output.isTerminal) await output.bytes(Buffer.from(output.content(new TextDecoder().decode(content))));
      else await output.bytes(content);
    }
    return { json: { files } };
  });
}

/** Returns UTF-8 as text, and other bytes in Base64. */
function contentJson(content: Uint8Array): Record<string, string> {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content) };
  } catch {
    return { base64: Buffer.from(content).toString('base64') };
  }
}
