import type { S3Client } from '@aws-sdk/client-s3';
import { Random } from '@scratchfs/testkit';
import { type Change, MAX_CALL_MS, type TrialReport, tryChange } from '../../faults/remote/trial.js';
import { type Fault, HttpProxy } from '../proxy/http-proxy.js';
import { clientOf, type Place } from '../servers/test-bucket.js';
import { backendOn, fileSystemOn, type Scene } from './scene.js';

/** Faults of a single request. */
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

/** Timeout of one request, in milliseconds. A silent connection ends by it. */
const TIMEOUT_MS = 800;
/** Repetitions of a failed request. */
const RETRIES = 2;
/** Maximum number of trials in one row. */
const MOST_PLACES = 2_000;
/** Maximum number of requests per change whose responses are cut. */
const MOST_CUT = 6;
const LANES = 4;

/** A series of trials, with a plan for position 0, 1, 2 … until the change ends before that position. */
interface Row {
  readonly name: string;
  readonly change: Change;
  readonly what: string;
  readonly plan: (at: number) => (index: number) => Fault;
  readonly stride: number;
  readonly isWarm: boolean;
  /** Attempts per request by the SDK. */
  readonly attempts: number;
}

/** A proxy to the store, with its clients. */
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

/** Runs changes over failing requests. */
export class Trials {
  constructor(
    private readonly scene: Scene,
    private readonly endpoint: string,
    private readonly report: TrialReport,
  ) {}

  /**
   * Injects every fault at request 0, 1, 2 … of every change until the change ends before it: once or from then on, for
   * a client with or without a warm cache, with and without the SDK's own retries. The seed decides the order; ends
   * after `wanted` faults.
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

  /** Cuts the response to each request of each change after byte 0, `stride`, 2 × `stride` …. */
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

  /** Runs one change under one plan. Reports whether a fault was injected. */
  async #trial(lane: Lane, row: Row, at: number): Promise<boolean> {
    const { scene } = this;
    const { proxy } = lane;
    const { name, change, isWarm, attempts } = row;
    const after = await scene.after(name, change);
    const place = await scene.copy();
    const backend = backendOn(lane.client(place, attempts), place, TIMEOUT_MS, RETRIES);
    const plan = row.plan(at);
    try {
      return await tryChange(
        {
          what: `${row.what} ${at}`,
          line: proxy,
          change,
          before: scene.before,
          after,
          isWarm,
          spoil: () => {
            proxy.plan = ({ index }) => plan(index);
          },
          lend: async (work) => work(await fileSystemOn(backend, MAX_CALL_MS)),
          arrived: () => proxy.settled(),
          state: () => scene.stateAt(place),
        },
        this.report,
      );
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
