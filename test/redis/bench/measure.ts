import { Redis } from 'ioredis';
import { inLanes, type Measured, type Setting, type Times, timed } from '../../bench/remote-harness.js';
import { CONTENDERS } from './contenders.js';

export interface Measuring extends Omit<Setting, 'title'> {
  readonly url: string;
  readonly contender: string;
}

export interface Figures extends Times {
  /** CPU time of the server's main thread, in microseconds per operation. */
  readonly serverCpu: number;
}

const KEYS = 256;
/** A Buffer: ioredis turns any other Uint8Array into decimal text, three times as long here. */
const BYTES = Buffer.alloc(1_000, 0x61);

/**
 * Operations before the measurement, alternating writes and reads, so that V8 has optimized each client's code for
 * both.
 */
const WARM_UP_OPERATIONS = 30_000;
const WARM_UP_TURNS = 3;

/** Measures writes and reads of small existing contents over a warm connection. */
export async function measure(job: Measuring): Promise<Measured<Figures>> {
  const open = CONTENDERS[job.contender];
  if (open === undefined) throw new Error(`No contender is called ${job.contender}`);
  const server = new Redis(job.url);
  const contender = await open(job.url);
  try {
    for (let key = 0; key < KEYS; key++) await contender.write(key, BYTES);
    const write: Work = (key) => contender.write(key, BYTES);
    const read: Work = (key) => contender.read(key);
    for (let turn = 0; turn < WARM_UP_TURNS; turn++)
      for (const work of [write, read]) await inLanes({ ...job, operations: WARM_UP_OPERATIONS }, KEYS, work);
    return { write: await figuresOf(server, job, write), read: await figuresOf(server, job, read) };
  } finally {
    await contender.close();
    server.disconnect();
  }
}

type Work = (key: number) => Promise<unknown>;

async function figuresOf(server: Redis, job: Measuring, work: Work): Promise<Figures> {
  const before = await cpuOf(server);
  const times = await timed(job.operations, () => inLanes(job, KEYS, work));
  return { ...times, serverCpu: ((await cpuOf(server)) - before) / job.operations };
}

/** Returns the CPU time that the server's main thread has used, in microseconds. */
async function cpuOf(server: Redis): Promise<number> {
  const info = await server.info('cpu');
  const seconds = (name: string): number => Number(new RegExp(`${name}:([\\d.]+)`).exec(info)?.[1]);
  return (seconds('used_cpu_user_main_thread') + seconds('used_cpu_sys_main_thread')) * 1e6;
}
