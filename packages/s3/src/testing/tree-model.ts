import {
  asyncStorage,
  type CallOptions,
  type Checkpoint,
  type FileSystem,
  isStorageError,
  OutcomeUnknownError,
  openFileSystem,
} from '@scratchfs/core';
import { type ObjectStore, ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { MemoryObjectStore, MISHAPS, Scheduler, UnrulyStore } from '@scratchfs/testkit';
import { isSame, partOf, randomChange, type State, stateOf } from './random-change.js';

const CLIENTS = 3;
const STEPS = 14;
const COLLECTIONS = 4;
const MOST_FORKS = 4;
const MISHAP_RATE = 0.15;
const ABORT_RATE = 0.1;
/** Milliseconds of simulated time within which work is aborted, if it is. */
const MOST_MS = 60;
/** Milliseconds of simulated time within which a garbage collection is aborted, if it is. */
const MOST_COLLECTING_MS = 200;
const TRIES = 200;

export interface TreeRun {
  readonly problems: readonly string[];
  readonly changes: number;
  readonly forks: number;
  readonly rollbacks: number;
  /** Number of objects that collectors deleted. */
  readonly deleted: number;
}

/** A part that one client changes alone: a directory of the filesystem, or a fork. */
interface Line {
  readonly fs: FileSystem;
  readonly backend: ObjectTreeBackend;
  readonly top: string;
  /** Time at which its fork was requested; undefined for the filesystem itself. */
  readonly forkedAt: number | undefined;
  /** Checkpoints of the fork; those of the filesystem itself are shared. */
  readonly kept: Kept[];
  /** The last is the current one. */
  readonly states: State[];
  /** State expected once the change in progress has been applied. */
  pending: State | undefined;
}

interface Kept {
  readonly checkpoint: Checkpoint;
  /** Possible contents: for each line, its directory and all states that it had while the checkpoint was made. */
  possible: readonly Possible[];
}

interface Possible {
  readonly top: string;
  readonly states: readonly State[];
}

type Told<T> = { readonly kind: 'done'; readonly value: T } | { readonly kind: 'not done' | 'unknown' };

/**
 * Clients with their own caches change, checkpoint, roll back and fork a filesystem and its forks, and other clients
 * collect garbage. Requests are refused, get lost, come late or twice. The seed determines the order. Each result is
 * compared with the model immediately, and what a new client reads is compared in the end. `spoil` alters the
 * collectors' store.
 */
export async function runTreeModel(
  seed: number,
  spoil: (store: ObjectStore) => ObjectStore = (store) => store,
): Promise<TreeRun> {
  const scheduler = new Scheduler(seed);
  const { random, timer } = scheduler;
  const store = new MemoryObjectStore();
  const late = new Set<Promise<void>>();
  const problems: string[] = [];
  const counts = { changes: 0, forks: 0, rollbacks: 0, deleted: 0 };
  const mains: Line[] = [];
  const kept: Kept[] = [];
  /** Names of checkpoints that may or may not exist. */
  const doubtful = new Set<string>();
  /** Ages of the forks that collectors counted as abandoned. A collector's own forks are not counted. */
  const forgettings: { readonly ms: number; readonly by: ObjectTreeBackend }[] = [];
  let rate = 0;
  let isRollingBack = false;
  let busy = 0;
  let count = 0;

  const draw = (below: number): number => random.below(below);
  const clock = (): number => scheduler.now;
  const plan = () => (random.chance(rate) ? random.pick([...MISHAPS, 'refused' as const]) : 'none');
  const network = new UnrulyStore(store, scheduler, plan, late);

  const backendOn = (on: ObjectStore = network): ObjectTreeBackend =>
    new ObjectTreeBackend(on, {
      clock,
      random: draw,
      timer,
      retries: 4,
      maxCacheBytes: random.pick([0, 2_000, 1_000_000]),
    });

  const openOn = (backend: ObjectTreeBackend): Promise<FileSystem> =>
    openFileSystem(asyncStorage(backend, { timer, random: draw, timeoutMs: 1_000_000, retries: 2 }), { clock });

  const now = ({ states }: Line): State => states.at(-1) ?? new Map();

  function mayBeLost({ forkedAt, backend }: Line): boolean {
    if (forkedAt === undefined) return false;
    return forgettings.some(({ ms, by }) => by !== backend && forkedAt + ms <= scheduler.now);
  }

  /** Runs work that may be aborted or fail as a store does, and returns its outcome. Throws any other failure. */
  async function attempt<T>(work: (options: CallOptions) => Promise<T>, withinMs = MOST_MS): Promise<Told<T>> {
    const controller = new AbortController();
    const ended = new AbortController();
    if (random.chance(ABORT_RATE))
      void timer.sleep(random.below(withinMs), ended.signal).then(() => controller.abort('enough'));
    try {
      return { kind: 'done', value: await work({ signal: controller.signal }) };
    } catch (error) {
      if (error instanceof OutcomeUnknownError && !isLost(error.cause)) return { kind: 'unknown' };
      if (error === 'enough' || (isStorageError(error) && !isLost(error))) return { kind: 'not done' };
      throw error;
    } finally {
      ended.abort();
    }
  }

  /** Repeats work that the store sometimes refuses. */
  async function persist<T>(work: () => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries++) {
      try {
        return await work();
      } catch (error) {
        if (!isStorageError(error) || isLost(error) || tries === TRIES) throw error;
      }
    }
  }

  /** Waits until no earlier request of the client can take effect any more. Returns the state under `whole`. */
  async function settled({ fs, top }: Line, whole = top): Promise<State> {
    await persist(() => fs.utimes(top === '' ? '/' : top, 0, ++count));
    return persist(() => stateOf(fs, whole));
  }

  async function change(line: Line): Promise<void> {
    const before = now(line);
    const { run, after } = randomChange(random, line.top, before, `${++count};`);
    line.pending = after;
    const told = await attempt((options) => run(line.fs, options));
    counts.changes += 1;
    const state = told.kind === 'done' ? after : await settled(line);
    if (isSame(state, after) && told.kind !== 'not done') line.states.push(after);
    else if (!isSame(state, before)) problems.push(`a change that is ${told.kind} has left something else`);
    line.pending = undefined;
  }

  /**
   * Starts watching a line of a fork, or all lines of the filesystem itself. The returned function returns their states
   * since then.
   */
  function watch(line: Line): () => Possible[] {
    const begun = (line.forkedAt === undefined ? mains : [line]).map((one) => ({ one, from: one.states.length - 1 }));
    return () =>
      begun.map(({ one, from }) => ({
        top: one.top,
        states: [...one.states.slice(from), ...(one.pending === undefined ? [] : [one.pending])],
      }));
  }

  function isPossible(state: State, possible: readonly Possible[]): boolean {
    return possible.every(({ top, states }) => states.some((one) => isSame(partOf(state, top), one)));
  }

  async function keep(line: Line): Promise<void> {
    const name = `kept ${++count}`;
    const seen = watch(line);
    const told = await attempt((options) => line.fs.checkpoint(name, options));
    if (told.kind === 'done') line.kept.push({ checkpoint: told.value, possible: seen() });
    else if (told.kind === 'unknown') doubtful.add(name);
  }

  async function drop(line: Line): Promise<void> {
    const [one] = line.kept.splice(random.below(line.kept.length + 1), 1);
    if (one === undefined) return;
    const told = await attempt((options) => line.fs.drop(one.checkpoint, options));
    if (told.kind === 'not done') line.kept.push(one);
    else if (told.kind === 'unknown') doubtful.add(one.checkpoint.name ?? '');
  }

  async function rollback(line: Line): Promise<void> {
    if (line.kept.length === 0) return;
    const one = random.pick(line.kept);
    const lines = line.forkedAt === undefined ? mains : [line];
    const before = lines.map((each) => ({ top: each.top, states: [now(each)] }));
    const told = await attempt((options) => line.fs.rollback(one.checkpoint, options));
    const state = await settled(line, line.forkedAt === undefined ? '' : line.top);
    if (told.kind !== 'done' && isPossible(state, before)) return;
    if (told.kind === 'not done' || !isPossible(state, one.possible)) {
      problems.push(`a rollback that is ${told.kind} has left something else`);
      return;
    }
    counts.rollbacks += 1;
    for (const each of lines) each.states.push(partOf(state, each.top));
    one.possible = lines.map((each) => ({ top: each.top, states: [now(each)] }));
  }

  async function fork(line: Line, forks: Line[]): Promise<void> {
    const forkedAt = scheduler.now;
    const seen = watch(line);
    const told = await attempt((options) => line.fs.fork(options));
    if (told.kind !== 'done') return;
    const possible = seen();
    const made: Line = { ...line, fs: told.value, top: '', forkedAt, kept: [], states: [], pending: undefined };
    try {
      const state = await persist(() => stateOf(made.fs, ''));
      if (!isPossible(state, possible)) problems.push('a fork begins with something else');
      made.states.push(state);
    } catch (error) {
      if (!isLost(error) || !mayBeLost(made)) throw error;
      return;
    }
    counts.forks += 1;
    forks.push(made);
  }

  async function collect(backend: ObjectTreeBackend): Promise<void> {
    const olderThanMs = random.pick([0, 0, 30]);
    const forksOlderThanMs = random.chance(0.1) ? 100 + random.below(2_000) : undefined;
    if (forksOlderThanMs !== undefined) forgettings.push({ ms: forksOlderThanMs, by: backend });
    const told = await attempt(
      (options) => backend.collectGarbage({ ...options, olderThanMs, forksOlderThanMs }),
      MOST_COLLECTING_MS,
    );
    if (told.kind === 'done') counts.deleted += told.value.deleted;
  }

  /** Runs work while no other client changes the filesystem, as rollbacks need it. */
  async function alone(work: () => Promise<void>): Promise<void> {
    while (isRollingBack) await scheduler.turn('rollback');
    isRollingBack = true;
    try {
      while (busy > 0) await scheduler.turn('others');
      await work();
    } finally {
      isRollingBack = false;
    }
  }

  async function beside(work: () => Promise<void>): Promise<void> {
    while (isRollingBack) await scheduler.turn('rollback');
    busy += 1;
    try {
      await work();
    } finally {
      busy -= 1;
    }
  }

  async function step(line: Line, forks: Line[]): Promise<void> {
    const kind = random.below(14);
    if (kind === 0) return line.forkedAt === undefined ? alone(() => rollback(line)) : rollback(line);
    if (kind === 1) {
      if (line.forkedAt === undefined) return collect(line.backend);
      forks.splice(forks.indexOf(line), 1);
      return line.fs.close();
    }
    const work = (): Promise<void> => {
      if (kind === 2) return drop(line);
      if (kind === 3 || kind === 4) return keep(line);
      if (kind === 5 || kind === 6) return forks.length < MOST_FORKS ? fork(line, forks) : change(line);
      return change(line);
    };
    return line.forkedAt === undefined ? beside(work) : work();
  }

  /** Runs a client. Returns the forks that it leaves open. */
  async function client(main: Line): Promise<Line[]> {
    const forks: Line[] = [];
    for (let i = 0; i < STEPS; i++) {
      const line = random.pick([main, main, ...forks]);
      try {
        await step(line, forks);
      } catch (error) {
        const at = forks.indexOf(line);
        if (at >= 0 && isLost(error) && mayBeLost(line)) forks.splice(at, 1);
        else problems.push(`${line.top || 'a fork'}: ${String(error)}`);
      }
    }
    return forks;
  }

  async function collector(): Promise<void> {
    const backend = backendOn(spoil(network));
    for (let i = 0; i < COLLECTIONS; i++)
      await collect(backend).catch((error: unknown) => problems.push(`a collector: ${String(error)}`));
    await backend.close();
  }

  /** Checks the state of a fork through a fork of it, which has an empty cache, and the fork's checkpoints. */
  async function checkFork(line: Line): Promise<void> {
    try {
      const fresh = await line.fs.fork();
      if (!isSame(await stateOf(fresh, ''), now(line))) problems.push('a fork has something else');
      await fresh.close();
      for (const { checkpoint, possible } of line.kept) {
        await line.fs.rollback(checkpoint);
        if (!isPossible(await stateOf(line.fs, ''), possible)) problems.push('a fork has kept something else');
      }
    } catch (error) {
      if (!isLost(error) || !mayBeLost(line)) problems.push(`a fork in the end: ${String(error)}`);
    }
  }

  async function checkMain(): Promise<void> {
    const fs = await openOn(backendOn());
    const state = await stateOf(fs, '');
    for (const main of mains)
      if (!isSame(partOf(state, main.top), now(main))) problems.push(`${main.top} has something else`);
    const names = (await fs.checkpoints()).map(({ name }) => name ?? '');
    for (const name of names)
      if (!doubtful.has(name) && kept.every((one) => one.checkpoint.name !== name)) problems.push(`${name} is there`);
    for (const { checkpoint, possible } of kept) {
      await fs.rollback(checkpoint);
      if (!isPossible(await stateOf(fs, ''), possible)) problems.push(`${checkpoint.name} has something else`);
    }
  }

  async function all(): Promise<void> {
    for (let i = 0; i < CLIENTS; i++) {
      const backend = backendOn();
      const fs = await openOn(backend);
      await fs.mkdir(`/c${i}`);
      mains.push({
        fs,
        backend,
        top: `/c${i}`,
        forkedAt: undefined,
        kept,
        states: [new Map()],
        pending: undefined,
      });
    }
    rate = MISHAP_RATE;
    const [open] = await Promise.all([Promise.all(mains.map(client)), collector(), collector()]);
    rate = 0;
    while (late.size > 0) await Promise.all(late);
    const last = backendOn(spoil(network));
    await last.collectGarbage();
    for (const forks of open) for (const line of forks) await checkFork(line);
    // Forks that are not closed here are abandoned.
    for (const forks of open) for (const line of forks) if (random.chance(0.5)) await line.fs.close();
    await last.collectGarbage();
    await checkMain();
    scheduler.now += 1;
    const { live } = await last.collectGarbage({ forksOlderThanMs: 0 });
    const left = [...store.objects.keys()].filter((name) => /^(objects|forks)\//.test(name)).length;
    if (live !== left) problems.push(`${left} objects are left where ${live} live`);
  }

  // Simulated time, so that the age of a head does not depend on the machine.
  const real = { performance: performance.now, Date: Date.now };
  performance.now = clock;
  Date.now = clock;
  try {
    await scheduler.run(all());
  } catch (error) {
    problems.push(String(error));
  } finally {
    performance.now = real.performance;
    Date.now = real.Date;
  }
  return { ...counts, problems: problems.map((problem) => `seed ${seed}: ${problem}`) };
}

function isLost(error: unknown): boolean {
  return isStorageError(error, 'lost');
}
