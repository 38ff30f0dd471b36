import { addAbortSignal } from 'node:stream';
import { CliError, ExitCode } from '../errors.js';
import type { Call } from '../table/command-spec.js';

/** Reads standard input to its end. @throws CliError instead of waiting for a person at a terminal */
export async function readStandardInput({ signal }: Call, hint: string): Promise<Uint8Array> {
  if (process.stdin.isTTY) throw new CliError(ExitCode.usage, 'Standard input is a terminal.', hint);
  const chunks: Uint8Array[] = [];
  for await (const chunk of addAbortSignal(signal, process.stdin)) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks);
}
