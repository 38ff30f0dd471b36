import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { RedisLocation } from '../clients.js';

/** Runs a program that only uses a storage and closes it. Returns its exit code, or the signal that ended it. */
export async function openAndClose({ url, namespace }: RedisLocation): Promise<number | string> {
  const program = fileURLToPath(new URL('./short-program.ts', import.meta.url));
  const child = spawn(process.execPath, [...process.execArgv, program, url, namespace], {
    stdio: 'inherit',
    timeout: 120_000,
  });
  const [code, signal] = await once(child, 'exit');
  return code ?? signal;
}
