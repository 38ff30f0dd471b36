// Starts the MCP server of this checkout. stdout belongs to the protocol: what is installed and built is told on stderr.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { root } from './lib.mjs';

const bin = join(root, 'packages', 'mcp', 'dist', 'bin.js');
if (!existsSync(bin)) {
  for (const script of ['install.mjs', 'build.mjs']) {
    const { status } = spawnSync(process.execPath, [join(root, '.ci', script)], { stdio: ['ignore', 2, 2] });
    if (status !== 0) process.exit(1);
  }
}
process.env.SCRATCHFS_MCP_SCRIPT = fileURLToPath(import.meta.url);
// `npm run` changes the directory; a path argument is relative to the caller's.
if (process.env.npm_lifecycle_event === 'mcp' && process.env.INIT_CWD) process.chdir(process.env.INIT_CWD);
await import(pathToFileURL(bin).href);
