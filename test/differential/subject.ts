import type { EntryInfo, FileEntry, Stats, SyncFileSystem } from '@scratchfs/core';
import { type Call, callOf, type Step } from '@scratchfs/testkit';
import { failure, type Outcome, type StatValue } from './outcome.js';
import type { Tree, TreeNode } from './tree.js';
import { lexical } from './virtual-path.js';

type Methods = Record<string, (...args: readonly unknown[]) => unknown>;

/** First time of the clock of a filesystem under test, in ms: later than every time that a step sets. */
export const FIRST_TICK = 5_000_000_000_000;

/** A clock that stands still within an operation and advances by 1 ms before each. */
export class Ticks {
  now = FIRST_TICK;
  readonly clock = () => this.now;
}

/** Converts the result of a call to the form that both sides share. */
function comparable(step: Step, call: Call, result: unknown): unknown {
  switch (step.op) {
    case 'stat':
    case 'lstat':
    case 'handleStat':
      return statValue(result as Stats);
    case 'getEntry': {
      const { kind, size, content, target, mode } = result as FileEntry;
      return { kind, mode, size: kind === 'directory' ? 0 : size, content, target: target ?? null };
    }
    case 'entries':
      return (result as EntryInfo[]).map(({ name, kind }) => ({ name, kind }));
    case 'walk': {
      // Relative to the path at which the walk began, whatever links led there.
      const base = (result as EntryInfo[])[0];
      const cut = base === undefined ? 0 : base.path.length - base.name.length;
      return (result as EntryInfo[]).map(({ path, kind }) => ({ path: path.slice(cut), kind }));
    }
    case 'read': {
      const length = result as number;
      return { length, bytes: (call.args[0] as Uint8Array).subarray(0, length) };
    }
    default:
      return result;
  }
}

export function statValue(stats: Stats): StatValue {
  const { kind, mode, uid, gid, nlink, size } = stats;
  const common = { kind, mode: mode & 0o7777, uid, gid };
  return kind === 'directory' ? common : { ...common, nlink, size };
}

const NO_HANDLE: Outcome = { ok: false, code: 'no handle' };

/** Runs steps on a filesystem by its `…Sync` methods. */
export class SyncSubject {
  readonly #handles = new Map<number, Methods>();

  constructor(
    readonly fileSystem: SyncFileSystem,
    readonly ticks: Ticks,
  ) {}

  run(step: Step): Outcome {
    const call = callOf(step);
    const target = call.on === 'fileSystem' ? this.fileSystem : this.#handles.get(call.on);
    if (target === undefined) return NO_HANDLE;
    if (step.op === 'open') this.#close(step.args.slot);
    try {
      const result = (target as unknown as Methods)[`${call.method}Sync`]?.(...call.args);
      if (step.op === 'open') {
        this.#handles.set(step.args.slot, result as Methods);
        return { ok: true, value: undefined };
      }
      if (step.op === 'close') this.#handles.delete(step.args.slot);
      return {
        ok: true,
        value: comparable(step, call, step.op === 'walk' ? [...(result as Iterable<unknown>)] : result),
      };
    } catch (error) {
      return failure(error, step.op === 'symlink', lexical);
    }
  }

  times(path: string): Stats | undefined {
    try {
      return this.fileSystem.lstatSync(path);
    } catch {
      return undefined;
    }
  }

  tree(): Tree {
    const tree: Tree = new Map();
    const add = (path: string) => {
      const stats = this.fileSystem.lstatSync(path);
      const node: TreeNode = {
        ...statValue(stats),
        ino: stats.ino,
        atime: stats.atimeMs,
        mtime: stats.mtimeMs,
        ctime: stats.ctimeMs,
        ...(stats.kind === 'file' ? { content: this.fileSystem.readFileSync(path) } : {}),
        ...(stats.kind === 'symlink' ? { target: this.fileSystem.readlinkSync(path) } : {}),
      };
      tree.set(path, node);
      if (stats.kind !== 'directory') return;
      for (const name of this.fileSystem.readdirSync(path)) add(path === '/' ? `/${name}` : `${path}/${name}`);
    };
    add('/');
    return tree;
  }

  close(): void {
    for (const slot of [...this.#handles.keys()]) this.#close(slot);
  }

  #close(slot: number): void {
    this.#handles.get(slot)?.closeSync?.();
    this.#handles.delete(slot);
  }
}
