import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { HttpProxy } from '../proxy/http-proxy.js';
import { clientOf, type Place } from '../servers/test-bucket.js';
import { CONTENDERS, type Contender } from './contenders.js';

export interface Measuring {
  /** Its bucket is this measurement's own. */
  readonly place: Place;
  readonly contender: string;
  /** Operations on the way at the same time. */
  readonly atOnce: number;
  readonly operations: number;
}

/** Of one operation. */
export interface Figures {
  /** Microseconds. */
  readonly wall: number;
  /** Microseconds of the client's process. */
  readonly cpu: number;
  readonly requests: number;
}

const KEYS = 64;
const TEXT = 'a'.repeat(1_000);

/** Writes and reads small contents that exist already, over connections that are warm; then a part of it behind a proxy that counts. */
export async function measure({
  place,
  contender,
  atOnce,
  operations,
}: Measuring): Promise<{ write: Figures; read: Figures }> {
  const open = CONTENDERS[contender];
  if (open === undefined) throw new Error(`Nobody is called ${contender}`);
  const direct = clientOf(place);
  await direct.send(new CreateBucketCommand({ Bucket: place.bucket }));
  direct.destroy();
  const proxy = await HttpProxy.start(place.endpoint ?? '');
  try {
    const timed = await withContender(open, place, (one) => both(one, (work) => timesOf(work, atOnce, operations)));
    const counted = await withContender(open, { ...place, endpoint: proxy.endpoint }, (one) =>
      both(one, async (work) => {
        proxy.forget();
        await run(work, atOnce, KEYS);
        return { requests: proxy.seen.length / KEYS };
      }),
    );
    return { write: { ...timed.write, ...counted.write }, read: { ...timed.read, ...counted.read } };
  } finally {
    await proxy.stop();
  }
}

async function withContender<T>(
  open: (place: Place) => Promise<Contender>,
  place: Place,
  work: (contender: Contender) => Promise<T>,
): Promise<T> {
  const contender = await open(place);
  try {
    await contender.plant(new Map(Array.from({ length: KEYS }, (_, key) => [nameOf(key), TEXT])));
    for (let key = 0; key < KEYS; key++) await contender.read(nameOf(key));
    return await work(contender);
  } finally {
    await contender.close();
  }
}

const nameOf = (key: number): string => `files/${key}`;

type Operation = (path: string) => Promise<unknown>;

async function both<T>(contender: Contender, of: (operation: Operation) => Promise<T>): Promise<{ write: T; read: T }> {
  const write = await of((path) => contender.write(path, TEXT));
  return { write, read: await of((path) => contender.read(path)) };
}

async function timesOf(operation: Operation, atOnce: number, operations: number): Promise<Omit<Figures, 'requests'>> {
  const before = process.cpuUsage();
  const begun = performance.now();
  await run(operation, atOnce, operations);
  const wall = ((performance.now() - begun) * 1_000) / operations;
  const { user, system } = process.cpuUsage(before);
  return { wall, cpu: (user + system) / operations };
}

async function run(operation: Operation, atOnce: number, operations: number): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < operations) await operation(nameOf(next++ % KEYS));
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}
