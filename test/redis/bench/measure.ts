import { Redis } from 'ioredis';
import { CONTENDERS } from './contenders.js';

export interface Measuring {
  readonly url: string;
  readonly contender: string;
  /** Requests on the way at the same time. */
  readonly atOnce: number;
  readonly operations: number;
}

/** Microseconds an operation. */
export interface Figures {
  readonly wall: number;
  /** Of the client's process. */
  readonly cpu: number;
  /** Of the server's process. */
  readonly serverCpu: number;
}

const KEYS = 256;
/** A Buffer: of any other Uint8Array ioredis makes a text, four times as long. */
const BYTES = Buffer.alloc(1_000, 0x61);

/** Before anything is measured, by turns: so many operations that the code of all clients is compiled, and compiled anew for both kinds. */
const WARM = 30_000;
const WARM_TURNS = 3;

/** Writes and reads small contents that exist already, over a connection that is warm. */
export async function measure(job: Measuring): Promise<{ write: Figures; read: Figures }> {
  const open = CONTENDERS[job.contender];
  if (open === undefined) throw new Error(`Nobody is called ${job.contender}`);
  const server = new Redis(job.url);
  const contender = await open(job.url);
  try {
    for (let key = 0; key < KEYS; key++) await contender.write(key, BYTES);
    const write: Work = (key) => contender.write(key, BYTES);
    const read: Work = (key) => contender.read(key);
    for (let turn = 0; turn < WARM_TURNS; turn++)
      for (const work of [write, read]) await inLanes({ ...job, operations: WARM }, work);
    return { write: await timed(server, job, write), read: await timed(server, job, read) };
  } finally {
    await contender.close();
    server.disconnect();
  }
}

type Work = (key: number) => Promise<unknown>;

async function inLanes({ atOnce, operations }: Measuring, work: Work): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < operations) await work(next++ % KEYS);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

async function timed(server: Redis, job: Measuring, work: Work): Promise<Figures> {
  const { operations } = job;
  const serverBefore = await cpuOf(server);
  const before = process.cpuUsage();
  const started = performance.now();
  await inLanes(job, work);
  const wall = ((performance.now() - started) * 1_000) / operations;
  const { user, system } = process.cpuUsage(before);
  const serverCpu = ((await cpuOf(server)) - serverBefore) / operations;
  return { wall, cpu: (user + system) / operations, serverCpu };
}

/** CPU time that the server's main thread has used, in microseconds. */
async function cpuOf(server: Redis): Promise<number> {
  const info = await server.info('cpu');
  const seconds = (name: string): number => Number(new RegExp(`${name}:([\\d.]+)`).exec(info)?.[1]);
  return (seconds('used_cpu_user_main_thread') + seconds('used_cpu_sys_main_thread')) * 1e6;
}
