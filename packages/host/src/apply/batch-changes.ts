import { type BigIntStats, constants } from 'node:fs';
import { baseName, FsError, joinPath, type Metadata, type NodeId, parentPath, type Write } from '@scratchfs/core';
import { checkLinks } from '../check-links.js';
import { type ConfinedRoot, TEMPORARY } from '../confined-root.js';
import { checkTarget, RESERVED } from '../host-writes.js';
import type { NodeIds } from '../node-ids.js';
import type { PathHandle } from '../path-handle.js';
import { fingerprintOf, isSameEntry } from './journal.js';
import type { KnownState } from './path-change.js';
import type { PlannedChange } from './plan-changes.js';

/** Changes of a batch of writes. */
export interface BatchChanges {
  /** Sorted by path. */
  readonly changes: readonly PlannedChange[];
  /** Ids of the new entries, by path. */
  readonly ids: ReadonlyMap<string, NodeId>;
  /** Stats of the entries that the batch was compared with. */
  readonly compared: readonly BigIntStats[];
}

type Find<K extends Write['kind']> = Extract<Write, { kind: K }>;

/**
 * Returns the changes that a batch of writes makes to each path, compared with the disk. The preconditions of the batch
 * must be checked afterwards: another process may have changed an entry before it was compared.
 * @throws FsError ENOTSUP for writes that cannot be a change of single paths, such as hard links, copies, moves of
 *   directories, and removals of directories that are not empty; EACCES for reserved names and links that lead out;
 *   what the host throws
 */
export async function batchChanges(root: ConfinedRoot, ids: NodeIds, writes: readonly Write[]): Promise<BatchChanges> {
  const batch = new BatchOfPaths(root, ids);
  for (const write of writes) {
    const path = 'to' in write ? write.to : 'path' in write ? write.path : '/';
    if (baseName(path).startsWith(TEMPORARY)) throw new FsError('EACCES', { syscall: 'apply', path, hint: RESERVED });
    await batch.add(write);
  }
  return batch.result();
}

interface NewState {
  readonly state: KnownState | undefined;
  readonly id: NodeId | undefined;
}

class BatchOfPaths {
  /** New states by path. */
  readonly #states = new Map<string, NewState>();

  constructor(
    readonly root: ConfinedRoot,
    readonly ids: NodeIds,
  ) {}

  async add(write: Write): Promise<void> {
    if (write.kind === 'touch') return;
    if (write.kind === 'create') this.#create(write);
    else if (write.kind === 'write') await this.#write(write);
    else if (write.kind === 'remove') await this.#remove(write.path);
    else if (write.kind === 'move') await this.#move(write);
    else if (write.kind === 'meta') await this.#setMode(write);
    else throw unsupported('path' in write ? write.path : 'to' in write ? write.to : '/');
  }

  result(): BatchChanges {
    const changes: PlannedChange[] = [];
    const ids = new Map<string, NodeId>();
    const compared: BigIntStats[] = [];
    for (const [path, { state, id }] of this.#states) {
      using trail = this.root.walk(path);
      const entry = trail.complete ? trail.last : undefined;
      if (entry === undefined && state === undefined) continue;
      if (id !== undefined) ids.set(path, id);
      if (entry !== undefined) compared.push(entry.stat);
      const is = entry && fingerprintOf(entry.stat);
      const current = entry && is && { kind: entry.kind, mode: Number(entry.stat.mode) & 0o7777, is, names: [] };
      // Only the entry that the batch was compared with may be replaced.
      const mayReplace = async (taken: PathHandle): Promise<boolean> =>
        is !== undefined && isSameEntry(is, fingerprintOf(taken.stat));
      changes.push({ path, current, after: state, mayReplace });
    }
    return { changes: changes.sort((a, b) => (a.path < b.path ? -1 : 1)), ids, compared };
  }

  #create({ path, type, meta, content, target, id }: Find<'create'>): void {
    if (type === 'symlink') checkTarget(target ?? '', path);
    const data = type === 'file' ? (content ?? new Uint8Array()) : undefined;
    const linked = type === 'symlink' ? (target ?? '') : undefined;
    this.#states.set(path, { state: stateOf(type, meta.mode, data, linked), id });
  }

  async #write({ path, size, parts, meta }: Find<'write'>): Promise<void> {
    const before = await this.#at(path);
    if (before.state?.kind !== 'file') throw unsupported(path);
    const data = new Uint8Array(size);
    data.set((before.state.data as Uint8Array).subarray(0, size));
    for (const { offset, bytes } of parts) data.set(bytes, offset);
    this.#states.set(path, { state: stateOf('file', meta.mode, data), id: before.id });
  }

  async #remove(path: string): Promise<void> {
    if (await this.#isFull(path)) throw unsupported(path);
    this.#states.set(path, { state: undefined, id: undefined });
  }

  async #move({ from, to }: Find<'move'>): Promise<void> {
    const moved = await this.#at(from);
    if (moved.state === undefined || moved.state.kind === 'directory') throw unsupported(from);
    if (moved.state.kind === 'symlink' && !this.#states.has(from)) {
      using trail = this.root.walk(parentPath(from));
      await checkLinks(trail.last.child(baseName(from)), from, to);
    }
    this.#states.set(from, { state: undefined, id: undefined });
    this.#states.set(to, moved);
  }

  async #setMode({ path, meta }: Find<'meta'>): Promise<void> {
    const { state, id } = await this.#at(path);
    if (state === undefined || !this.#differsInModeOnly(path, meta)) throw unsupported(path);
    this.#states.set(path, { state: { ...state, mode: meta.mode }, id });
  }

  #differsInModeOnly(path: string, meta: Metadata): boolean {
    if (this.#states.has(path)) return true;
    using trail = this.root.walk(path);
    const { stat } = trail.last;
    const isOwner = Number(stat.uid) === meta.uid && Number(stat.gid) === meta.gid;
    return isOwner && Number(stat.mtimeMs) === Math.floor(meta.mtime);
  }

  /** Reports whether a directory holds anything after the writes so far. */
  async #isFull(path: string): Promise<boolean> {
    using trail = this.root.walk(path);
    const names = trail.complete && trail.last.kind === 'directory' ? await trail.last.names() : [];
    if (names.some((name) => !this.#states.has(joinPath(path, name)))) return true;
    return [...this.#states].some(([other, { state }]) => state !== undefined && parentPath(other) === path);
  }

  /** Returns the state of a path after the writes so far. */
  async #at(path: string): Promise<NewState> {
    const known = this.#states.get(path);
    if (known !== undefined) return known;
    using trail = this.root.walk(path);
    if (!trail.complete) return { state: undefined, id: undefined };
    const handle = trail.last;
    const mode = Number(handle.stat.mode) & 0o7777;
    const id = this.ids.of(handle.stat);
    if (handle.kind === 'directory') return { state: stateOf('directory', mode), id };
    if (handle.kind === 'symlink') {
      const parent = trail.pathHandles.at(-2) as PathHandle;
      return { state: stateOf('symlink', mode, undefined, parent.readLink(baseName(path))), id };
    }
    if (handle.kind === 'special') throw unsupported(path);
    const file = await handle.open(constants.O_RDONLY);
    try {
      return { state: stateOf('file', mode, await file.readFile()), id };
    } finally {
      await file.close();
    }
  }
}

function stateOf(kind: KnownState['kind'], mode: number, data?: Uint8Array, target?: string): KnownState {
  return { kind, mode, data, sha256: undefined, target };
}

function unsupported(path: string): FsError {
  return new FsError('ENOTSUP', {
    syscall: 'transaction',
    path,
    hint: 'In a directory of the host only files, links and empty directories can be changed together, not moved directories, copies, hard links, times and owners',
  });
}
