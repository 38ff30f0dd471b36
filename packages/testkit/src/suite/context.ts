import type { FileSystem, FsError, Limits } from '@scratchfs/core';
import { isFsError } from '@scratchfs/core';
import { differences, dump, recount } from '../dump.js';
import { errorName } from '../outcome.js';
import { errorOf, fail, ok, print } from './assert.js';
import { syncForm } from './sync-form.js';

/** The options of `create`. */
export interface CreateOptions {
  /** Epoch milliseconds. The source of every stored time. */
  readonly clock: () => number;
  readonly limits?: Limits | undefined;
}

/** A clock that advances only when told to. */
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

/** Passed to each case. */
export interface Context {
  /** The filesystem in the form under test: its promise methods, or its `…Sync` methods under the same names. */
  readonly fs: FileSystem;
  readonly form: 'promise' | 'sync';
  readonly clock: ManualClock;
  /** Creates another empty filesystem in the same form. */
  create(limits?: Limits): Promise<FileSystem>;
  /** Expects a well-formed error with one of these codes or names, and no change. */
  fails(call: () => unknown, ...names: readonly string[]): Promise<FsError>;
}

export interface Case {
  readonly name: string;
  readonly limits?: Limits | undefined;
  /** Runs only with promise methods, because the feature has no synchronous form. */
  readonly promiseOnly?: boolean | undefined;
  readonly run: (context: Context) => Promise<void>;
}

export type Add = (name: string, run: Case['run'], options?: Pick<Case, 'limits' | 'promiseOnly'>) => void;

export type Create = (options: CreateOptions) => FileSystem | Promise<FileSystem>;

/**
 * Runs a case with the promise methods, and with the `…Sync` methods if there are any and the case is not `promiseOnly`,
 * each on a new filesystem.
 */
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

/** Expects that `stats` equals a recount. */
export async function checkCounts(fs: FileSystem): Promise<void> {
  let state: Awaited<ReturnType<typeof dump>>;
  try {
    state = await dump(fs);
  } catch (error) {
    // A case may close its filesystem.
    if (errorName(error) === 'EBADF') return;
    throw error;
  }
  const counted = recount(state);
  for (const key of Object.keys(counted) as (keyof typeof counted)[]) {
    ok(state.stats[key] === counted[key], `stats.${key} says ${state.stats[key]}, a recount gives ${counted[key]}`);
  }
}

/** Creates a tree: text makes a file, null a directory, `{ to }` a symlink. Missing parents are created. */
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
