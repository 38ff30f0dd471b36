import { setTimeout as sleep } from 'node:timers/promises';
import { asyncStorage, type FileSystem, openFileSystem, StorageError } from '@scratchfs/core';
import { ObjectTreeBackend } from '@scratchfs/core/object-tree';
import { type Dump, MemoryObjectStore, Random, type TurnScheduler, UnrulyStore } from '@scratchfs/testkit';
import { changesOf, clock, dumpWithCheckpoints, plantCheckpointedScene } from '../../faults/harness.js';
import { type AbortTarget, type LineSpeed, SLOW_REQUEST_MS, type ThrottledLine } from '../../faults/remote/abort.js';
import { followUp } from '../../faults/remote/trial.js';

const TIMEOUT_MS = 30_000;

/**
 * Returns a target that aborts each change of a tree in a store in memory at one of its requests.
 * @param names of the changes to run; default all
 */
export async function abortGround(names?: readonly string[]): Promise<AbortTarget> {
  const original = new MemoryObjectStore();
  await withClient(original, new Line(), plantCheckpointedScene);
  return {
    before: await stateAt(original),
    changes: changesOf(names),
    arrived: followUp,
    async after(_, change) {
      const store = await copyOf(original);
      await withClient(store, new Line(), change);
      return stateAt(store);
    },
    async lend(work) {
      const store = await copyOf(original);
      const line = new Line();
      return withClient(store, line, (fs) => work(fs, line, () => stateAt(store)));
    },
  };
}

/** Delays requests if the pace is `slow`. If it is `hanging`, requests from `silentFrom` on get no response. */
class Line implements ThrottledLine, TurnScheduler {
  requests = 0;
  readonly random = new Random(1);
  #pace: LineSpeed = 'quick';
  #silentFrom = 0;
  #listener: ((index: number) => void) | undefined;
  #silent: ((error: Error) => void)[] = [];

  /** Ends all faults: the silent connections fail as lost. */
  forget(): void {
    for (const lose of this.#silent.splice(0)) lose(new StorageError('unavailable', 'The connection was lost'));
    this.requests = 0;
    this.#pace = 'quick';
    this.#listener = undefined;
  }

  pace(pace: LineSpeed, silentFrom: number): void {
    this.#pace = pace;
    this.#silentFrom = silentFrom;
  }

  onRequest(listener: (index: number) => void): void {
    this.#listener = listener;
  }

  begin(): void {
    this.requests += 1;
    this.#listener?.(this.requests - 1);
  }

  /** Delays a request, and likewise its response. */
  async turn(): Promise<void> {
    if (this.#pace === 'hanging' && this.requests > this.#silentFrom)
      await new Promise<never>((_, reject) => this.#silent.push(reject));
    if (this.#pace === 'slow') await sleep(SLOW_REQUEST_MS / 2);
  }
}

async function withClient<T>(store: MemoryObjectStore, line: Line, work: (fs: FileSystem) => Promise<T>): Promise<T> {
  const plan = () => {
    line.begin();
    return 'none' as const;
  };
  const backend = new ObjectTreeBackend(new UnrulyStore(store, line, plan), {
    timeoutMs: TIMEOUT_MS,
    clock: clock.read,
  });
  try {
    const storage = asyncStorage(backend, { clock: clock.read, timeoutMs: TIMEOUT_MS });
    return await work(await openFileSystem(storage, { clock: clock.read }));
  } finally {
    await backend.close();
  }
}

function stateAt(store: MemoryObjectStore): Promise<Dump> {
  return withClient(store, new Line(), dumpWithCheckpoints);
}

async function copyOf(store: MemoryObjectStore): Promise<MemoryObjectStore> {
  const copy = new MemoryObjectStore();
  for (const [name, bytes] of store.objects) await copy.put(name, bytes);
  const head = await store.readHead(undefined);
  if (typeof head === 'object') await copy.swapHead(head.bytes, undefined);
  return copy;
}
