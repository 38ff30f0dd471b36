import type { Backend } from '@scratchfs/core';
import {
  differences,
  dumpSync,
  faultyBackend,
  ModelFileSystem,
  Random,
  randomFaults,
  Scheduler,
} from '@scratchfs/testkit';
import { client, clock, freshBackend, stateOf } from './harness.js';
import { type Event, explain, plain } from './history.js';
import { plant, plantModel, play, randomStep } from './history-steps.js';

const CLIENTS = 8;

export interface HistoryOptions {
  readonly operations?: number;
  /** Probability of a fault at each call. Default 0. */
  readonly faults?: number;
  /** Puts a bug between the clients and the storage. */
  readonly bug?: (backend: Backend, random: Random) => Backend;
}

/** The commits in the order in which they were applied. */
class Witness {
  readonly commits: Event[] = [];
  readonly current: (Event | undefined)[] = [];
  readonly #applied = new Set<string>();

  /**
   * The real storage as one client reaches it: a commit counts when it is applied here, even if the client gets no
   * reply.
   */
  watch(backend: Backend, index: number): Backend {
    return replace(backend, {
      commit: async (batch, call) => {
        const result = await backend.commit(batch, call);
        if (result.kind === 'ok' && batch.writes.length > 0 && !this.#applied.has(batch.operationId)) {
          this.#applied.add(batch.operationId);
          const event = this.current[index];
          if (event !== undefined) {
            event.commits.push(this.commits.length);
            this.commits.push(event);
          }
        }
        return result;
      },
    });
  }
}

/** Plays one history and returns the outcomes that no order of the operations explains; empty if it is linearizable. */
export async function checkHistory(seed: number, options: HistoryOptions = {}): Promise<string[]> {
  const { operations = 100, faults = 0, bug } = options;
  const scheduler = new Scheduler(seed);
  const store = freshBackend();
  await plant(await client(store));
  const model = new ModelFileSystem({ clock: clock.read });
  plantModel(model);
  const witness = new Witness();
  const events: Event[] = [];
  const random = new Random(seed);
  const work = Array.from({ length: CLIENTS }, async (_, index) => {
    const plan = faults === 0 ? () => 'none' as const : randomFaults(seed * 100 + index, faults);
    const watched = witness.watch(store, index);
    const faulty = faultyBackend(bug === undefined ? watched : bug(watched, random), plan, { scheduler });
    const fs = await client(faulty, { scheduler, timeoutMs: 1_000 });
    const choices = new Random(seed * 1_000 + index);
    for (let i = 0; i < operations; i++) {
      const step = randomStep(choices, `${index}.${i}`);
      const event: Event = {
        client: index,
        step,
        began: witness.commits.length,
        ended: 0,
        outcome: undefined,
        commits: [],
      };
      witness.current[index] = event;
      events.push(event);
      event.outcome = await play(fs, step);
      event.ended = witness.commits.length;
    }
    witness.current[index] = undefined;
  });
  try {
    await scheduler.run(Promise.all(work));
  } catch (error) {
    return [`it did not come to an end: ${String(error)}`];
  }
  const problems = explain(model, events, witness.commits);
  if (problems.length > 0) return problems;
  try {
    const last = differences(plain(await stateOf(store)), plain(dumpSync(model)));
    return last.length === 0 ? [] : [`the last state: ${last.slice(0, 3).join('; ')}`];
  } catch (error) {
    return [`the last state cannot be read: ${String(error)}`];
  }
}

export function replace(backend: Backend, change: Partial<Backend>): Backend {
  const { checkpointStore } = backend;
  return {
    capabilities: backend.capabilities,
    load: (requests, call) => backend.load(requests, call),
    commit: (batch, call) => backend.commit(batch, call),
    outcome: (operationId, call) => backend.outcome(operationId, call),
    close: async () => undefined,
    ...(checkpointStore === undefined ? {} : { checkpointStore }),
    ...change,
  };
}
