import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { install } from './install.mjs';
import { root } from './lib.mjs';

// The command line on the sources. tsx is a tool of the repository, so everything is installed.
await install();

// `npm run` changes the directory; the command works in the caller's.
const cwd = process.env.INIT_CWD ?? process.cwd();
const loader = new URL('../node_modules/tsx/dist/loader.mjs', import.meta.url);
const program = join(root, 'packages', 'cli', 'src', 'bin.ts');
const child = spawn(
  process.execPath,
  ['--conditions=@scratchfs/source', '--import', String(loader), program, ...process.argv.slice(2)],
  // `scratchfs mcp` names commands to run later, such as `approve`: they start here too.
  { cwd, stdio: 'inherit', env: { ...process.env, SCRATCHFS_MCP_SCRIPT: fileURLToPath(import.meta.url) } },
);
// The terminal sends Ctrl-C to both; the command decides.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.on('error', (error) => {
  console.error(String(error));
  process.exit(1);
});
child.on('close', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)));
