import { main } from '@scratchfs/mcp';
import type { Call, Result } from '../table/command-spec.js';

/** Runs the MCP server, which has arguments, errors and exit codes of its own. */
export async function run({ args, directory }: Call): Promise<Result> {
  process.chdir(directory);
  return { code: await main(args, ['mcp']) };
}
