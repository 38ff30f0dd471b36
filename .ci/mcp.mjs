// Starts the MCP server of this checkout. stdout belongs to the protocol, so installation and build print to stderr.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

// One child process installs and builds. The server then runs in this process, which gets the signals.
const prepare = `
  const { install } = await import(${JSON.stringify(new URL('install.mjs', import.meta.url).href)});
  await install();
  const { build } = await import(${JSON.stringify(new URL('build.mjs', import.meta.url).href)});
  process.exit(await build());
`;
const { status } = spawnSync(process.execPath, ['--input-type=module', '--eval', prepare], { stdio: ['ignore', 2, 2] });
if (status !== 0) process.exit(1);
process.env.SCRATCHFS_MCP_SCRIPT = fileURLToPath(import.meta.url);
// `npm run` changes the directory; a path argument is relative to the caller's.
if (process.env.npm_lifecycle_event === 'mcp' && process.env.INIT_CWD) process.chdir(process.env.INIT_CWD);
await import(new URL('../packages/mcp/dist/bin.js', import.meta.url).href);
