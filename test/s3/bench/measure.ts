import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { inLanes, type Measured, type Setting, type Times, timed } from '../../bench/remote-harness.js';
import { HttpProxy } from '../proxy/http-proxy.js';
import { clientOf, type Place } from '../servers/test-bucket.js';
import { CONTENDERS, type Contender } from './contenders.js';

export interface Measuring extends Omit<Setting, 'title'> {
  /** A place whose bucket no other measurement uses. */
  readonly place: Place;
  readonly contender: string;
}

export interface Figures extends Times {
  /** Requests per operation. */
  readonly requests: number;
}

const KEYS = 64;
const TEXT = 'a'.repeat(1_000);

/** Measures writes and reads of small existing contents over warm connections, then counts requests at a proxy. */
export async function measure({ place, contender, ...setting }: Measuring): Promise<Measured<Figures>> {
  const open = CONTENDERS[contender];
  if (open === undefined) throw new Error(`No contender is called ${contender}`);
  const direct = clientOf(place);
  await direct.send(new CreateBucketCommand({ Bucket: place.bucket }));
  direct.destroy();
  const proxy = await HttpProxy.start(place.endpoint ?? '');
  try {
    const times = await withContender(open, place, (one) =>
      both(one, (work) => timed(setting.operations, () => inLanes(setting, KEYS, work))),
    );
    const counts = await withContender(open, { ...place, endpoint: proxy.endpoint }, (one) =>
      both(one, async (work) => {
        proxy.forget();
        await inLanes({ ...setting, operations: KEYS }, KEYS, work);
        return { requests: proxy.seen.length / KEYS };
      }),
    );
    return { write: { ...times.write, ...counts.write }, read: { ...times.read, ...counts.read } };
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

type Work = (key: number) => Promise<unknown>;

async function both<T>(contender: Contender, of: (work: Work) => Promise<T>): Promise<{ write: T; read: T }> {
  const write = await of((key) => contender.write(nameOf(key), TEXT));
  return { write, read: await of((key) => contender.read(nameOf(key))) };
}
