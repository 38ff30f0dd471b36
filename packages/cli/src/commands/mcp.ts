import { main } from '@scratchfs/mcp';
import type { Call, Result } from '../table/command-spec.js';

/** Runs the MCP server, which has arguments, errors, exit codes and signal handlers of its own. */
export async function run({ args, directory, interrupts }: Call): Promise<Result> {
  interrupts.release();
  process.chdir(directory);
  return { code: await main(args, ['mcp']) };
}
