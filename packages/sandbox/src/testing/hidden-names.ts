import type { FileHandle, FileSystem, SyncFileHandle, SyncFileSystem } from '@scratchfs/core';
import { diff } from '@scratchfs/core/diff';
import { glob, grep } from '@scratchfs/core/search';
import { createSnapshot, restoreSnapshot } from '@scratchfs/core/snapshot';
import { Sandbox } from '../sandbox.js';
import { type Failure, HIDDEN } from './failing.js';
import { ALL_PROBES, probe, probeSync } from './probes.js';
import { FILES } from './worlds.js';

const DIRECTORY = '/jail/pub/rw';
const FILE = `${DIRECTORY}/mine.txt`;
const INNER = `${DIRECTORY}/dir/inner.txt`;
const OTHER = `${DIRECTORY}/two.txt`;

/** The tree of the attacks, with some more files and a hidden name. */
export const NAMES: typeof FILES = {
  ...FILES,
  [INNER]: 'inner',
  [OTHER]: 'two',
  [`/secret/${HIDDEN}/key`]: 'key',
};

/** Changes, by another program, of what a sandbox holds open. Each leaves hidden names behind. */
export const CHANGES: Readonly<Record<string, (fileSystem: FileSystem) => Promise<unknown>>> = {
  'moved out': async (fs) => {
    await fs.rename(FILE, `/secret/${HIDDEN}/moved.txt`);
    await fs.rename(`${DIRECTORY}/dir`, `/secret/${HIDDEN}/dir`);
  },
  'moved out with the directory': (fs) => fs.rename(DIRECTORY, `/secret/${HIDDEN}/rw`),
  'linked from outside, then removed inside': async (fs) => {
    await fs.link(FILE, `/secret/${HIDDEN}/link`);
    await fs.unlink(FILE);
    await fs.rm(`${DIRECTORY}/dir`, { recursive: true });
  },
  'renamed to a hidden suffix': async (fs) => {
    await fs.rename(FILE, `/secret/${HIDDEN}.key`);
    await fs.rename(INNER, `/secret/${HIDDEN}.txt`);
  },
  'gone with a rollback': async (fs) => {
    const { id } = await fs.checkpoint(`before ${HIDDEN}`);
    await fs.writeFile(`/secret/${HIDDEN}/late`, 'late');
    await fs.rollback(id);
  },
};

/** Arguments for the methods of an open file. */
const HANDLE_CALLS: Readonly<Record<string, readonly (readonly unknown[])[]>> = {
  stat: [[]],
  read: [[new Uint8Array(2)], [new Uint8Array(2), 0]],
  readFile: [[]],
  write: [['x'], ['x', 0], ['x', 2 ** 50]],
  writeFile: [['x']],
  truncate: [[1], [2 ** 50], [-1]],
  chmod: [[0o600], [-1]],
  chown: [[1, 1]],
  utimes: [[1, 1]],
};

type Attempt = (what: string, work: () => unknown) => Promise<unknown>;
type Work = readonly [what: string, work: () => unknown];
type Methods = Record<string, (...args: readonly unknown[]) => unknown>;

export interface HiddenNamesWorld {
  readonly fileSystem: FileSystem;
  /** Makes the filesystem fail; undefined if it cannot. */
  readonly failure: Failure | undefined;
}

type Guard = (fileSystem: FileSystem) => FileSystem | Promise<FileSystem>;

/** Opens files, lets another program change them, and uses them. Returns everything that contains a hidden name. */
export async function namesAfterChange(world: HiddenNamesWorld, guard: Guard, change: string): Promise<string[]> {
  const { wrong, attempt } = collector();
  const guarded = await guard(world.fileSystem);
  const { works, end } = await openAll(guarded);
  await CHANGES[change]?.(world.fileSystem).catch(() => {});
  for (const [what, work] of works) await attempt(what, work);
  await attempt('stat', () => guarded.stat(FILE));
  await attempt('readdir', () => guarded.readdir(DIRECTORY, { withFileTypes: true }));
  await attempt('entries', () => guarded.entries(DIRECTORY));
  await attempt('the events', end);
  return wrong;
}

/** Uses methods, handles, streams, watchers and transactions of a filesystem over one that fails. */
export async function namesInFailures(world: HiddenNamesWorld, guard: Guard, first: number): Promise<string[]> {
  const { wrong, attempt } = collector();
  const fs = await guard(world.fileSystem);
  const { failure } = world;
  const inTransaction = async (branch: FileSystem): Promise<void> => {
    const handle = await branch.open(FILE, 'r+');
    failure?.arm(first);
    for (const [what, work] of handleCalls(handle)) await attempt(`${what} in a transaction`, work);
    for (const each of ALL_PROBES.slice(0, 12)) await attempt(each.name, () => probe(branch, each, FILE, OTHER));
    await branch.writeFile(FILE, 'changed');
  };
  await attempt('transaction', () => fs.transaction(inTransaction));
  failure?.disarm();
  for (const state of ['checkpoint', 'fork'] as const) await attempt(`${state} that works`, () => fs[state]());
  const checkpoint = await fs.checkpoint('mine').catch(() => undefined);
  const snapshot = await createSnapshot(fs).catch(() => undefined);
  const { works, end } = await openAll(fs);
  failure?.arm(first);
  for (const [what, work] of works) await attempt(what, work);
  for (const [i, each] of ALL_PROBES.entries()) {
    failure?.arm(first + i);
    await attempt(each.name, () => probe(fs, each, FILE, OTHER));
    await attempt(`${each.name} of a directory`, () => probe(fs, each, DIRECTORY, OTHER));
    if (fs.kind !== 'sync' || each.isPromise === true) continue;
    await attempt(`${each.name}Sync`, () => probeSync(fs as SyncFileSystem, each, FILE, OTHER));
  }
  const ofTheWhole: Readonly<Record<string, () => unknown>> = {
    stats: () => fs.stats(),
    checkpoints: () => fs.checkpoints(),
    checkpoint: () => fs.checkpoint('another'),
    rollback: () => fs.rollback(checkpoint ?? 'mine'),
    drop: () => fs.drop(checkpoint ?? 'mine'),
    fork: async () => (await fs.fork()).readdir(DIRECTORY),
    createSnapshot: () => createSnapshot(fs),
    restoreSnapshot: () => snapshot && restoreSnapshot(fs, snapshot),
    diff: () => checkpoint && diff(fs, checkpoint),
    grep: () => grep(fs, 'inner', { paths: DIRECTORY }).next(),
    glob: () => glob(fs, '**/*', { cwd: DIRECTORY }).next(),
    run: () => fs.run((view) => view.tree.root.size, []),
    iterate: () => fs.iterate(() => ({ next: () => undefined })).next(),
    transaction: () => fs.transaction((branch) => branch.readFile(FILE)),
    toJSON: () => (fs as SyncFileSystem).toJSON?.(),
    transactionSync: () => (fs as SyncFileSystem).transactionSync?.((branch) => branch.readFileSync(FILE)),
    forkSync: () => (fs as SyncFileSystem).forkSync?.().readdirSync(DIRECTORY),
    walkSync: () => [...((fs as SyncFileSystem).walkSync?.('/jail/pub') ?? [])],
  };
  for (const [i, [what, work]] of Object.entries(ofTheWhole).entries()) {
    failure?.arm(first + i);
    await attempt(what, work);
  }
  await attempt('the events', end);
  await attempt('close', () => fs.close());
  return wrong;
}

/** Uses the methods of a sandbox over a filesystem that fails. */
export async function namesFromSandbox({ fileSystem, failure }: HiddenNamesWorld, first: number): Promise<string[]> {
  const { wrong, attempt } = collector();
  const paths = { pub: { root: '/jail/pub' }, rw: { root: DIRECTORY, mode: 'rw' as const } };
  const sandbox = new Sandbox(fileSystem, { paths });
  const calls: Readonly<Record<string, (path: string) => unknown>> = {
    read: (path) => sandbox.read(path),
    write: (path) => sandbox.write(path, 'x'),
    listFiles: (path) => sandbox.listFiles(path),
    resolve: (path) => sandbox.resolve(path),
    check: (path) => sandbox.check(path, 'write'),
    canRead: (path) => sandbox.canRead(path),
    approvals: (path) => sandbox.approvals(path),
    derive: (path) => sandbox.derive({ allowRead: path }),
  };
  for (const [i, [name, call]] of Object.entries(calls).entries()) {
    failure?.arm(first + i);
    for (const path of ['rw/mine.txt', 'rw', 'rw/new/x', 'pub/out/key', 'pub/rel'])
      await attempt(name, () => call(path));
  }
  return wrong;
}

function collector(): { readonly wrong: string[]; readonly attempt: Attempt } {
  const wrong: string[] = [];
  const look = (what: string, value: unknown): void => {
    const text = everythingIn(value);
    const at = text.indexOf(HIDDEN);
    if (at >= 0) wrong.push(`${what}: ${text.slice(Math.max(0, at - 100), at + 60)}`);
  };
  const attempt: Attempt = async (what, work) => {
    try {
      const result = await work();
      look(what, result);
      return result;
    } catch (error) {
      look(what, error);
      return undefined;
    }
  };
  return { wrong, attempt };
}

/** Opens everything that stays open, and returns the calls to make on it later. */
async function openAll(fs: FileSystem): Promise<{ works: Work[]; end: () => Promise<unknown> }> {
  const works: Work[] = [];
  for (const [path, flags] of [
    [FILE, 'r'],
    [INNER, 'r+'],
  ] as const) {
    const handle = await fs.open(path, flags).catch(() => undefined);
    if (handle !== undefined) works.push(...handleCalls(handle), ['close', () => handle.close()]);
    if (fs.kind === 'sync' && handle !== undefined)
      works.push(...handleCalls((fs as SyncFileSystem).openSync(path, flags), 'Sync'));
  }
  const reader = fs.createReadStream(FILE, { highWaterMark: 1 }).getReader();
  reader.closed.catch(() => {});
  await reader.read().catch(() => {});
  works.push(['read stream', () => reader.read()], ['cancel', () => reader.cancel()]);
  const writer = fs.createWriteStream(INNER, { flags: 'r+' }).getWriter();
  for (const later of [writer.closed, writer.ready]) later.catch(() => {});
  await writer.write('1').catch(() => {});
  works.push(['write stream', () => writer.write('2')], ['end of a stream', () => writer.close()]);
  works.push(['ready', () => writer.ready], ['closed', () => writer.closed]);
  const walk = fs.walk('/jail/pub');
  await walk.next();
  for (let i = 0; i < 8; i++) works.push(['walk', () => walk.next()]);
  const watchers = [FILE, '/jail/pub'].map((path) => fs.watch(path, { recursive: true, maxQueue: 2 }));
  const end = async (): Promise<unknown> => {
    const events = watchers.map(async (watcher) => {
      const settled = Promise.allSettled([watcher.next(), watcher.next(), watcher.next()]);
      await new Promise((resolve) => setTimeout(resolve, 1));
      await watcher.return?.().catch(() => {});
      return settled;
    });
    return Promise.all(events);
  };
  return { works, end };
}

/** Returns the {@link HANDLE_CALLS} of a handle. */
function handleCalls(handle: FileHandle | SyncFileHandle, form: '' | 'Sync' = ''): Work[] {
  const methods = handle as unknown as Methods;
  return Object.entries(HANDLE_CALLS).flatMap(([name, lists]) =>
    lists.map((args): Work => [`handle.${name}${form}`, () => methods[`${name}${form}`]?.(...args)]),
  );
}

/** Returns the keys and values of all properties of a value at any depth as text; of functions only the keys. */
function everythingIn(value: unknown, seen = new Set<unknown>()): string {
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (typeof value === 'function') return '';
  if (typeof value !== 'object' || value === null) return String(value);
  if (seen.has(value)) return '';
  seen.add(value);
  const parts: string[] = [];
  for (let at: object = value; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const key of Reflect.ownKeys(at)) {
      if (key === 'constructor') continue;
      parts.push(String(key));
      try {
        parts.push(everythingIn((value as Record<string | symbol, unknown>)[key], seen));
      } catch {
        // A getter of a prototype may refuse the object.
      }
    }
  }
  return parts.join('\n');
}
