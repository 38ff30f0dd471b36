import { asyncStorage, type Backend, type FileSystem, type Limits, openFileSystem } from '@scratchfs/core';
import { memoryBackend } from '@scratchfs/memory';
import {
  type Dump,
  differences,
  dump,
  type ManualClock,
  manualClock,
  recount,
  type Scheduler,
} from '@scratchfs/testkit';
import type { Change } from './remote/trial.js';

export const clock: ManualClock = manualClock();

export function freshBackend(): Backend {
  return memoryBackend({ clock: clock.read });
}

export interface ClientOptions {
  readonly scheduler?: Scheduler;
  readonly limits?: Limits;
  readonly timeoutMs?: number;
}

/** Creates a client of a backend with its own cache. With a scheduler, its deadlines and pauses are virtual. */
export function client(backend: Backend, options: ClientOptions = {}): Promise<FileSystem> {
  const { scheduler, limits, timeoutMs } = options;
  // With a scheduler, ids and pauses also come from its seed, so that a seed replays exactly.
  const random = scheduler === undefined ? undefined : (below: number) => scheduler.random.below(below);
  const storage = asyncStorage(backend, {
    clock: clock.read,
    random,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(scheduler === undefined ? {} : { timer: scheduler.timer }),
  });
  return openFileSystem(storage, { clock: clock.read, limits, random });
}

/** Reads the state as a new client. */
export async function stateOf(backend: Backend): Promise<Dump> {
  return checkedDump(await client(backend));
}

/** @throws if the counters differ from a recount */
export async function checkedDump(fs: FileSystem): Promise<Dump> {
  const state = await dump(fs);
  const wrong = differences({ ...state, stats: recount(state) }, state);
  if (wrong.length > 0) throw new Error(`the counters are not a recount: ${wrong.join('; ')}`);
  return state;
}

/** Like {@link checkedDump}, with the number of checkpoints among the counters. */
export async function dumpWithCheckpoints(fs: FileSystem): Promise<Dump> {
  const { entries, stats } = await checkedDump(fs);
  const more = { checkpoints: (await fs.checkpoints()).length };
  return { entries, stats: { ...stats, ...more } };
}

export function fork(backend: Backend): Promise<Backend> {
  if (backend.fork === undefined) throw new Error('The backend in memory forks');
  return backend.fork();
}

/** Creates files, links and directories for operations that are interrupted. */
export async function plantScene(fs: FileSystem): Promise<void> {
  await fs.mkdir('/d/sub/deep', { recursive: true });
  await fs.mkdir('/empty');
  await fs.mkdir('/t/sub', { recursive: true });
  await fs.writeFile('/d/a', 'content of a');
  await fs.writeFile('/d/sub/b', 'content of b');
  await fs.writeFile('/d/sub/deep/c', new Uint8Array(66_000).fill(7));
  await fs.writeFile('/t/sub/b', 'in the way');
  await fs.writeFile('/f', 'one two three');
  await fs.link('/f', '/hard');
  await fs.symlink('d/sub', '/link');
  await fs.chmod('/d/a', 0o600);
}

/** Creates the scene of {@link plantScene}, a checkpoint, and changes after it. */
export async function plantCheckpointedScene(fs: FileSystem): Promise<void> {
  await plantScene(fs);
  await fs.checkpoint('first');
  await fs.writeFile('/d/later', 'than the checkpoint');
}

/** Operations that change something in the scene. */
export const CHANGES: Readonly<Record<string, Change>> = {
  create: (fs, signal) => fs.writeFile('/d/new', 'new', { signal }),
  overwrite: (fs, signal) => fs.writeFile('/d/a', 'overwritten', { signal }),
  'overwrite large': (fs, signal) => fs.writeFile('/d/sub/deep/c', new Uint8Array(70_000).fill(1), { signal }),
  'write through a link': (fs, signal) => fs.writeFile('/link/b', 'through', { signal }),
  append: (fs, signal) => fs.appendFile('/f', ' four', { signal }),
  edit: (fs, signal) => fs.editFile('/f', 'two', 'TWO', { signal }),
  truncate: (fs, signal) => fs.truncate('/d/sub/deep/c', 10, { signal }),
  mkdir: (fs, signal) => fs.mkdir('/d/x', { signal }),
  'mkdir -p': (fs, signal) => fs.mkdir('/d/x/y/z', { recursive: true, signal }),
  unlink: (fs, signal) => fs.unlink('/hard', { signal }),
  rmdir: (fs, signal) => fs.rmdir('/empty', { signal }),
  'rm -r': (fs, signal) => fs.rm('/d', { recursive: true, signal }),
  'cp -r': (fs, signal) => fs.cp('/d', '/copy', { recursive: true, signal }),
  'cp -r into': (fs, signal) => fs.cp('/d', '/t', { recursive: true, signal }),
  copyFile: (fs, signal) => fs.copyFile('/d/a', '/d/sub/b', { signal }),
  rename: (fs, signal) => fs.rename('/d', '/t/moved', { signal }),
  'rename over': (fs, signal) => fs.rename('/d/a', '/f', { signal }),
  'rename a directory over': (fs, signal) => fs.rename('/d', '/empty', { signal }),
  symlink: (fs, signal) => fs.symlink('../x', '/d/l', { signal }),
  link: (fs, signal) => fs.link('/d/a', '/d/sub/a', { signal }),
  chmod: (fs, signal) => fs.chmod('/d', 0o700, { signal }),
  chown: (fs, signal) => fs.chown('/f', 5, 6, { signal }),
  utimes: (fs, signal) => fs.utimes('/d/a', 1, 2, { signal }),
  'open w': async (fs, signal) => (await fs.open('/d/a', 'w', { signal })).close(),
  transaction: (fs, signal) =>
    fs.transaction(
      async (tx) => {
        await tx.writeFile('/d/a', 'in a transaction');
        await tx.rename('/d/a', '/t/a');
        await tx.mkdir('/many/more', { recursive: true });
        await tx.rm('/d/sub', { recursive: true });
      },
      { signal },
    ),
};

/** Changes of checkpoints, in addition to the changes of files. */
const CHECKPOINT_CHANGES: Readonly<Record<string, Change>> = {
  checkpoint: (fs, signal) => fs.checkpoint('second', { signal }),
  rollback: (fs, signal) => fs.rollback('first', { signal }),
  'drop a checkpoint': (fs, signal) => fs.drop('first', { signal }),
};

/** Returns all changes by name, or only the named ones. */
export function changesOf(names?: readonly string[]): readonly (readonly [name: string, change: Change])[] {
  const all = Object.entries({ ...CHANGES, ...CHECKPOINT_CHANGES });
  return all.filter(([name]) => names?.includes(name) ?? true);
}
