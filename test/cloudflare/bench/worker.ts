import type { R2BucketBinding, SqlObjectState } from '@scratchfs/cloudflare';
import { type Contender, contenders } from './contenders.js';

interface Environment {
  readonly BUCKET: R2BucketBinding;
  readonly AGENTS: {
    idFromName(name: string): unknown;
    get(id: unknown): { fetch(request: Request): Promise<Response> };
  };
}

const FOLDERS = 10;
const FILES_EACH = 50;
const FILE = '/part-3/file-7.txt';

const tree = Array.from({ length: FOLDERS * FILES_EACH }, (_, i): [string, string] => [
  `/part-${i % FOLDERS}/file-${Math.floor(i / FOLDERS)}.txt`,
  `line of file ${i}\n`.repeat(50),
]);

/** Jobs on a tree of 500 files; `i` counts the repetitions. */
const JOBS: Readonly<Record<string, (contender: Contender, i: number) => Promise<unknown> | undefined>> = {
  'overwrite a small file': (c, i) => c.write(FILE, `other ${i}`),
  'read a file': (c) => c.read(FILE),
  'stat a file': (c) => c.stat(FILE),
  'list a folder of 50': (c) => c.list('/part-4'),
  'change 100 files at once': (c, i) => c.writeMany(tree.slice(0, 100).map(([path]) => [path, `changed ${i}`])),
  'rename a folder of 50': (c, i) => (i % 2 === 0 ? c.rename('/part-1', '/moved') : c.rename('/moved', '/part-1')),
  'keep a checkpoint of all': (c) => c.checkpoint?.(),
};

/** Counts of what is charged: for a bucket requests of class A, class B, and free ones; for a Durable Object rows. */
const counts: Record<string, number> = {};
const add = (what: string, number = 1): void => {
  counts[what] = (counts[what] ?? 0) + number;
};

function countedBucket(bucket: R2BucketBinding): R2BucketBinding {
  const counted =
    <A extends unknown[], R>(what: string, send: (...given: A) => R) =>
    (...given: A): R => {
      add(what);
      return send(...given);
    };
  return {
    head: counted('B', (key) => bucket.head(key)),
    get: counted('B', (...given: Parameters<R2BucketBinding['get']>) => bucket.get(...given)),
    put: counted('A', (...given: Parameters<R2BucketBinding['put']>) => bucket.put(...given)),
    list: counted('A', (options) => bucket.list(options)),
    delete: counted('free', (keys) => bucket.delete(keys)),
  };
}

function countedState(state: SqlObjectState): SqlObjectState {
  return {
    transactionSync: (work) => state.transactionSync(work),
    sql: {
      exec: (...given) => {
        const cursor = state.sql.exec(...given) as ReturnType<SqlObjectState['sql']['exec']> & {
          readonly rowsRead: number;
          readonly rowsWritten: number;
        };
        return {
          toArray: () => {
            const rows = cursor.toArray();
            add('read', cursor.rowsRead);
            add('written', cursor.rowsWritten);
            return rows;
          },
        };
      },
    },
  };
}

type Contenders = Promise<Record<string, Contender>>;

/** `?contender=…&job=…&times=…` runs a job; without a contender, the names of all are returned. */
async function respond(request: Request, all: Contenders): Promise<Response> {
  const { searchParams } = new URL(request.url);
  const found = await all;
  const contender = found[searchParams.get('contender') ?? ''];
  if (contender === undefined) return Response.json({ contenders: Object.keys(found), jobs: Object.keys(JOBS) });
  const job = searchParams.get('job') ?? '';
  if (job === 'keep a checkpoint of all' && contender.checkpoint === undefined) return Response.json(null);
  if (job === 'plant') await contender.writeMany(tree);
  // The client knows the tree already.
  else for (const part of [1, 3, 4]) await contender.list(`/part-${part}`);
  if (job !== 'plant') await contender.read(FILE);
  for (const what of Object.keys(counts)) delete counts[what];
  for (let i = 0; i < Number(searchParams.get('times')); i++) await JOBS[job]?.(contender, i);
  return Response.json(counts);
}

export class Agent {
  readonly #contenders: Contenders;

  constructor({ storage }: { readonly storage: SqlObjectState }, { BUCKET }: Environment) {
    this.#contenders = contenders(BUCKET, countedState(storage));
  }

  fetch(request: Request): Promise<Response> {
    return respond(request, this.#contenders);
  }
}

export default {
  fetch(request: Request, { BUCKET, AGENTS }: Environment): Promise<Response> {
    // In a Worker, no storage may be shared by requests.
    if (new URL(request.url).pathname === '/bucket')
      return respond(request, contenders(countedBucket(BUCKET), undefined));
    return AGENTS.get(AGENTS.idFromName('one')).fetch(request);
  },
};
