import { asyncStorage, type FileSystem, isStorageError, OutcomeUnknownError, openFileSystem } from '@scratchfs/core';
import { type ObjectStore, ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { type Dump, differences, dump, recount } from '../dump.js';
import { alteredStore } from '../stores/altered-store.js';
import { MISHAPS, type Mishap, type RequestKind, UnrulyStore } from '../stores/unruly-store.js';
import { Scheduler } from './scheduler.js';

/** Tested operations, each starting from the same tree. */
const OPERATIONS: Readonly<Record<string, (fs: FileSystem) => Promise<unknown>>> = {
  write: (fs) => fs.writeFile('/d/new', 'text'),
  overwrite: (fs) => fs.writeFile('/d/f', 'other'),
  append: (fs) => fs.appendFile('/d/f', ' more'),
  large: (fs) => fs.writeFile('/large', new Uint8Array(2_500_000).fill(7)),
  'mkdir -p': (fs) => fs.mkdir('/x/y/z', { recursive: true }),
  'rm -r': (fs) => fs.rm('/d', { recursive: true }),
  'cp -r': (fs) => fs.cp('/d', '/copy', { recursive: true }),
  rename: (fs) => fs.rename('/d', '/moved'),
  link: (fs) => fs.link('/d/f', '/second'),
  chmod: (fs) => fs.chmod('/d/f', 0o600),
  truncate: (fs) => fs.truncate('/d/f', 2),
  checkpoint: (fs) => fs.checkpoint('second'),
  rollback: (fs) => fs.rollback('first'),
  transaction: (fs) =>
    fs.transaction(async (tx) => {
      await tx.writeFile('/a', 'one');
      await tx.rm('/d/f');
      await tx.rename('/d', '/e');
    }),
  read: (fs) => fs.readText('/d/f'),
};

export interface ObjectStoreFaultsOptions {
  /** Returns a new, empty store. */
  readonly create: () => ObjectStore;
  /** Disturb every later request too. Default false. */
  readonly forever?: boolean | undefined;
  /** Test only every n-th request of an operation, for stores that take time. Default 1. */
  readonly every?: number | undefined;
}

/**
 * Runs operations of a filesystem on a store, each repeatedly, and disturbs its first, second, third … request in every
 * way of `MISHAPS`, until it has no more requests, or up to about the 60th. Afterwards the state must be the one before
 * or the one after, as the caller was told. Returns the number of faults, and what was wrong.
 */
export async function objectStoreFaults({
  create,
  forever = false,
  every = 1,
}: ObjectStoreFaultsOptions): Promise<{ readonly faults: number; readonly problems: readonly string[] }> {
  let faults = 0;
  const problems: string[] = [];
  for (const [name, operation] of Object.entries(OPERATIONS)) {
    const { before, after } = await expected(create, operation);
    for (const [offset, mishap] of MISHAPS.entries()) {
      // If requests are left out, the kinds of faults start at different ones.
      for (let at = 1 + (offset % every); ; at += every) {
        const world = worldOf(at, create());
        const found = await disturb(world, operation, { mishap, at, forever }, before, after);
        if (found === undefined) break;
        faults += 1;
        problems.push(...found.map((problem) => `${name}, request ${at} ${mishap}: ${problem}`));
        // Bounds the time that the test takes.
        if (at > 60) break;
      }
    }
  }
  return { faults, problems };
}

interface World {
  readonly scheduler: Scheduler;
  readonly store: ObjectStore;
}

/** Returns a scheduler, and a store whose requests may take real time under it. */
function worldOf(seed: number, store: ObjectStore): World {
  const scheduler = new Scheduler(seed);
  const { commit } = store;
  const timed = alteredStore(store, {
    ...(commit === undefined ? {} : { commit: (...what) => scheduler.outside(() => commit.apply(store, what)) }),
    get: (...what) => scheduler.outside(() => store.get(...what)),
    put: (...what) => scheduler.outside(() => store.put(...what)),
    delete: (...what) => scheduler.outside(() => store.delete(...what)),
    list: (...what) => scheduler.outside(() => store.list(...what)),
    readHead: (...what) => scheduler.outside(() => store.readHead(...what)),
    swapHead: (...what) => scheduler.outside(() => store.swapHead(...what)),
    // Several clients use it, one after the other.
    close: async () => undefined,
  });
  return { scheduler, store: timed };
}

async function open({ scheduler, store }: World, unruly?: UnrulyStore): Promise<[FileSystem, ObjectTreeBackend]> {
  const { timer, random } = scheduler;
  const draw = (below: number): number => random.below(below);
  const backend = new ObjectTreeBackend(unruly ?? store, { clock: () => 5, random: draw, timer, retries: 3 });
  const storage = asyncStorage(backend, { timer, random: draw, timeoutMs: 1_000_000 });
  return [await openFileSystem(storage, { clock: () => 5 }), backend];
}

async function prepare(world: World): Promise<void> {
  const [fs, backend] = await open(world);
  await fs.mkdir('/d');
  await fs.writeFile('/d/first', 'kept');
  await fs.checkpoint('first');
  await fs.writeFile('/d/f', 'some text');
  await fs.symlink('f', '/d/link');
  await backend.close();
}

async function stateOf(world: World): Promise<Dump> {
  const [fs, backend] = await open(world);
  const state = await dump(fs);
  await backend.close();
  return state;
}

async function expected(
  create: () => ObjectStore,
  operation: (fs: FileSystem) => Promise<unknown>,
): Promise<{ before: Dump; after: Dump }> {
  const world = worldOf(1, create());
  return world.scheduler.run(
    (async () => {
      await prepare(world);
      const before = await stateOf(world);
      const [fs, backend] = await open(world);
      await operation(fs);
      await backend.close();
      return { before, after: await stateOf(world) };
    })(),
  );
}

/** Returns what was wrong; undefined if the operation has fewer requests. */
async function disturb(
  world: World,
  operation: (fs: FileSystem) => Promise<unknown>,
  { mishap, at, forever }: { readonly mishap: Mishap; readonly at: number; readonly forever: boolean },
  before: Dump,
  after: Dump,
): Promise<string[] | undefined> {
  const late = new Set<Promise<void>>();
  let isOn = false;
  let requests = 0;
  const plan = (_kind: RequestKind): Mishap => {
    if (!isOn) return 'none';
    requests += 1;
    return requests === at || (forever && requests > at) ? mishap : 'none';
  };
  const run = async (): Promise<string[] | undefined> => {
    await prepare(world);
    const [fs, backend] = await open(world, new UnrulyStore(world.store, world.scheduler, plan, late));
    isOn = true;
    const outcome = await operation(fs).then(
      () => 'done',
      (error: unknown) =>
        error instanceof OutcomeUnknownError ? 'unknown' : isStorageError(error) ? 'failed' : String(error),
    );
    isOn = false;
    if (requests < at) return undefined;
    // The client continues normally.
    const problems: string[] = [];
    await fs.stat('/').catch((error: unknown) => problems.push(`afterwards: ${String(error)}`));
    while (late.size > 0) await Promise.all(late);
    const state = await stateOf(world);
    const wrong = differences({ ...state, stats: recount(state) }, state);
    if (wrong.length > 0) problems.push(`the counters are not a recount: ${wrong.join('; ')}`);
    const isBefore = differences(before, state).length === 0;
    const isAfter = differences(after, state).length === 0;
    const isRight =
      outcome === 'done' ? isAfter : outcome === 'failed' ? isBefore : outcome === 'unknown' && (isBefore || isAfter);
    if (!isRight)
      problems.push(
        `${outcome}, and the state is ${isBefore ? 'the one before' : isAfter ? 'the one after' : 'neither'}`,
      );
    await backend.close();
    return problems;
  };
  return world.scheduler.run(run());
}
