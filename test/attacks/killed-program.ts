import { hostFileSystem } from '@scratchfs/host';
import { CHANGES } from './host-changes.js';
import { interceptSteps } from './host-steps.js';

/** Makes one change to a directory of the host, and dies in the middle: before a step, after it, or half way through. */
const [root = '', change = '', at = '', phase = ''] = process.argv.slice(2);

const die = (): Promise<never> => {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => {});
};

await interceptSteps(async ({ index, run, half }) => {
  if (index !== Number(at)) return run();
  if (phase === 'before') return die();
  // A step may well fail, as unlink does on a directory: the program dies behind that too.
  await (phase === 'half' && half !== undefined ? half() : run()).catch(() => undefined);
  return die();
});
const fs = hostFileSystem(root);
await CHANGES[change]?.(fs);
await fs.close();
