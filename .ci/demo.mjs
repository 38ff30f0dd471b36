import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { install } from './install.mjs';
import { root } from './lib.mjs';

// `--storage` needs packages that the demo itself does not need.
await install('@scratchfs/example-demo', { isLean: !process.argv.some((text) => text.startsWith('--storage')) });

const demo = join(root, 'examples', 'demo');
// `npm run` changes the directory; a path argument is relative to the caller's.
const cwd = process.env.INIT_CWD ?? process.cwd();
const loader = new URL('../examples/demo/node_modules/tsx/dist/loader.mjs', import.meta.url);
const child = spawn(
  process.execPath,
  [
    '--conditions=@scratchfs/source',
    '--import',
    String(loader),
    join(demo, 'src', 'main.ts'),
    ...process.argv.slice(2),
  ],
  { cwd, stdio: 'inherit' },
);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(String(error));
  process.exit(1);
});
child.on('close', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)));
