import { setImmediate as nextTurn } from 'node:timers/promises';
import { ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { MemoryObjectStore, MISHAPS, type Mishap, Random, type TurnScheduler, UnrulyStore } from '@scratchfs/testkit';
import { Pool, type Worker } from '../../faults/remote/process-pool.js';
import type { Remote } from '../../faults/remote/remote.js';
import { type SharedJobs, sharedJobs } from '../../faults/remote/shared-jobs.js';

/** Name of a store in memory, and of the fault plan for its requests. */
export interface MapPlace {
  readonly name: string;
  readonly line?: string | undefined;
}

/** Maximum number of turns of the event loop that a request takes. */
const TURNS = 3;

const stores = new Map<string, MemoryObjectStore>();
const plans = new Map<string, () => Mishap>();
let count = 0;

export function freshPlace(): MapPlace {
  count += 1;
  const name = `store ${count}`;
  stores.set(name, new MemoryObjectStore());
  return { name };
}

/** Deletes a store. */
export function forget({ name }: MapPlace): void {
  stores.delete(name);
}

/** Lets requests overtake each other, in an order that a seed decides. */
function turnsOf(seed: number): TurnScheduler {
  const random = new Random(seed);
  return {
    random,
    async turn() {
      for (let left = random.below(TURNS + 1); left > 0; left--) await nextTurn();
    },
  };
}

/** The object tree of S3 over a store in memory. Every client has its own cache, and its requests take turns. */
export const mapRemote: Remote<MapPlace> = {
  patience: { request: 1_000, operation: 60_000 },

  openBackend({ name, line }, { timeoutMs, clock } = {}) {
    const store = stores.get(name);
    if (store === undefined) throw new Error(`There is no ${name}`);
    count += 1;
    const plan = line === undefined ? undefined : plans.get(line);
    const unruly = new UnrulyStore(store, turnsOf(count), plan ?? (() => 'none'));
    return new ObjectTreeBackend(unruly, { timeoutMs, clock });
  },

  async failingLine({ name }, seed, probability) {
    const random = new Random(seed);
    const line = `${name}, ${seed}`;
    let isFailing = false;
    plans.set(line, () => (isFailing && random.chance(probability) ? random.pick(MISHAPS) : 'none'));
    return {
      place: { name, line },
      begin: () => {
        isFailing = true;
      },
      end: () => {
        isFailing = false;
      },
      close: async () => {
        plans.delete(line);
      },
    };
  },
};

/** Returns workers that run their jobs in this process and share its memory. */
export function localPool(size: number): Pool<SharedJobs<MapPlace>> {
  const worker = (): Worker<SharedJobs<MapPlace>> => {
    const jobs = sharedJobs(mapRemote);
    return { run: (name, argument) => jobs[name](argument as never) as never, close: () => undefined };
  };
  return new Pool(Array.from({ length: size }, worker));
}
