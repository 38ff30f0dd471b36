import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { shellCommand } from '@scratchfs/core/internal';

/**
 * Returns the command and arguments that start this program again. The program is named by the paths of its files,
 * because its name need not be on the PATH.
 * @param words words before the arguments, if it is a command of another program
 */
export function program(words: readonly string[]): { readonly command: string; readonly args: readonly string[] } {
  const script = process.env['SCRATCHFS_MCP_SCRIPT'] ?? realpathSync(process.argv[1] ?? '');
  return { command: process.execPath, args: [script, ...words] };
}

/** Returns the command that prints the help, by the name of the program if it was started by its name. */
export function helpCommand(words: readonly string[]): string {
  const name = basename(process.argv[1] ?? '');
  if (name === 'scratchfs' || name === 'scratchfs-mcp') return [name, ...words, '--help'].join(' ');
  const { command, args } = program(words);
  return shellCommand([command, ...args, '--help']);
}
