import { type FileSystem, isStorageError, OutcomeUnknownError } from '@scratchfs/core';
import { differences, dump } from '@scratchfs/testkit';
import { clock } from '../../faults/harness.js';
import { stateAt, withClient, withPort } from '../clients.js';
import { SERVER_ERRORS } from '../proxy/random-faults.js';
import { type CommandFault, type Direction, TcpProxy } from '../proxy/tcp-proxy.js';
import { dropNamespace } from '../servers/namespaces.js';
import type { Change, Scene } from './scene.js';

/** What was done to connections, and what was found wrong. */
export interface WireReport {
  faults: number;
  /** Changes that succeeded in spite of it. */
  survived: number;
  /** Changes of which the storage could not tell what became. */
  unknown: number;
  readonly problems: string[];
}

export const emptyReport = (): WireReport => ({ faults: 0, survived: 0, unknown: 0, problems: [] });

export interface WireOptions {
  /** Every so many bytes. Default 1. */
  readonly stride?: number | undefined;
  /** Where the first cut is. Default 0. */
  readonly from?: number | undefined;
}

const TIMEOUT_MS = 1_000;
/** By then every call has ended, whatever happens to the connection. */
const SETTLED_WITHIN_MS = 30_000;
const MOST_CALLS = 60;
const LANES = 6;

/** Makes changes over connections that are spoiled. */
export class WireTrials {
  constructor(
    private readonly scene: Scene,
    private readonly report: WireReport,
  ) {}

  /** Every fault at command 0, 1, 2 … of every change, once and where asked for from then on, until it is not reached. */
  async atEveryCommand(faults: readonly CommandFault[], often: readonly boolean[] = [false, true]): Promise<void> {
    const rows = faults.flatMap((fault) => often.map((isForEver) => ({ fault, isForEver })));
    await this.#inLanes(rows, async (name, change, { fault, isForEver }) => {
      for (let at = 0; at < MOST_CALLS; at++) {
        const what = `${name}: ${JSON.stringify(fault)} at command ${at}${isForEver ? ' and ever after' : ''}`;
        const spoil = (proxy: TcpProxy): void => {
          proxy.plan = ({ index }) => (index === at || (isForEver && index > at) ? fault : 'none');
        };
        if (!(await this.#trial(name, change, spoil, at % 2 === 0, what))) break;
      }
    });
  }

  /** The connection ends after byte 0, 1, 2 … of what goes out, or of what comes in, while a change is made. */
  async atEveryByte(direction: Direction, { stride = 1, from = 0 }: WireOptions = {}): Promise<void> {
    await this.#inLanes([false, true], async (name, change, isWarm) => {
      for (let at = from; ; at += stride) {
        const what = `${name}: ${direction} cut after byte ${at}${isWarm ? ', warm' : ''}`;
        const spoil = (proxy: TcpProxy): void => proxy.cutAfter(direction, at);
        if (!(await this.#trial(name, change, spoil, isWarm, what))) break;
      }
    });
  }

  /** Every change with every row, some of them at the same time: most of a trial is waiting. */
  async #inLanes<Row>(
    rows: readonly Row[],
    work: (name: string, change: Change, row: Row) => Promise<void>,
  ): Promise<void> {
    for (const [name, change] of this.scene.changes) await this.scene.after(name, change);
    const queue = this.scene.changes.flatMap(([name, change]) => rows.map((row) => () => work(name, change, row)));
    const lane = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) await next();
    };
    await Promise.all(Array.from({ length: LANES }, lane));
  }

  /** One change under one fault; answers whether the fault was reached. */
  async #trial(
    name: string,
    change: Change,
    spoil: (proxy: TcpProxy) => void,
    isWarm: boolean,
    what: string,
  ): Promise<boolean> {
    const { report, scene } = this;
    const { before, server } = scene;
    const after = await scene.after(name, change);
    const place = await scene.copy();
    const proxy = await TcpProxy.open(server.port);
    const problem = (text: string): void => {
      if (report.problems.length < 50) report.problems.push(`${what}: ${text}`);
    };
    let isReached = false;
    const work = async (fs: FileSystem): Promise<void> => {
      if (isWarm) await dump(fs);
      else await fs.stats();
      proxy.forget();
      spoil(proxy);
      let error: unknown;
      await settled(change(fs)).catch((thrown: unknown) => {
        error = thrown;
      });
      isReached = proxy.faults > 0;
      proxy.forget();
      if (!isReached) return;
      report.faults += 1;
      // What is still on its way arrives before this does.
      await settled(fs.writeFile('/follow-up', 'works'));
      if ((await settled(fs.readText('/follow-up'))) !== 'works') problem('the follow-up operation is not there');
      await settled(fs.rm('/follow-up'));
      const now = await stateAt(place);
      const isBefore = differences(before, now).length === 0;
      const isAfter = differences(after, now).length === 0;
      if (!isBefore && !isAfter) problem(`between: ${differences(after, now).slice(0, 3).join('; ')}`);
      else if (error === undefined) {
        report.survived += 1;
        if (!isAfter) problem('it succeeded, but did not happen');
      } else if (!isStorageError(error)) problem(`an error of another kind: ${String(error)}`);
      else if (error instanceof OutcomeUnknownError) report.unknown += 1;
      else if (!isBefore) problem(`it failed with ${String(error)}, but happened`);
    };
    try {
      await withClient(withPort(place, proxy.port), work, { clock: clock.read, timeoutMs: TIMEOUT_MS });
    } catch (error) {
      problem(`afterwards: ${String(error)}`);
      isReached = proxy.faults > 0;
    } finally {
      await proxy.close();
      await dropNamespace(server.control, place.namespace);
    }
    return isReached;
  }
}

/** What a server says that cannot serve, and the ways in which a connection ends or falls silent. */
export const COMMAND_FAULTS: readonly CommandFault[] = [
  'before',
  'after',
  'hang',
  'lost',
  { delayMs: 10 },
  ...Object.values(SERVER_ERRORS).map((error) => ({ error })),
];

function settled<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`still pending after ${SETTLED_WITHIN_MS} ms`)), SETTLED_WITHIN_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
