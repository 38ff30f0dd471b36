import { CreateBucketCommand } from '@aws-sdk/client-s3';
import setup from '../global-setup.js';
import { HttpProxy, type Seen } from '../proxy/http-proxy.js';
import { clientOf, freshPlace } from '../servers/test-bucket.js';
import { CONTENDERS, type Contender } from './contenders.js';
import { type PriceList, S3_STANDARD } from './prices.js';

/** `npm run bench -- s3`: requests of typical jobs, counted at a proxy. The figures do not depend on the machine. */
const prices: PriceList = process.env.S3_PRICES === undefined ? S3_STANDARD : JSON.parse(process.env.S3_PRICES);

const tearDown = await setup();
// A run that is interrupted leaves no store behind.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void Promise.resolve(tearDown?.()).finally(() => process.exit(1)));

const FOLDERS = 10;
const FILES_EACH = 50;
const FILE = 'src/part-3/file-7.txt';

function tree(): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (let folder = 0; folder < FOLDERS; folder++)
    for (let file = 0; file < FILES_EACH; file++)
      files.set(`src/part-${folder}/file-${file}.txt`, `line of file ${file} in ${folder}\n`.repeat(50));
  return files;
}

function scattered(): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (let i = 0; i < 100; i++) files.set(`src/part-${i % FOLDERS}/file-${i >> 1}.txt`, `changed ${i}\n`.repeat(20));
  return files;
}

const JOBS: Readonly<Record<string, (contender: Contender) => Promise<unknown>>> = {
  'make a tree of 500 files': (c) => c.plant(tree()),
  'read a file, known already': (c) => c.read(FILE),
  'stat a file, known already': (c) => c.stat(FILE),
  'overwrite a small file': (c) => c.write(FILE, 'other'),
  'change 100 files at once': (c) => c.writeMany(scattered()),
  'rename a folder of 50': (c) => c.rename('src/part-1', 'src/moved'),
  'copy a folder of 50': (c) => c.copy('src/part-2', 'src/copy'),
  'remove a folder of 50': (c) => c.remove('src/copy'),
};
/** Jobs of a client with an empty cache. */
const FRESH: typeof JOBS = {
  'open and load all 500 files': (c) => c.load(),
  'keep a checkpoint of all': (c) => c.checkpoint(),
};

interface Cost {
  readonly writes: number;
  readonly reads: number;
  readonly deletes: number;
}

function costOf(seen: readonly Seen[]): Cost {
  const cost = { writes: 0, reads: 0, deletes: 0 };
  for (const { method, url } of seen) {
    if (method === 'DELETE' || (method === 'POST' && /[?&]delete\b/.test(url))) cost.deletes += 1;
    else if (method === 'HEAD' || (method === 'GET' && isObject(url))) cost.reads += 1;
    else cost.writes += 1;
  }
  return cost;
}

/** Reports whether a URL names an object. Listings are requested from the bucket itself. */
function isObject(url: string): boolean {
  return (url.split('?')[0] as string).split('/').filter((part) => part !== '').length > 1;
}

const print = ({ writes, reads, deletes }: Cost): string => {
  const dollars = (writes * prices.writes + reads * prices.reads) * 1_000;
  return `${writes} + ${reads}${deletes > 0 ? ` + ${deletes} free` : ''} (${dollars.toFixed(dollars < 10 ? 2 : 0)})`;
};

const table = new Map<string, string[]>();
let runs = 0;
for (const open of Object.values(CONTENDERS)) {
  runs += 1;
  const place = { ...freshPlace(), bucket: `bench-${process.pid}-${runs}` };
  const direct = clientOf(place);
  await direct.send(new CreateBucketCommand({ Bucket: place.bucket }));
  direct.destroy();
  const proxy = await HttpProxy.start(place.endpoint ?? '');
  const behind = { ...place, endpoint: proxy.endpoint };
  const contender = await open(behind);
  const note = (job: string): void => {
    table.set(job, [...(table.get(job) ?? []), print(costOf(proxy.seen))]);
    proxy.forget();
  };
  for (const [job, work] of Object.entries(JOBS)) {
    // The files are in the cache: a client's second read.
    if (job.endsWith('known already')) await work(contender);
    proxy.forget();
    await work(contender);
    note(job);
  }
  await contender.close();
  proxy.forget();
  const fresh = await open(behind);
  for (const [job, work] of Object.entries(FRESH)) {
    await work(fresh);
    note(job);
  }
  await fresh.close();
  await proxy.stop();
}

console.log(
  `Requests as PUT, COPY, LIST + GET, HEAD; in brackets US dollars for a million of the job at ${prices.name}, ${prices.date}.\n`,
);
console.log(`| | ${Object.keys(CONTENDERS).join(' | ')} |`);
console.log(
  `|---|${Object.keys(CONTENDERS)
    .map(() => '---:')
    .join('|')}|`,
);
for (const [job, cells] of table) console.log(`| ${job} | ${cells.join(' | ')} |`);
await tearDown?.();
process.exit(0);
