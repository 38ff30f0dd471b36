import { AsyncLocalStorage } from 'node:async_hooks';
import { hostFileSystem } from '@scratchfs/host';
import { APPLICATIONS, CHANGES, RECOVERIES, RECOVERY } from './host-changes.js';
import { interceptSteps } from './host-steps.js';

/** A change in a directory that no other change uses, and the moment at which the process is killed. */
export interface Cut {
  readonly root: string;
  readonly change: string;
  /** Number of the step at which the process is killed. */
  readonly step: number;
  /** Moment at which the process dies: before the step, in the middle of it, or after it. */
  readonly phase: 'before' | 'half' | 'after';
}

/**
 * Runs its changes concurrently, each up to its step, and kills itself with SIGKILL once all of them have stopped
 * there.
 */
const cuts = JSON.parse(process.argv[2] ?? '[]') as readonly Cut[];
const underWay = new AsyncLocalStorage<{ readonly cut: Cut; steps: number }>();
/** Keeps stopped calls reachable: their file handles would otherwise be collected and closed. */
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
  // A step may fail, as unlink does on a directory: the program dies after that too.
  return stop(await (phase === 'half' && half !== undefined ? half() : run()).catch(() => undefined));
});

const changes = { ...CHANGES, ...APPLICATIONS, ...RECOVERIES };
for (const cut of cuts) {
  void underWay.run({ cut, steps: 0 }, async () => {
    const fs = hostFileSystem(cut.root);
    await changes[cut.change]?.(fs, cut.root);
    await fs.close();
    // A recovery may have fewer steps.
    if (cut.change === RECOVERY) await stop();
    console.error(`${cut.change} came to its end, without a step ${cut.step}`);
    process.exit(1);
  });
}
