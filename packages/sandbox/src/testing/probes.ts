import type { Dir, FileHandle, FileSystem, SyncFileHandle, SyncFileSystem } from '@scratchfs/core';

type SyncNames = Extract<keyof SyncFileSystem, `${string}Sync`>;
/** Every public method and property of a filesystem. */
export type PublicName = Exclude<Extract<keyof SyncFileSystem, string>, SyncNames>;

/** One way to use a method at a path. */
export interface Probe {
  readonly name: PublicName;
  /** Its effect: reads, writes, or reveals existence. */
  readonly effect: 'look' | 'read' | 'write';
  /** Returns the arguments before the options; `inside` may be read and written. */
  readonly args: (path: string, inside: string) => readonly unknown[];
  /** The method's own options. */
  readonly options?: object;
  /** True if there is no `Sync` form. */
  readonly isPromise?: boolean;
}

type Rows = readonly Omit<Probe, 'name'>[];
type Effect = Probe['effect'];

const at = (effect: Effect, rest: Partial<Probe> = {}): Rows => [{ effect, args: (path) => [path], ...rest }];

/** Probes of a property, or of a method that takes no path: none. */
const WHOLE: Rows = [];

/** Probes by the name of the method. A public method without an entry does not compile. */
export const PROBES = {
  kind: WHOLE,
  capabilities: WHOLE,
  limits: WHOLE,
  promises: WHOLE,
  exists: at('look'),
  isFile: at('look'),
  isDirectory: at('look'),
  getEntry: at('read'),
  stat: at('look'),
  lstat: at('look'),
  access: [{ effect: 'look', args: (path) => [path, 0] }],
  realpath: at('look'),
  readlink: at('read'),
  readdir: [...at('read'), ...at('read', { options: { withFileTypes: true } })],
  opendir: at('read'),
  entries: [...at('read'), ...at('read', { options: { content: true } })],
  walk: at('read'),
  watch: at('read', { isPromise: true }),
  readFile: at('read'),
  readText: at('read'),
  readLines: at('read'),
  createReadStream: at('read', { isPromise: true }),
  mkdir: [
    ...at('write'),
    ...at('write', { options: { recursive: true } }),
    { effect: 'write', args: (path) => [`${path}/new/deep`], options: { recursive: true } },
  ],
  mkdtemp: [{ effect: 'write', args: (path) => [`${path}/tmp-`] }],
  writeFile: [
    { effect: 'write', args: (path) => [path, 'OVERWRITTEN'] },
    { effect: 'write', args: (path) => [path, 'OVERWRITTEN'], options: { flag: 'wx' } },
    { effect: 'write', args: (path) => [`${path}/new`, 'NEW'] },
  ],
  writeLines: [{ effect: 'write', args: (path) => [path, ['OVERWRITTEN']] }],
  appendFile: [{ effect: 'write', args: (path) => [path, 'OVERWRITTEN'] }],
  editFile: [{ effect: 'write', args: (path) => [path, 'CANARY', 'OVERWRITTEN'] }],
  truncate: [{ effect: 'write', args: (path) => [path, 0] }],
  createWriteStream: at('write', { isPromise: true }),
  open: ['r', 'r+', 'w', 'wx', 'w+', 'a', 'a+'].map((flags) => ({
    effect: flags === 'r' ? 'read' : 'write',
    args: (path) => [path, flags],
  })),
  rm: [...at('write'), ...at('write', { options: { recursive: true, force: true } })],
  unlink: at('write'),
  rmdir: at('write'),
  cp: [
    { effect: 'read', args: (path, inside) => [path, `${inside}-copy`], options: { recursive: true } },
    { effect: 'write', args: (path, inside) => [inside, path], options: { recursive: true } },
  ],
  copyFile: [
    { effect: 'read', args: (path, inside) => [path, `${inside}-copy`] },
    { effect: 'write', args: (path, inside) => [inside, path] },
  ],
  rename: [
    { effect: 'write', args: (path, inside) => [path, `${inside}-moved`] },
    { effect: 'write', args: (path, inside) => [inside, path] },
  ],
  symlink: [{ effect: 'write', args: (path) => ['ok.txt', path] }],
  link: [
    { effect: 'write', args: (path, inside) => [path, `${inside}-link`] },
    { effect: 'write', args: (path, inside) => [inside, path] },
  ],
  chmod: [{ effect: 'write', args: (path) => [path, 0o777] }],
  chown: [{ effect: 'write', args: (path) => [path, 1, 1] }],
  lchown: [{ effect: 'write', args: (path) => [path, 1, 1] }],
  utimes: [{ effect: 'write', args: (path) => [path, 1, 1] }],
  lutimes: [{ effect: 'write', args: (path) => [path, 1, 1] }],
  stats: WHOLE,
  setLimits: WHOLE,
  checkpoint: WHOLE,
  checkpoints: WHOLE,
  rollback: WHOLE,
  drop: WHOLE,
  at: WHOLE,
  fork: WHOLE,
  transaction: WHOLE,
  run: WHOLE,
  iterate: WHOLE,
  compare: WHOLE,
  toJSON: WHOLE,
  close: WHOLE,
} as const satisfies Record<PublicName, Rows>;

/** Every probe with the name of its method. */
export const ALL_PROBES: readonly Probe[] = Object.entries(PROBES as Record<PublicName, Rows>).flatMap(([name, rows]) =>
  rows.map((row) => ({ ...row, name: name as PublicName })),
);

type Methods = Record<string, (...args: readonly unknown[]) => unknown>;

/** Runs a probe, and takes everything that a stream, a walk or an open file yields. */
export async function probe(
  fileSystem: FileSystem,
  { name, args, options }: Probe,
  path: string,
  inside: string,
  signal?: AbortSignal,
): Promise<unknown> {
  const given = { ...options, ...(signal === undefined ? {} : { signal }) };
  const answer = await (fileSystem as unknown as Methods)[name]?.(...args(path, inside), given);
  return drained(name, answer, () => fileSystem.exists(inside));
}

/** The synchronous form of {@link probe}. */
export function probeSync(
  fileSystem: SyncFileSystem,
  { name, args, options }: Probe,
  path: string,
  inside: string,
): unknown {
  const answer = (fileSystem as unknown as Methods)[`${name}Sync`]?.(
    ...args(path, inside),
    ...(options === undefined ? [] : [options]),
  );
  if (name === 'walk') return [...(answer as Iterable<unknown>)];
  if (name === 'opendir') return Array.from({ length: 100 }, () => (answer as Dir).readSync());
  if (name !== 'open') return answer;
  const handle = answer as SyncFileHandle;
  const taken = [
    takenSync(() => handle.statSync()),
    takenSync(() => handle.readFileSync()),
    takenSync(() => handle.writeSync('HANDLE')),
  ];
  handle.closeSync();
  return taken;
}

async function drained(name: PublicName, answer: unknown, ask: () => Promise<unknown>): Promise<unknown> {
  if (name === 'walk' || name === 'opendir') return arrayOf(answer as AsyncIterable<unknown>);
  if (name === 'createReadStream') return arrayOf(answer as ReadableStream as unknown as AsyncIterable<unknown>);
  if (name === 'watch') return watched(answer as AsyncIterableIterator<unknown>, ask);
  if (name === 'createWriteStream') {
    const writer = (answer as WritableStream).getWriter();
    await writer.write('OVERWRITTEN');
    return writer.close();
  }
  if (name !== 'open') return answer;
  const handle = answer as FileHandle;
  const taken = [
    await takenFrom(() => handle.stat()),
    await takenFrom(() => handle.readFile()),
    await takenFrom(() => handle.write('HANDLE')),
  ];
  await handle.close();
  return taken;
}

/**
 * Returns the first step of a watcher, or `nothing yet` after some later requests. A refused watcher has rejected its
 * first step before.
 */
async function watched(events: AsyncIterableIterator<unknown>, ask: () => Promise<unknown>): Promise<unknown> {
  const first = events.next();
  first.catch(() => {});
  const nothing = async (): Promise<string> => {
    for (let i = 0; i < 5; i++) await ask();
    await new Promise((resolve) => setTimeout(resolve, 5));
    return 'nothing yet';
  };
  try {
    return await Promise.race([first, nothing()]);
  } finally {
    await events.return?.();
  }
}

async function arrayOf(items: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function takenFrom(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    return error;
  }
}

function takenSync(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
