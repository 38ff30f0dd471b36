import { CliError, ExitCode } from '../errors.js';
import type { Output } from './output.js';

/**
 * Asks a question and waits for one of the allowed keys, without Enter. Returns the key.
 * @param keys the allowed keys with their meaning; any other key, such as `?`, lists them
 * @throws CliError with the exit code `interrupted` after Ctrl-C, Ctrl-D or a signal
 */
export async function askKey<K extends string>(
  question: string,
  keys: Readonly<Record<K, string>>,
  { output, signal }: { readonly output: Output; readonly signal: AbortSignal },
): Promise<K> {
  const { stdin } = process;
  const allowed = Object.keys(keys) as K[];
  for (;;) {
    process.stdout.write(`${output.style.heading(question)} ${output.style.dim(`[${allowed.join(',')},?]`)} `);
    const key = await readKey(stdin, signal);
    const isText = /^[\x20-\x7e]$/.test(key);
    process.stdout.write(`${isText ? key : ''}\n`);
    if (key === '\u0003' || key === '\u0004')
      throw new CliError(ExitCode.interrupted, 'Interrupted. Nothing was changed by this question.');
    const found = allowed.find((one) => one === key.toLowerCase());
    if (found !== undefined) return found;
    for (const one of allowed) output.line(`  ${output.style.heading(one)}  ${keys[one]}`);
  }
}

/** Reads one key without waiting for Enter. A signal counts as Ctrl-C. */
function readKey(stdin: NodeJS.ReadStream, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const end = (data: unknown): void => {
      stdin.off('data', end);
      signal.removeEventListener('abort', abort);
      stdin.setRawMode(false);
      stdin.pause();
      resolve(String(data).slice(0, 1));
    };
    const abort = (): void => end('\u0003');
    if (signal.aborted) {
      resolve('\u0003');
      return;
    }
    stdin.setRawMode(true);
    stdin.resume();
    stdin.on('data', end);
    signal.addEventListener('abort', abort);
  });
}
