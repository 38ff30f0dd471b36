import type { FileSystem, FsError, Limits } from '@scratchfs/core';
import { isFsError } from '@scratchfs/core';
import { differences, dump, recount } from '../dump.js';
import { errorName } from '../outcome.js';
import { errorOf, fail, ok, print } from './assert.js';
import { syncForm } from './sync-form.js';

/** What `create` is asked for. Whatever is absent is left at its default. */
export interface CreateOptions {
  /** Epoch milliseconds. To be used for every time that is stored. */
  readonly clock: () => number;
  readonly limits?: Limits | undefined;
}

/** A clock that stands still until it is told. */
export interface ManualClock {
  now: number;
  readonly read: () => number;
  advance(ms: number): number;
}

export function manualClock(now = 1_700_000_000_000): ManualClock {
  const clock: ManualClock = {
    now,
    read: () => clock.now,
    advance: (ms) => (clock.now += ms),
  };
  return clock;
}

/** What each case works with. */
export interface Context {
  /** The filesystem, through the form that is being tested: promise methods, or `…Sync` methods under the same names. */
  readonly fs: FileSystem;
  readonly form: 'promise' | 'sync';
  readonly clock: ManualClock;
  /** Another fresh filesystem in the same form. */
  create(limits?: Limits): Promise<FileSystem>;
  /** The call fails with one of these codes or names, its error is well formed, and nothing has changed. */
  fails(call: () => unknown, ...names: readonly string[]): Promise<FsError>;
}

export interface Case {
  readonly name: string;
  readonly limits?: Limits | undefined;
  /** Only through promise methods: what is tested does not exist otherwise. */
  readonly promiseOnly?: boolean | undefined;
  readonly run: (context: Context) => Promise<void>;
}

export type Add = (name: string, run: Case['run'], options?: Pick<Case, 'limits' | 'promiseOnly'>) => void;

export type Create = (options: CreateOptions) => FileSystem | Promise<FileSystem>;

/** Runs a case through the promise methods, and where there are any through the `…Sync` methods, on fresh filesystems. */
export async function runCase(testCase: Case, create: Create): Promise<void> {
  const kind = await runForm(testCase, create, 'promise');
  if (kind === 'sync' && testCase.promiseOnly !== true) await runForm(testCase, create, 'sync');
}

async function runForm(testCase: Case, create: Create, form: Context['form']): Promise<'sync' | 'async'> {
  const clock = manualClock();
  const made: FileSystem[] = [];
  const make = async (limits?: Limits): Promise<FileSystem> => {
    const fileSystem = await create(limits === undefined ? { clock: clock.read } : { clock: clock.read, limits });
    made.push(fileSystem);
    return form === 'sync' && isSync(fileSystem) ? syncForm(fileSystem) : fileSystem;
  };
  try {
    const fs = await make(testCase.limits);
    await testCase.run({ fs, form, clock, create: make, fails: (call, ...names) => failsUnchanged(fs, call, names) });
    await checkCounts(fs);
    return fs.kind;
  } catch (error) {
    if (error instanceof Error) error.message = `(${form} methods) ${error.message}`;
    throw error;
  } finally {
    for (const fileSystem of made) await fileSystem.close();
  }
}

function isSync(fileSystem: FileSystem): fileSystem is Parameters<typeof syncForm>[0] {
  return fileSystem.kind === 'sync';
}

async function failsUnchanged(fs: FileSystem, call: () => unknown, names: readonly string[]): Promise<FsError> {
  const before = await dump(fs);
  const error = await errorOf(call, names.join(' or '));
  const name = errorName(error);
  if (!names.includes(name)) fail(`expected ${names.join(' or ')}, got ${print(error)}`);
  if (isFsError(error)) {
    ok(
      error.message.startsWith(`${error.code}: `),
      `the message ${JSON.stringify(error.message)} does not begin with its code`,
    );
    ok(typeof error.errno === 'number' && error.errno < 0, `errno of ${error.code} is ${error.errno}`);
  }
  const changed = differences(before, await dump(fs));
  if (changed.length > 0) fail(`${name} as expected, but it changed: ${changed.slice(0, 5).join('; ')}`);
  return error as FsError;
}

/** `stats` equals a recount of what is there. */
export async function checkCounts(fs: FileSystem): Promise<void> {
  let state: Awaited<ReturnType<typeof dump>>;
  try {
    state = await dump(fs);
  } catch (error) {
    // A case may have closed its filesystem.
    if (errorName(error) === 'EBADF') return;
    throw error;
  }
  const counted = recount(state);
  for (const key of Object.keys(counted) as (keyof typeof counted)[]) {
    ok(state.stats[key] === counted[key], `stats.${key} says ${state.stats[key]}, a recount gives ${counted[key]}`);
  }
}

/** Builds a tree: text is a file, null a directory, `{ to }` a symlink; missing parents are made. */
export async function plant(
  fs: FileSystem,
  tree: Readonly<Record<string, string | Uint8Array | null | { readonly to: string }>>,
): Promise<void> {
  for (const [path, node] of Object.entries(tree)) {
    const parent = path.slice(0, path.lastIndexOf('/'));
    if (parent !== '') await fs.mkdir(parent, { recursive: true });
    if (node === null) await fs.mkdir(path, { recursive: true });
    else if (typeof node === 'string' || node instanceof Uint8Array) await fs.writeFile(path, node);
    else await fs.symlink(node.to, path);
  }
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
