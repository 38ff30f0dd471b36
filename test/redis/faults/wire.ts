import { clock } from '../../faults/harness.js';
import { type Change, type TrialReport, tryChange } from '../../faults/remote/trial.js';
import { stateAt, withClient, withPort } from '../clients.js';
import { SERVER_ERRORS } from '../proxy/random-faults.js';
import { type CommandFault, type Direction, TcpProxy } from '../proxy/tcp-proxy.js';
import { dropNamespace } from '../servers/namespaces.js';
import type { Scene } from './scene.js';

export interface WireOptions {
  /** Distance between two cuts, in bytes. Default 1. */
  readonly stride?: number | undefined;
  /** Byte of the first cut. Default 0. */
  readonly from?: number | undefined;
}

/** Timeout of one request, in milliseconds. A silent connection ends by it. */
const TIMEOUT_MS = 1_000;
const MAX_CALLS = 60;
const LANES = 6;

/** Runs changes over faulty connections. */
export class WireTrials {
  constructor(
    private readonly scene: Scene,
    private readonly report: TrialReport,
    private readonly timeoutMs = TIMEOUT_MS,
  ) {}

  /**
   * Injects each fault at command 0, 1, 2 … of each change, once or from that command on, until the change ends before
   * the command.
   */
  async atEveryCommand(faults: readonly CommandFault[], often: readonly boolean[] = [false, true]): Promise<void> {
    const rows = faults.flatMap((fault) => often.map((isForEver) => ({ fault, isForEver })));
    await this.#inLanes(rows, async (name, change, { fault, isForEver }) => {
      for (let at = 0; at < MAX_CALLS; at++) {
        const what = `${name}: ${JSON.stringify(fault)} at command ${at}${isForEver ? ' and ever after' : ''}`;
        const spoil = (proxy: TcpProxy): void => {
          proxy.plan = ({ index }) => (index === at || (isForEver && index > at) ? fault : 'none');
        };
        if (!(await this.#trial(name, change, spoil, at % 2 === 0, what))) break;
      }
    });
  }

  /** Cuts the connection after byte 0, 1, 2 … of the requests or of the replies while a change runs. */
  async atEveryByte(direction: Direction, { stride = 1, from = 0 }: WireOptions = {}): Promise<void> {
    await this.#inLanes([false, true], async (name, change, isWarm) => {
      for (let at = from; ; at += stride) {
        const what = `${name}: ${direction} cut after byte ${at}${isWarm ? ', warm' : ''}`;
        const spoil = (proxy: TcpProxy): void => proxy.cutAfter(direction, at);
        if (!(await this.#trial(name, change, spoil, isWarm, what))) break;
      }
    });
  }

  /** Runs every change with every row, several concurrently: most of a trial is waiting. */
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

  /** Runs one change under one fault. Reports whether the fault was reached. */
  async #trial(
    name: string,
    change: Change,
    spoil: (proxy: TcpProxy) => void,
    isWarm: boolean,
    what: string,
  ): Promise<boolean> {
    const { before, server } = this.scene;
    const after = await this.scene.after(name, change);
    const place = await this.scene.copy();
    const line = await TcpProxy.open(server.port);
    const options = { clock: clock.read, timeoutMs: this.timeoutMs };
    try {
      return await tryChange(
        {
          what,
          line,
          change,
          before,
          after,
          isWarm,
          spoil: () => spoil(line),
          lend: (work) => withClient(withPort(place, line.port), work, options),
          state: () => stateAt(place),
        },
        this.report,
      );
    } finally {
      await line.close();
      await dropNamespace(server.control, place.namespace);
    }
  }
}

/** Errors of a server that cannot serve, and the ways in which a connection ends or falls silent. */
export const COMMAND_FAULTS: readonly CommandFault[] = [
  'before',
  'after',
  'hang',
  'lost',
  { delayMs: 10 },
  ...Object.values(SERVER_ERRORS).map((error) => ({ error })),
];
