import { DurableObjectStorage, type R2BucketBinding, R2Storage, type SqlObjectState } from '@scratchfs/cloudflare';
import { DurableObjectStore } from '../../packages/cloudflare/src/durable-object-store.js';
import { R2ObjectStore } from '../../packages/cloudflare/src/r2-object-store.js';
import { CASES } from './cases.js';
import { runSuite, type Subject } from './suites.js';

interface Stub {
  fetch(request: Request): Promise<Response>;
}

interface Environment {
  readonly BUCKET: R2BucketBinding;
  readonly AGENTS: Namespace;
  readonly OLD: Namespace;
}
interface Namespace {
  idFromName(name: string): unknown;
  get(id: unknown): Stub;
}

const inBucket = (bucket: R2BucketBinding): Subject => ({
  // Pages of 100 names, so that a long listing is tested with few objects.
  store: (name) => new R2ObjectStore(smallPages(bucket), name),
  storage: (name, options) => new R2Storage(bucket, { ...options, name }),
  methods: ['deleteHead'],
  listedObjects: 150,
});

const inObject = (state: SqlObjectState): Subject => ({
  store: (name) => new DurableObjectStore(state, name),
  storage: (name, options) => new DurableObjectStorage(state, { ...options, name }),
  methods: ['commit', 'watch', 'deleteHead'],
  listedObjects: 1_100,
});

function smallPages(bucket: R2BucketBinding): R2BucketBinding {
  return {
    head: (key) => bucket.head(key),
    get: (...what) => bucket.get(...what),
    put: (...what) => bucket.put(...what),
    delete: (keys) => bucket.delete(keys),
    list: (options) => bucket.list({ ...options, limit: 100 } as typeof options),
  };
}

async function respond(request: Request, subject: Subject, place: { bucket: R2BucketBinding; state?: SqlObjectState }) {
  const { pathname, searchParams } = new URL(request.url);
  const [, , what = '', name = ''] = pathname.split('/');
  const parameters = Object.fromEntries(searchParams);
  if (what === 'suite') return Response.json(await runSuite(name, subject, parameters));
  return Response.json((await CASES[what]?.({ ...place, subject, parameters })) ?? null);
}

/** A Durable Object that holds filesystems. */
export class Agent {
  readonly #state: SqlObjectState;
  readonly #bucket: R2BucketBinding;

  constructor({ storage }: { readonly storage: SqlObjectState }, { BUCKET }: Environment) {
    this.#state = storage;
    this.#bucket = BUCKET;
  }

  fetch(request: Request): Promise<Response> {
    return respond(request, inObject(this.#state), { bucket: this.#bucket, state: this.#state });
  }

  /** The runtime wants it in a class that sets an alarm. */
  alarm(): void {}
}

/** A Durable Object without SQLite. */
export class Old extends Agent {}

/** `/bucket/…` works in the bucket, `/agents/…` in a Durable Object, `/old/…` in one without SQLite. */
export default {
  async fetch(request: Request, { BUCKET, AGENTS, OLD }: Environment): Promise<Response> {
    const [, where] = new URL(request.url).pathname.split('/');
    if (where === 'bucket') return respond(request, inBucket(BUCKET), { bucket: BUCKET });
    const namespace = where === 'old' ? OLD : AGENTS;
    return namespace.get(namespace.idFromName('one')).fetch(request);
  },
};
