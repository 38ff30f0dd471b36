import { median } from './median.js';

export interface Setting {
  readonly title: string;
  /** Operations in flight at the same time. */
  readonly atOnce: number;
  readonly operations: number;
}

/** Microseconds per operation. */
export interface Times {
  readonly wall: number;
  /** CPU time of the client's process. */
  readonly cpu: number;
}

/** Figures of one operation, for writes and for reads. */
export interface Measured<F extends Times> {
  readonly write: F;
  readonly read: F;
}

/** Calls `work` `operations` times, with keys from 0 to `keys - 1` in turn. */
export async function inLanes(
  { atOnce, operations }: Omit<Setting, 'title'>,
  keys: number,
  work: (key: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < operations) await work(next++ % keys);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

export async function timed(operations: number, run: () => Promise<void>): Promise<Times> {
  const before = process.cpuUsage();
  const started = performance.now();
  await run();
  const wall = ((performance.now() - started) * 1_000) / operations;
  const { user, system } = process.cpuUsage(before);
  return { wall, cpu: (user + system) / operations };
}

export interface Comparison<F extends Times> {
  /** Printed first, before the number of rounds. */
  readonly title: string;
  readonly contenders: readonly string[];
  readonly settings: readonly Setting[];
  /** Measures one contender in a process of its own. */
  readonly measure: (contender: string, setting: Setting) => Promise<Measured<F>>;
  /** Printed columns: title, figure and decimal places. */
  readonly columns: readonly (readonly [title: string, figure: keyof F, decimals: number])[];
  /** Contenders that the others are compared with; the fastest of a group counts. */
  readonly baselines: readonly (readonly [title: string, contenders: readonly string[]])[];
}

/**
 * Measures all contenders one after the other, in rounds that start with a different one each time, and prints medians.
 */
export async function compare<F extends Times>(comparison: Comparison<F>, rounds: number): Promise<void> {
  const { title, contenders, settings, measure } = comparison;
  console.log(`\n${title}, ${rounds} rounds, medians; µs per operation.`);
  for (const setting of settings) {
    const results = new Map<string, Measured<F>[]>(contenders.map((name) => [name, []]));
    for (let round = 0; round < rounds; round++) {
      for (let i = 0; i < contenders.length; i++) {
        const name = contenders[(i + round) % contenders.length] as string;
        results.get(name)?.push(await measure(name, setting));
      }
    }
    for (const kind of ['write', 'read'] as const) {
      print(comparison, `${setting.title}, ${kind}`, (name, figure) =>
        median((results.get(name) ?? []).map((measured) => measured[kind][figure] as number)),
      );
    }
  }
}

function print<F extends Times>(
  { contenders, columns, baselines }: Comparison<F>,
  title: string,
  figureOf: (contender: string, figure: keyof F) => number,
): void {
  const head = columns.map(([column]) => column.padStart(9)).join('');
  const shares = baselines.map(([column]) => `of ${column}`.padStart(13)).join('');
  console.log(`\n${title.padEnd(22)} ${head}   operations/s${shares}`);
  for (const name of contenders) {
    const wall = figureOf(name, 'wall');
    const cells = columns.map(([, figure, decimals]) => figureOf(name, figure).toFixed(decimals).padStart(9));
    const shares = baselines.map(([, names]) => {
      const fastest = Math.min(...names.map((one) => figureOf(one, 'wall')));
      return `${Math.round((100 * fastest) / wall)}%`.padStart(13);
    });
    console.log(
      `  ${name.padEnd(20)} ${cells.join('')} ${String(Math.round(1e6 / wall)).padStart(14)}${shares.join('')}`,
    );
  }
}
