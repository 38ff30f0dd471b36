import { differences, dumpSync, ModelFileSystem } from '@scratchfs/testkit';
import { type Event, explain, isUnknown, plain } from '../history.js';
import { plant, plantModel } from '../history-steps.js';
import type { HistoryClients, HistoryEvent, historyJobs } from './play-clients.js';
import type { Pool } from './process-pool.js';
import { fileSystemOn, type Remote, stateAt } from './remote.js';

const CLIENTS = 8;

export interface SharedHistoryOptions {
  readonly operations?: number | undefined;
  readonly faults?: number | undefined;
  readonly bug?: string | undefined;
  /** Disturbs the server while the clients work, until `isOver` returns true. */
  readonly disturb?: ((isOver: () => boolean) => Promise<void>) | undefined;
}

/**
 * Plays one history with clients in all workers of the pool. Returns the outcomes that no order of the operations
 * explains.
 */
export async function checkSharedHistory<P>(
  remote: Remote<P>,
  pool: Pool<ReturnType<typeof historyJobs<P>>>,
  place: P,
  seed: number,
  { operations = 100, faults = 0, bug, disturb }: SharedHistoryOptions = {},
): Promise<string[]> {
  const backend = remote.openBackend(place);
  const fs = await fileSystemOn(backend);
  try {
    await plant(fs);
    let isOver = false;
    const disturbing = disturb?.(() => isOver);
    const job = (worker: number): HistoryClients<P> => {
      const clients = Array.from({ length: CLIENTS }, (_, client) => client);
      const mine = clients.filter((client) => client % pool.workers.length === worker);
      return { place, clients: mine, seed, operations, faults, bug };
    };
    const happened = (await pool.all('playClients', job)).flat();
    isOver = true;
    await disturbing;
    const open = happened.find(({ unsettled }) => unsettled.size > 0);
    if (open !== undefined) return [`what became of a batch of ${JSON.stringify(open.step)} cannot be told`];
    const model = new ModelFileSystem();
    plantModel(model);
    const problems = explain(model, ...inOrder(happened));
    if (problems.length > 0) return problems;
    return differences(plain(await stateAt(remote, place)), plain(dumpSync(model)))
      .slice(0, 3)
      .map((line) => `the last state: ${line}`);
  } finally {
    await fs.close();
    await backend.close();
  }
}

/** Returns the events with their positions in the order of commits, which the versions give, and that order. */
function inOrder(happened: readonly HistoryEvent[]): [events: Event[], order: Event[]] {
  const commits = happened
    .flatMap((event) => event.versions.map((version) => ({ event, at: Number(version) })))
    .sort((a, b) => a.at - b.at);
  // An operation without a reply may take effect at any later time.
  const ended = (event: HistoryEvent): bigint | undefined =>
    event.outcome === undefined || isUnknown(event.outcome) ? undefined : event.ended;
  // The last commit of an operation that had certainly ended before this one began.
  const began = (event: HistoryEvent): number =>
    commits.findLastIndex((commit) => {
      const end = ended(commit.event);
      return end !== undefined && end < event.began;
    }) + 1;
  // The first commit of an operation that certainly began after this one had ended.
  const end = (event: HistoryEvent): number => {
    const after = commits.findIndex((commit) => commit.event.began > event.ended);
    return after < 0 ? commits.length : after;
  };
  const events = new Map<HistoryEvent, Event>(
    happened.map((event) => [
      event,
      {
        client: event.client,
        step: event.step,
        outcome: event.outcome,
        began: began(event),
        ended: end(event),
        commits: [...commits.keys()].filter((index) => commits[index]?.event === event),
      },
    ]),
  );
  return [[...events.values()], commits.map(({ event }) => events.get(event) as Event)];
}
