import { asyncStorage, type FileSystem, isFsError, isStorageError, openFileSystem } from '@scratchfs/core';
import { ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { dump, MemoryObjectStore, MISHAPS, Scheduler, UnrulyStore } from '@scratchfs/testkit';

const CLIENTS = 3;
const STEPS = 6;
const COLLECTIONS = 3;
const COPIES = [
  ['/d', '/one'],
  ['/one', '/two'],
  ['/two', '/three'],
] as const;
const FILES = ['/a', '/b', '/d/c'];

export interface ModelRun {
  readonly problems: readonly string[];
  /** Number of objects that collectors deleted. */
  readonly deleted: number;
  /** Number of acknowledged writes. */
  readonly written: number;
}

/**
 * Runs clients that write, create and drop checkpoints, and clients that collect garbage. The network loses, delays and
 * repeats requests. The seed determines the order. In the end everything acknowledged must exist once, and everything
 * must be readable.
 */
export async function runGarbageModel(seed: number): Promise<ModelRun> {
  const scheduler = new Scheduler(seed);
  const store = new MemoryObjectStore();
  const late = new Set<Promise<void>>();
  const { random, timer } = scheduler;
  let rate = 0.12;
  const network = new UnrulyStore(store, scheduler, () => (random.chance(rate) ? random.pick(MISHAPS) : 'none'), late);
  const backendOn = () =>
    new ObjectTreeBackend(network, {
      clock: () => scheduler.now,
      random: (below) => random.below(below),
      timer,
      timeoutMs: 10_000,
      retries: 6,
      maxCacheBytes: random.pick([0, 2_000, 1_000_000]),
    });
  const problems: string[] = [];
  const acknowledged: string[] = [];
  const unknown: string[] = [];
  let deleted = 0;

  const open = async (backend: ObjectTreeBackend): Promise<FileSystem> =>
    openFileSystem(
      asyncStorage(backend, { timer, timeoutMs: 1_000_000, random: (below) => random.below(below), retries: 6 }),
      { clock: () => scheduler.now },
    );

  const client = async (name: number): Promise<void> => {
    const backend = backendOn();
    const fs = await open(backend);
    for (let step = 0; step < STEPS; step++) {
      const token = `<${name}.${step}>`;
      try {
        const kind = random.below(9);
        if (kind === 0) await fs.checkpoint(`c${name}.${step}`);
        else if (kind === 1) {
          const [first] = await fs.checkpoints();
          // Another client may have been faster.
          if (first !== undefined) await fs.drop(first).catch(unlessMissing);
        } else if (kind === 2) {
          // Also copies of copies, which share the pages of the source.
          const [from, to] = random.pick(COPIES);
          await fs.rm(to, { recursive: true, force: true });
          await fs.cp(from, to, { recursive: true }).catch(unlessMissing);
        } else if (kind === 3) {
          // Rewrites pages of the copy; its other pages stay shared with the source.
          const [, copy] = random.pick(COPIES);
          await fs.writeFile(`${copy}/changed`, token).catch(unlessMissing);
        } else {
          await fs.appendFile(random.pick(FILES), token);
          acknowledged.push(token);
        }
      } catch (error) {
        if (!isStorageError(error)) problems.push(`client ${name}, step ${step}: ${String(error)}`);
        // Responses may be damaged several times in a row; permanent damage shows in the end.
        else if (error.kind === 'lost') problems.push(`client ${name}: ${error.message}`);
        unknown.push(token);
      }
    }
    await backend.close();
  };

  const collector = async (): Promise<void> => {
    const backend = backendOn();
    for (let i = 0; i < COLLECTIONS; i++) {
      try {
        const olderThanMs = random.pick([0, 0, 30]);
        deleted += (await backend.collectGarbage({ olderThanMs })).deleted;
      } catch (error) {
        if (!isStorageError(error) || error.kind === 'lost') problems.push(`collector: ${String(error)}`);
      }
    }
    await backend.close();
  };

  const all = async (): Promise<void> => {
    const first = backendOn();
    rate = 0;
    const fs = await open(first);
    await fs.mkdir('/d/deep/er', { recursive: true });
    await fs.writeFile('/d/deep/er/file', 'deep');
    for (const file of FILES) await fs.writeFile(file, '');
    await fs.link('/a', '/linked');
    await first.close();
    rate = 0.12;
    await Promise.all([...Array.from({ length: CLIENTS }, (_, i) => client(i)), collector(), collector()]);
    rate = 0;
    while (late.size > 0) await Promise.all(late);
    const last = backendOn();
    const reader = await open(last);
    const { entries } = await dump(reader);
    for (const { path } of entries)
      if (path.endsWith('/deep/er/file') && (await reader.readText(path)) !== 'deep')
        problems.push(`${path} is another`);
    const text = (await Promise.all(FILES.map((file) => reader.readText(file)))).join('');
    const tokens = text.match(/<[^>]*>/g) ?? [];
    for (const token of acknowledged)
      if (tokens.filter((one) => one === token).length !== 1) problems.push(`${token} is not there once`);
    for (const token of tokens)
      if (!acknowledged.includes(token) && !unknown.includes(token)) problems.push(`${token} was never written`);
    if (new Set(tokens).size !== tokens.length) problems.push('something was written twice');
    for (const checkpoint of await reader.checkpoints()) await reader.rollback(checkpoint).then(() => dump(reader));
    await last.close();
  };

  try {
    await scheduler.run(all());
  } catch (error) {
    problems.push(String(error));
  }
  return { problems: problems.map((problem) => `seed ${seed}: ${problem}`), deleted, written: acknowledged.length };
}

function unlessMissing(error: unknown): void {
  if (!isFsError(error) || error.code !== 'ENOENT') throw error;
}
