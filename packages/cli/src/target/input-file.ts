import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Call } from '../table/command-spec.js';
import { readStandardInput } from './standard-input.js';

/** Reads a file of the disk; `-` is standard input. */
export function readInput(call: Call, file: string): Promise<Uint8Array> {
  if (file === '-') return readStandardInput(call, 'Pipe the file into the command.');
  return readFile(resolve(call.directory, file), { signal: call.signal });
}
