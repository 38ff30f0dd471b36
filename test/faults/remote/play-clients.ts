import { type Backend, isStorageError } from '@scratchfs/core';
import { type Outcome, Random } from '@scratchfs/testkit';
import { type HistoryStep, play, randomStep } from '../history-steps.js';
import { replace } from '../linearizability.js';
import { PLANTED_BUGS } from '../planted-bugs.js';
import { fileSystemOn, type Remote } from './remote.js';

export interface HistoryClients<P> {
  readonly place: P;
  /** The numbers of the clients that this process plays. */
  readonly clients: readonly number[];
  readonly seed: number;
  readonly operations: number;
  /** Probability of a fault at each request. */
  readonly faults: number;
  /** One of the planted bugs, by name. */
  readonly bug?: string | undefined;
}

/** One operation as its client saw it, with times that all processes of this machine share, in nanoseconds. */
export interface HistoryEvent {
  readonly client: number;
  readonly step: HistoryStep;
  readonly began: bigint;
  ended: bigint;
  outcome: Outcome | undefined;
  /** The versions of its commits that are known to have been applied. */
  readonly versions: (number | string)[];
  /** Batches whose outcome the client does not know. */
  readonly unsettled: Set<string>;
}

/** Jobs of a process that plays a part of a history's clients. */
export function historyJobs<P>(remote: Remote<P>) {
  return {
    /** Plays each client with its own connections. */
    async playClients(job: HistoryClients<P>): Promise<HistoryEvent[]> {
      const all = await Promise.all(job.clients.map((client) => playClient(remote, job, client)));
      return all.flat();
    },
  };
}

async function playClient<P>(remote: Remote<P>, job: HistoryClients<P>, client: number): Promise<HistoryEvent[]> {
  const { place, seed, operations, faults, bug } = job;
  const happened: HistoryEvent[] = [];
  const line = faults > 0 ? await remote.failingLine(place, seed * 100 + client, faults) : undefined;
  const { request, operation } = remote.patience;
  const backend = remote.openBackend(line?.place ?? place, { timeoutMs: line === undefined ? undefined : request });
  const watched = recording(
    backend,
    (operationId) => happened.findLast(({ unsettled }) => unsettled.has(operationId)) ?? happened.at(-1),
  );
  const planted = bug === undefined ? undefined : PLANTED_BUGS[bug];
  if (bug !== undefined && planted === undefined) throw new Error(`No bug is called ${bug}`);
  const random = new Random(seed * 1_000 + client);
  const fs = await fileSystemOn(planted === undefined ? watched : planted.bug(watched, random), {
    timeoutMs: operation,
  });
  try {
    await fs.stats();
    line?.begin();
    for (let i = 0; i < operations; i++) {
      const step = randomStep(random, `${client}.${i}`);
      const event: HistoryEvent = {
        client,
        step,
        began: process.hrtime.bigint(),
        ended: 0n,
        outcome: undefined,
        versions: [],
        unsettled: new Set(),
      };
      happened.push(event);
      event.outcome = await play(fs, step);
      event.ended = process.hrtime.bigint();
    }
    line?.end();
    for (const event of happened) for (const id of [...event.unsettled]) await watched.outcome(id);
    return happened;
  } finally {
    line?.end();
    await fs.close();
    await backend.close();
    await line?.close();
  }
}

/** Records what the storage returns for each batch, whatever the client above makes of it. */
function recording(backend: Backend, current: (operationId: string) => HistoryEvent | undefined): Backend {
  return replace(backend, {
    async commit(batch, call) {
      const { operationId, writes } = batch;
      const event = current(operationId);
      if (writes.length > 0) event?.unsettled.add(operationId);
      try {
        const result = await backend.commit(batch, call);
        event?.unsettled.delete(operationId);
        if (result.kind === 'ok' && writes.length > 0) add(event, result.version);
        return result;
      } catch (error) {
        // Any other error says that nothing has changed.
        if (isStorageError(error) && error.kind !== 'unavailable' && error.kind !== 'timeout')
          event?.unsettled.delete(operationId);
        throw error;
      }
    },
    async outcome(operationId, call) {
      const event = current(operationId);
      const result = await backend.outcome(operationId, call);
      if (result !== 'unknown') event?.unsettled.delete(operationId);
      if (typeof result === 'object' && result.kind === 'ok') add(event, result.version);
      return result;
    },
  });
}

function add(event: HistoryEvent | undefined, version: number | string): void {
  if (event?.versions.includes(version) === false) event.versions.push(version);
}
