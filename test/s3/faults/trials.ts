import type { S3Client } from '@aws-sdk/client-s3';
import { isStorageError, OutcomeUnknownError } from '@scratchfs/core';
import { differences, dump, Random } from '@scratchfs/testkit';
import { type Fault, HttpProxy } from '../proxy/http-proxy.js';
import { clientOf, type Place } from '../servers/test-bucket.js';
import { backendOn, type Change, fileSystemOn, type Scene } from './scene.js';

/** What was done to requests, and what was found wrong. */
export interface TrialReport {
  faults: number;
  /** Changes that succeeded in spite of it. */
  survived: number;
  /** Changes of which the storage could not tell what became. */
  unknown: number;
  readonly problems: string[];
}

export const emptyReport = (): TrialReport => ({ faults: 0, survived: 0, unknown: 0, problems: [] });

/** The ways in which a request may fail, each of which passes. */
export const ALL_FAULTS: readonly Fault[] = [
  'dropped',
  'done and dropped',
  'silence',
  'done and silence',
  'twice',
  'late',
  'done and 500',
  'cut',
  'flipped',
  409,
  412,
  500,
  503,
  { delayMs: 10 },
];

/** Of a request: silence is over then. */
const TIMEOUT_MS = 400;
const RETRIES = 2;
/** By then every call has ended, whatever happens to the requests. */
const SETTLED_WITHIN_MS = 30_000;
/** In one row. */
const MOST_PLACES = 2_000;
/** Requests of a change whose answers are cut. */
const MOST_CUT = 6;
const LANES = 4;

/** One kind of trial, with a plan for each place in which something may befall it: 0, 1, 2 … until that is not reached. */
interface Row {
  readonly name: string;
  readonly change: Change;
  readonly what: string;
  readonly plan: (at: number) => (index: number) => Fault;
  readonly stride: number;
  readonly isWarm: boolean;
  /** How often the SDK sends a request by itself. */
  readonly attempts: number;
}

/** A way to the store that can be spoiled. */
class Lane {
  readonly #clients = new Map<number, S3Client>();

  private constructor(readonly proxy: HttpProxy) {}

  static async open(endpoint: string): Promise<Lane> {
    return new Lane(await HttpProxy.start(endpoint));
  }

  client(place: Place, attempts: number): S3Client {
    let client = this.#clients.get(attempts);
    if (client === undefined) {
      client = clientOf({ ...place, endpoint: this.proxy.endpoint }, { maxAttempts: attempts });
      this.#clients.set(attempts, client);
    }
    return client;
  }

  async close(): Promise<void> {
    for (const client of this.#clients.values()) client.destroy();
    await this.proxy.stop();
  }
}

/** Makes changes over requests that fail. */
export class Trials {
  constructor(
    private readonly scene: Scene,
    private readonly endpoint: string,
    private readonly report: TrialReport,
  ) {}

  /**
   * Every fault at request 0, 1, 2 … of every change until it is not reached: once or from then on, by a client that knows the tree or
   * does not, with and without the SDK's own retries; in an order that the seed says, until so many faults were done.
   */
  async atEveryRequest(faults: readonly Fault[], seed: number, wanted: number): Promise<void> {
    const rows: Row[] = [];
    for (const [name, change] of this.scene.changes)
      for (const fault of faults)
        for (const isForEver of [false, true])
          for (const isWarm of [false, true])
            for (const attempts of [1, 3]) {
              const plan: Row['plan'] = (at) => (index) => (index === at || (isForEver && index > at) ? fault : 'none');
              const what = `${name}${isWarm ? ', warm' : ''}, sent ${attempts} times: ${JSON.stringify(fault)}${isForEver ? ' for ever' : ''}, request`;
              rows.push({ name, change, what, plan, stride: 1, isWarm, attempts });
            }
    await this.#inLanes(shuffled(rows, seed), wanted);
  }

  /** The answer to each request of each change ends after byte 0, 1, 2 …, or after some of these. */
  async atEveryByte(stride: number): Promise<void> {
    const rows: Row[] = [];
    for (const [name, change] of this.scene.changes)
      for (let request = 0; request < MOST_CUT; request++) {
        const plan: Row['plan'] = (at) => (index) => (index === request ? { cutAt: at } : 'none');
        const what = `${name}: the answer to request ${request} cut after byte`;
        rows.push({ name, change, what, plan, stride, isWarm: request % 2 === 0, attempts: 1 });
      }
    await this.#inLanes(rows, Infinity);
  }

  async #inLanes(rows: readonly Row[], wanted: number): Promise<void> {
    const queue = [...rows];
    const work = async (): Promise<void> => {
      const lane = await Lane.open(this.endpoint);
      try {
        for (let row = queue.shift(); row !== undefined; row = queue.shift())
          for (let at = 0; at < MOST_PLACES * row.stride && this.report.faults < wanted; at += row.stride)
            if (!(await this.#trial(lane, row, at))) break;
      } finally {
        await lane.close();
      }
    };
    await Promise.all(Array.from({ length: LANES }, work));
  }

  /** One change under one plan; answers whether anything befell it. */
  async #trial(lane: Lane, row: Row, at: number): Promise<boolean> {
    const { report, scene } = this;
    const { proxy } = lane;
    const { name, change, isWarm, attempts } = row;
    const after = await scene.after(name, change);
    const place = await scene.copy();
    const problem = (text: string): void => {
      if (report.problems.length < 50) report.problems.push(`${row.what} ${at}: ${text}`);
    };
    const backend = backendOn(lane.client(place, attempts), place, TIMEOUT_MS, RETRIES);
    try {
      const fs = await fileSystemOn(backend, SETTLED_WITHIN_MS);
      await (isWarm ? dump(fs) : fs.stats());
      proxy.forget();
      const plan = row.plan(at);
      proxy.plan = ({ index }) => plan(index);
      let error: unknown;
      await settled(change(fs)).catch((thrown: unknown) => {
        error = thrown;
      });
      const isReached = proxy.faults > 0;
      proxy.forget();
      if (!isReached) return false;
      report.faults += 1;
      await proxy.settled();
      // What is still on its way arrives before this does.
      await settled(fs.writeFile('/follow-up', 'works'));
      if ((await settled(fs.readText('/follow-up'))) !== 'works') problem('the follow-up operation is not there');
      await settled(fs.rm('/follow-up'));
      const now = await scene.stateAt(place);
      const isBefore = differences(scene.before, now).length === 0;
      const isAfter = differences(after, now).length === 0;
      if (!isBefore && !isAfter) problem(`between: ${differences(after, now).slice(0, 3).join('; ')}`);
      else if (error === undefined) {
        report.survived += 1;
        if (!isAfter) problem('it succeeded, but did not happen');
      } else if (!isStorageError(error)) problem(`an error of another kind: ${String(error)}`);
      else if (error instanceof OutcomeUnknownError) report.unknown += 1;
      else if (!isBefore) problem(`it failed with ${String(error)}, but happened`);
      return true;
    } catch (error) {
      problem(`afterwards: ${String(error)}`);
      return proxy.faults > 0;
    } finally {
      proxy.forget();
      await backend.close();
    }
  }
}

function shuffled<T>(items: readonly T[], seed: number): T[] {
  const random = new Random(seed);
  const rest = [...items];
  return Array.from({ length: items.length }, () => rest.splice(random.below(rest.length), 1)[0] as T);
}

function settled<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`still pending after ${SETTLED_WITHIN_MS} ms`)), SETTLED_WITHIN_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
