import {
  type Capabilities,
  type Checkpoint,
  type FileSystem,
  MemoryStorage,
  openFileSystem,
  type SyncFileSystem,
} from '@scratchfs/core';
import { diff } from '@scratchfs/core/diff';
import { mount, observe, overlay, readonly, restrict } from '@scratchfs/core/layers';
import { createSnapshot, restoreSnapshot } from '@scratchfs/core/snapshot';
import { type Dump, differences, dump } from '../dump.js';
import { errorName } from '../outcome.js';
import { equal, errorOf, fail, ok } from './assert.js';
import type { Add } from './context.js';
import { syncForm } from './sync-form.js';

type Layer = (lower: FileSystem) => FileSystem;

const open = { check: () => {}, isVisible: () => true, coversTree: () => true };
const secret = {
  check({ path }: { readonly path: string }): void {
    if (path.startsWith('/secret')) throw new Error(`${path} is secret`);
  },
  isVisible: (path: string) => !path.startsWith('/secret'),
};

const clock = () => 1_700_000_000_000;

function another(): SyncFileSystem {
  return openFileSystem(new MemoryStorage({ clock }), { clock });
}

function library(): FileSystem {
  const fs = another();
  fs.writeFileSync('/guide', 'read me');
  fs.mkdirSync('/mnt/work', { recursive: true });
  return readonly(fs);
}

/** The layers of core, over any filesystem. */
export const LAYERS: Readonly<Record<string, Layer>> = {
  readonly: (lower) => readonly(lower),
  'restrict that permits everything': (lower) => restrict(lower, open),
  'restrict that hides a directory': (lower) => restrict(lower, secret),
  observe: (lower) => observe(lower, () => {}),
  overlay: (lower) => overlay(lower),
  'mount of nothing': (lower) => mount(lower, {}),
  'mount with a read-only library': (lower) => mount(lower, { '/lib': library() }),
  'mount under a read-only root': (lower) => mount(library(), { '/mnt/work': lower }),
  'mount with a second writable filesystem': (lower) => mount(lower, { '/lib': another() }),
};

/** Directories to try. If a tested filesystem can be changed, it can be changed in one of these. */
const PLACES = ['/', '/mnt/work', '/mnt/work/mnt/work', '/lib', '/mnt/work/lib'];

/** Codes with which a layer that forbids changes may refuse one. */
const FORBIDDEN = ['EROFS', 'EACCES', 'EPERM'];

export function capabilityCases(add: Add): void {
  add('each does what it declares, and refuses the rest without a change', ({ fs }) => checkCapabilities(fs), {
    promiseOnly: true,
  });
  for (const [name, layer] of Object.entries(LAYERS)) {
    const run = ({ fs }: { readonly fs: FileSystem }) => checkCapabilities(layer(fs));
    add(`each is true through ${name}`, run, { promiseOnly: true });
  }
}

/**
 * Expects that each declared capability works, and that a call of an undeclared one is refused and changes nothing.
 * `sharedWatch` is not checked.
 */
export async function checkCapabilities(fs: FileSystem): Promise<void> {
  const { capabilities } = fs;
  const subject = new Subject(fs, await writablePlace(fs));
  equal(subject.place !== undefined, capabilities.writes, 'writes');
  for (const key of Object.keys(PROBES) as (keyof typeof PROBES)[]) {
    const before = await dump(fs);
    const kept = await checkpointsOf(fs);
    if (capabilities[key]) await PROBES[key](subject);
    else await subject.isRefused(key, before);
    for (const checkpoint of await checkpointsOf(fs))
      if (!kept.some(({ id }) => id === checkpoint.id)) await fs.drop(checkpoint);
  }
}

class Subject {
  constructor(
    readonly fs: FileSystem,
    /** A directory that takes changes; undefined if there is none. */
    readonly place: string | undefined,
  ) {}

  get file(): string {
    return this.place === '/' ? '/probe' : `${this.place}/probe`;
  }

  /** Changes something and returns the state before. */
  async change(): Promise<Dump> {
    const before = await dump(this.fs);
    await this.fs.writeFile(this.file, `changed ${before.stats.totalSize}`);
    return before;
  }

  async isAsBefore(before: Dump, what: string): Promise<void> {
    equal(changes(before, await dump(this.fs)), [], what);
  }

  async isRefused(key: keyof typeof PROBES, before: Dump): Promise<void> {
    // A layer that permits no change may refuse with its own code.
    const codes = this.place === undefined ? ['ENOTSUP', ...FORBIDDEN] : ['ENOTSUP'];
    const name = errorName(await errorOf(() => CALLS[key](this.fs), `${key} to be refused`));
    // Without checkpoints, the call can only name one that does not exist.
    if (!this.fs.capabilities.checkpoints) codes.push('ENOENT');
    ok(codes.includes(name), `${key} is not declared, so the call must fail with ${codes.join(' or ')}, not ${name}`);
    await this.isAsBefore(before, `the state after ${key} was refused`);
  }
}

/** The calls that fail if a capability is not declared. */
const CALLS: Readonly<Record<Exclude<keyof Capabilities, 'sharedWatch' | 'writes'>, (fs: FileSystem) => unknown>> = {
  checkpoints: (fs) => fs.checkpoint('refused'),
  rollback: async (fs) => fs.rollback(fs.capabilities.checkpoints ? await fs.checkpoint() : 'none'),
  at: async (fs) => fs.at(fs.capabilities.checkpoints ? await fs.checkpoint() : 'none'),
  diff: async (fs) => diff(fs, fs.capabilities.checkpoints ? await fs.checkpoint() : 'none'),
  restore: async (fs) => restoreSnapshot(fs, await createSnapshot(fs)),
  transactions: (fs) => fs.transaction(async () => {}),
  forks: (fs) => fs.fork(),
};

const PROBES: Readonly<Record<keyof typeof CALLS, (subject: Subject) => Promise<void>>> = {
  async checkpoints({ fs }) {
    const checkpoint = await fs.checkpoint('probe');
    ok(
      (await fs.checkpoints()).some(({ id }) => id === checkpoint.id),
      'a new checkpoint is listed',
    );
    await fs.drop('probe');
    equal(await fs.checkpoints(), [], 'checkpoints after drop');
  },
  async rollback(subject) {
    for (const form of formsOf(subject.fs)) {
      const checkpoint = await form.checkpoint();
      const before = await subject.change();
      await form.rollback(checkpoint);
      await subject.isAsBefore(before, 'the state after rollback');
    }
  },
  async at(subject) {
    const { fs } = subject;
    // A filesystem that takes no changes has no checkpoints of its own.
    if (!fs.capabilities.checkpoints) return;
    for (const form of formsOf(fs)) {
      const checkpoint = await form.checkpoint();
      const before = await subject.change();
      const then = await form.at(checkpoint);
      equal(changes(before, await dump(then)), [], 'the state of the checkpoint');
      equal(then.capabilities.writes, false, 'the state of a checkpoint can be changed');
      await then.close();
      await fs.rm(subject.file);
    }
  },
  async diff(subject) {
    const { fs } = subject;
    // A filesystem that takes no changes has no checkpoints of its own.
    if (!fs.capabilities.checkpoints) return;
    const checkpoint = await fs.checkpoint();
    equal(await diff(fs, checkpoint), { added: [], removed: [], changed: [] }, 'diff without a change');
    await fs.writeFile(subject.file, 'new');
    const { added, changed } = await diff(fs, checkpoint);
    equal(
      [...added, ...changed].map(({ path }) => path).filter((path) => path === subject.file),
      [subject.file],
      'paths of diff',
    );
    await fs.rm(subject.file);
  },
  async restore(subject) {
    const { fs } = subject;
    const bytes = await createSnapshot(fs);
    const before = await subject.change();
    await restoreSnapshot(fs, bytes);
    await subject.isAsBefore(before, 'the state after restoreSnapshot');
  },
  async transactions({ fs, place, file }) {
    equal(await fs.transaction(async (tx) => tx.exists('/')), true, 'a transaction that reads');
    if (place === undefined) return;
    const before = await dump(fs);
    const work = async (tx: FileSystem, isKept: boolean): Promise<void> => {
      await tx.writeFile(file, 'in a transaction');
      for (const key of ['checkpoints', 'transactions', 'forks'] as const)
        equal(tx.capabilities[key], false, `${key} in a transaction`);
      if (!isKept) throw new Error('undo');
    };
    const error = await errorOf(() => fs.transaction((tx) => work(tx, false)), 'the error of the work');
    equal((error as Error).message, 'undo', 'error of the transaction');
    equal(changes(before, await dump(fs)), [], 'the state after a failed transaction');
    await fs.transaction((tx) => work(tx, true));
    equal(await fs.readText(file), 'in a transaction', 'content after the transaction');
    await fs.rm(file);
  },
  async forks({ fs, place, file }) {
    const before = await dump(fs);
    for (const form of formsOf(fs)) {
      const fork = await form.fork();
      if (place !== undefined) await fork.writeFile(file, 'in the fork');
      await fork.close();
    }
    equal(changes(before, await dump(fs)), [], 'the state after a change in a fork');
  },
};

/** Returns the checkpoints; none for a filesystem that has no such list. */
async function checkpointsOf(fs: FileSystem): Promise<Checkpoint[]> {
  try {
    return await fs.checkpoints();
  } catch (error) {
    ok(errorName(error) === 'ENOTSUP' && !fs.capabilities.checkpoints, `checkpoints() failed with ${errorName(error)}`);
    return [];
  }
}

/** Returns the differences of two states, without the counters: those of a mount count what mount points hide. */
function changes(before: Dump, after: Dump): string[] {
  return differences({ ...before, stats: after.stats }, after);
}

function formsOf(fs: FileSystem): FileSystem[] {
  return fs.kind === 'sync' ? [fs, syncForm(fs as Parameters<typeof syncForm>[0])] : [fs];
}

async function writablePlace(fs: FileSystem): Promise<string | undefined> {
  for (const place of PLACES) {
    const file = place === '/' ? '/probe' : `${place}/probe`;
    if (!(await fs.exists(place))) continue;
    try {
      await fs.writeFile(file, 'x');
    } catch (error) {
      if (!FORBIDDEN.includes(errorName(error))) fail(`writeFile ${file} failed with ${errorName(error)}`);
      continue;
    }
    await fs.rm(file);
    return place;
  }
  return undefined;
}
