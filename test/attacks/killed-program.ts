import { AsyncLocalStorage } from 'node:async_hooks';
import { hostFileSystem } from '@scratchfs/host';
import { CHANGES } from './host-changes.js';
import { interceptSteps } from './host-steps.js';

/** A change to a directory of its own, and where it is cut short: before a step, after it, or half way through. */
export interface Cut {
  readonly root: string;
  readonly change: string;
  readonly step: number;
  readonly phase: 'before' | 'half' | 'after';
}

/** Makes its changes at the same time, each up to its step, and dies (kill -9) once all of them are in the middle. */
const cuts = JSON.parse(process.argv[2] ?? '[]') as readonly Cut[];
const underWay = new AsyncLocalStorage<{ readonly cut: Cut; steps: number }>();
/** What nobody holds would be collected, and its files closed. */
const stopped: unknown[] = [];

const stop = (result?: unknown): Promise<never> =>
  new Promise((...ends) => {
    stopped.push([result, ends]);
    if (stopped.length === cuts.length) process.kill(process.pid, 'SIGKILL');
  });

await interceptSteps(async ({ run, half }) => {
  const change = underWay.getStore();
  if (change === undefined || change.steps++ !== change.cut.step) return run();
  const { phase } = change.cut;
  if (phase === 'before') return stop();
  // A step may well fail, as unlink does on a directory: the program dies behind that too.
  return stop(await (phase === 'half' && half !== undefined ? half() : run()).catch(() => undefined));
});

for (const cut of cuts) {
  void underWay.run({ cut, steps: 0 }, async () => {
    const fs = hostFileSystem(cut.root);
    await CHANGES[cut.change]?.(fs);
    await fs.close();
    console.error(`${cut.change} came to its end, without a step ${cut.step}`);
    process.exit(1);
  });
}
