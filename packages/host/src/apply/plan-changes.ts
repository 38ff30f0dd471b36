import { readlinkSync } from 'node:fs';
import { baseName, FsError, isFsError, joinPath, parentPath } from '@scratchfs/core';
import { type ConfinedRoot, levelOf, TEMPORARY, type Trail } from '../confined-root.js';
import { isTurnDue, nextTurn } from '../event-loop.js';
import type { BatchCheck, GitProtection } from '../git-protection.js';
import { hostError, isCode } from '../host-error.js';
import { checkTarget, RESERVED } from '../host-writes.js';
import type { Kind, PathHandle } from '../path-handle.js';
import { type Fingerprint, fingerprintOf } from './journal.js';
import { isInState, type KnownChange, type KnownState, MODE_BITS } from './path-change.js';

/**
 * Reason for a conflict. `changed`: the entry is not the one that the change began from; `missing`: it was removed;
 * `exists`: the change creates a path that exists already, maybe in another case on a disk that ignores case.
 * `overwrite` writes neither that one nor a path with one of the other reasons. `not-a-directory`: an entry on the way is
 * not a directory, or will not be one; `not-empty`: a directory to remove or replace holds entries that the changes do not
 * remove; `special`: the path is a pipe, a socket or a device.
 */
export type ConflictCode = 'changed' | 'missing' | 'exists' | 'not-a-directory' | 'not-empty' | 'special';

/** A path whose change does not fit the state of the disk. */
export interface ApplyConflict {
  readonly path: string;
  readonly code: ConflictCode;
}

/** Entry on the disk that a change modifies, replaces or removes. */
export interface CurrentEntry {
  readonly kind: Kind;
  readonly mode: number;
  readonly is: Fingerprint;
  /** Names in a directory that the change removes or replaces; otherwise empty. */
  readonly names: readonly string[];
}

/** Change of one path to carry out. */
export interface PlannedChange {
  readonly path: string;
  readonly current: CurrentEntry | undefined;
  readonly after: KnownState | undefined;
  /**
   * Reports whether an entry that was taken from the path, and lies at `place` now, may be replaced: another process may
   * have changed it.
   */
  readonly mayReplace: (taken: PathHandle, place: string) => Promise<boolean>;
}

export interface ChangePlan {
  /** Sorted by path. Includes missing directories above new entries. */
  readonly changes: readonly PlannedChange[];
  /** Given paths that will change. */
  readonly applied: readonly string[];
  readonly unchanged: readonly string[];
  readonly conflicts: readonly ApplyConflict[];
  /** Paths that keep their state because of a conflict. */
  readonly skipped: readonly string[];
}

/** Codes of errors that add a path to `refused`. */
const REFUSED = ['EACCES', 'EXDEV', 'ENAMETOOLONG'] as const;

export interface PlanOptions {
  readonly overwrites: boolean;
  readonly signal: AbortSignal | undefined;
  /** Paths that cannot be written are added here instead of throwing. */
  readonly refused?: string[] | undefined;
  /** New paths that could not be created because the disk has them in another case. They become conflicts. */
  readonly taken?: ReadonlySet<string> | undefined;
}

/**
 * Compares changes with a directory of the host and decides what to do for each path.
 * @throws FsError EACCES for protected and reserved paths and for links that lead out, EXDEV for paths on another file
 *   system, and what else the host throws, unless `refused` collects the path; the reason of the signal
 */
export async function planChanges(
  root: ConfinedRoot,
  protection: GitProtection | undefined,
  changes: readonly KnownChange[],
  { overwrites, signal, refused, taken }: PlanOptions,
): Promise<ChangePlan> {
  const planner = new Planner(root, protection?.forBatch(), overwrites, taken);
  for (const change of changes) {
    if (isTurnDue()) await nextTurn();
    signal?.throwIfAborted();
    try {
      await planner.examine(change);
    } catch (error) {
      const failure = hostError(error, 'apply', change.path);
      if (refused === undefined || !REFUSED.some((code) => isFsError(failure, code))) throw failure;
      refused.push(change.path);
    }
  }
  return planner.result(changes);
}

class Planner {
  readonly #conflicts = new Map<string, ConflictCode>();
  /** Changes to carry out, by path, in the order of their paths. */
  readonly #planned = new Map<string, PlannedChange>();
  readonly #unchanged: string[] = [];
  /** Paths as the disk spells them, by paths that exist in another case only. */
  readonly #spelledOnDisk = new Map<string, string>();

  constructor(
    readonly root: ConfinedRoot,
    readonly protection: BatchCheck | undefined,
    readonly overwrites: boolean,
    readonly taken: ReadonlySet<string> = new Set(),
  ) {}

  async examine({ path, before, after }: KnownChange): Promise<void> {
    if (path.split('/').some((name) => name.startsWith(TEMPORARY)))
      throw new FsError('EACCES', { syscall: 'apply', path, hint: RESERVED });
    if (after?.kind === 'symlink') checkTarget(after.target as string, path);
    using trail = this.root.walk(path);
    const handles = trail.pathHandles;
    const parent = (trail.complete ? handles.at(-2) : handles.at(-1)) as PathHandle;
    if (parent.stat.dev !== handles[0]?.stat.dev) throw elsewhere(path);
    let found = trail.complete ? trail.last : undefined;
    if (found === undefined && after !== undefined) this.#noteSpelling(trail);
    const isIn = async (state: KnownState | undefined): Promise<boolean> => {
      if (found === undefined || state === undefined) return found === state;
      try {
        return await isInState(found, () => this.root.targetOf(parent, baseName(path), levelOf(path)).target, state);
      } catch (error) {
        if (!isCode(error, 'ENOENT')) throw error;
        // A disk by FUSE may show a file for a second after it was removed by its name in another case.
        found = undefined;
        return false;
      }
    };
    await this.protection?.checkEntry(path, useOf(found?.kind, after));
    if (await isIn(after)) {
      this.#unchanged.push(path);
      return;
    }
    if (found?.kind === 'special') {
      this.#conflicts.set(path, 'special');
      return;
    }
    const isExpected = await isIn(before);
    const entry = found;
    if (!isExpected)
      this.#conflicts.set(path, entry === undefined ? 'missing' : before === undefined ? 'exists' : 'changed');
    if (!isExpected && !this.overwrites) return;
    const makesRoom = entry?.kind === 'directory' && after?.kind !== 'directory';
    const isKept = entry?.kind === 'directory' && after?.kind === 'directory' && after.mode !== undefined;
    const special = isKept ? Number(entry.stat.mode) & 0o7777 & ~MODE_BITS : 0;
    this.#planned.set(path, {
      path,
      after: isKept ? { ...after, mode: (after.mode as number) | special } : after,
      current: entry && {
        kind: entry.kind,
        mode: Number(entry.stat.mode) & 0o7777,
        is: fingerprintOf(entry.stat),
        names: makesRoom ? await entry.names() : [],
      },
      mayReplace: async (taken, place) => {
        if (before === undefined || this.overwrites) return this.overwrites;
        return isInState(taken, () => this.root.translated(readlinkSync(place), levelOf(path)).target, before);
      },
    });
  }

  result(changes: readonly KnownChange[]): ChangePlan {
    this.#keepFullDirectories();
    for (const { path, after } of [...this.#planned.values()])
      if (after !== undefined && this.#isTaken(path)) this.#drop(path, 'exists');
    const made = this.#requireDirectories();
    const paths = changes.map(({ path }) => path);
    const planned = [...made, ...this.#planned.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
    const conflicts = paths.flatMap((path) => {
      const code = this.#conflicts.get(path);
      return code === undefined ? [] : [{ path, code }];
    });
    return {
      changes: planned,
      applied: paths.filter((path) => this.#planned.has(path)),
      unchanged: this.#unchanged,
      conflicts,
      skipped: conflicts.map(({ path }) => path).filter((path) => !this.#planned.has(path)),
    };
  }

  #noteSpelling(trail: Trail): void {
    const found = trail.otherSpelling();
    if (found !== undefined) this.#spelledOnDisk.set(found.path, found.onDisk);
  }

  /** Reports whether the disk has a path in another case, and the changes do not remove that entry. */
  #isTaken(path: string): boolean {
    if (this.taken.has(path)) return true;
    const onDisk = this.#spelledOnDisk.get(path);
    const other = onDisk === undefined ? undefined : this.#planned.get(onDisk);
    return onDisk !== undefined && (other === undefined || other.after !== undefined);
  }

  #drop(path: string, code: ConflictCode): void {
    this.#planned.delete(path);
    this.#conflicts.set(path, code);
  }

  /** Drops changes of directories that must be empty and will not be. */
  #keepFullDirectories(): void {
    for (const { path, current } of [...this.#planned.values()].reverse()) {
      const isEmptied = current?.names.every((name) => {
        const inside = this.#planned.get(joinPath(path, name));
        return inside !== undefined && inside.after === undefined;
      });
      if (isEmptied === false) this.#drop(path, 'not-empty');
    }
  }

  /** Drops new entries whose parent will not be a directory, and returns the missing directories above the others. */
  #requireDirectories(): PlannedChange[] {
    const made = new Map<string, PlannedChange>();
    for (const { path, after } of [...this.#planned.values()]) {
      if (after === undefined) continue;
      const missing: string[] = [];
      let parent = parentPath(path);
      for (; this.#isMissing(parent, made); parent = parentPath(parent)) missing.push(parent);
      if (!this.#isDirectory(parent, made)) this.#drop(path, 'not-a-directory');
      else for (const directory of missing) made.set(directory, newDirectory(directory));
    }
    return [...made.values()];
  }

  #isMissing(path: string, made: ReadonlyMap<string, PlannedChange>): boolean {
    if (path === '/' || made.has(path) || this.#planned.has(path) || this.#isTaken(path)) return false;
    using trail = this.root.walk(path);
    return !trail.complete && trail.last.kind === 'directory';
  }

  #isDirectory(path: string, made: ReadonlyMap<string, PlannedChange>): boolean {
    if (made.has(path)) return true;
    const planned = this.#planned.get(path);
    if (planned !== undefined) return planned.after?.kind === 'directory';
    using trail = this.root.walk(path);
    return trail.complete && trail.last.kind === 'directory';
  }
}

function newDirectory(path: string): PlannedChange {
  const after: KnownState = {
    kind: 'directory',
    mode: undefined,
    data: undefined,
    sha256: undefined,
    target: undefined,
  };
  return { path, current: undefined, after, mayReplace: async () => false };
}

function useOf(current: Kind | undefined, after: KnownState | undefined): 'change' | 'place' | 'displace' {
  if (after === undefined) return 'displace';
  if (after.kind === 'symlink') return 'place';
  return current === undefined || current === after.kind ? 'change' : 'place';
}

function elsewhere(path: string): FsError {
  const hint = 'Another file system is mounted there: apply its changes to its own directory';
  return new FsError('EXDEV', { syscall: 'apply', path, hint });
}
