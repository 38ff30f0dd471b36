import { type BigIntStats, lstatSync } from 'node:fs';
import { chmod, link, mkdir, rename, rm, rmdir, symlink, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { baseName, FsError, parentPath, quote } from '@scratchfs/core';
import type { ConfinedRoot } from '../confined-root.js';
import { isTurnDue, nextTurn } from '../event-loop.js';
import { hostError, isCode } from '../host-error.js';
import { fill } from '../host-writes.js';
import { settle, writeDurably } from '../merge/durable.js';
import { NO_LINK } from '../merge/kept-files.js';
import { newMergeId } from '../merge/plan.js';
import { acquireProcessLock } from '../merge/process-lock.js';
import { spellingIn } from '../names-in.js';
import { PathHandle } from '../path-handle.js';
import type { StagingDirectory } from '../staging-directory.js';
import {
  DONE,
  type Fingerprint,
  fingerprintOf,
  isSameEntry,
  JOURNAL,
  type Journal,
  JournalDirectory,
  journalFile,
  MAX_STEPS_BYTES,
  openJournal,
  type Step,
} from './journal.js';
import { MODE_BITS } from './path-change.js';
import type { PlannedChange } from './plan-changes.js';

/**
 * An entry that could not get its path back when changes were undone, because another process has taken the path or
 * removed its directory.
 */
export interface KeptEntry {
  readonly path: string;
  /** Path at which the entry lies now. */
  readonly keptAt: string;
}

/** Thrown if a path has changed since the plan was made. */
export class PathChanged extends Error {
  /** @param isTaken true if the disk has the new path in another case */
  constructor(
    readonly path: string,
    readonly isTaken = false,
  ) {
    super(`Another process has changed ${quote(path)}`);
  }
}

/** Directory in a journal directory with entries that could not get their paths back. */
const KEPT = 'kept';

/** Age in milliseconds below which an entry may have been changed twice with the same time. */
const RACY_MS = 2_000;

/** Maximum number of new entries that are prepared, or of directories that are synced, concurrently. */
const FILES_AT_ONCE = 16;

/**
 * Changes of a directory that are made completely or not at all. The new entries are prepared in a journal directory at
 * the top of the root, together with a list of steps. A step moves an old entry into the journal directory, gives a new
 * one its name, or sets the mode of a directory. No step moves an entry onto another one, with the exceptions that
 * {@link giveName} names. So what another process puts at a path in between is not replaced, and what it changes before
 * a step is found in the journal directory and returned. All steps can be undone from their list alone. A file named
 * `done` beside the list says that all of them were made.
 */
export class ChangeJournal implements Disposable {
  /** Old files and links as they were taken, by the number of their change. */
  readonly #taken = new Map<number, ReturnType<typeof fingerprintOf>>();

  private constructor(
    readonly root: ConfinedRoot,
    readonly staging: StagingDirectory,
    readonly directory: JournalDirectory,
    readonly journal: Journal,
    readonly lock: string,
  ) {}

  /**
   * Prepares the changes. Undefined if the directory has the journal of other changes.
   * @throws FsError EFBIG for too many changes, what the host throws, and the reason of the signal; nothing is changed
   *   then
   */
  static async begin(
    root: ConfinedRoot,
    staging: StagingDirectory,
    changes: readonly PlannedChange[],
    signal: AbortSignal | undefined,
  ): Promise<ChangeJournal | undefined> {
    const draft = await staging.place();
    let directory: JournalDirectory | undefined;
    try {
      await JournalDirectory.create(draft);
      for (let at = 0; at < changes.length; at += FILES_AT_ONCE) {
        signal?.throwIfAborted();
        const some = changes.slice(at, at + FILES_AT_ONCE);
        await Promise.all(some.map((change, i) => prepare(root, change, join(draft, 'new', String(at + i)))));
      }
      const journal = { id: newMergeId(), steps: stepsOf(changes, join(draft, 'new')) };
      const { name, content } = journalFile(journal);
      if (Buffer.byteLength(content) > MAX_STEPS_BYTES)
        throw new FsError('EFBIG', { syscall: 'apply', hint: 'There are too many changes for one call: divide them' });
      await writeDurably(join(draft, name), content);
      const lock = (await acquireProcessLock(draft, journal.id)) as string;
      for (const part of ['new', '']) await settle(join(draft, part));
      directory = JournalDirectory.open(PathHandle.at(draft)) as JournalDirectory;
      signal?.throwIfAborted();
      // The rename cannot replace another journal: only one can exist.
      await rename(draft, root.child(JOURNAL));
      const begun = new ChangeJournal(root, staging, directory, journal, lock);
      await settle(root.path);
      return begun;
    } catch (error) {
      // The rename may have happened all the same.
      const there = lstatSync(root.child(JOURNAL), { bigint: true, throwIfNoEntry: false });
      if (directory !== undefined && there?.ino === directory.top.stat.ino) await rename(root.child(JOURNAL), draft);
      directory?.[Symbol.dispose]();
      await staging.clear(draft);
      if (isCode(error, 'ENOTEMPTY', 'EEXIST')) return undefined;
      throw error;
    }
  }

  /**
   * Opens the journal that a process left. Undefined if there is none; `busy` if its process may still run, or if
   * another journal has taken its place.
   */
  static async find(root: ConfinedRoot, staging: StagingDirectory): Promise<ChangeJournal | 'busy' | undefined> {
    const place = root.child(JOURNAL);
    const found = openJournal(place);
    if (found === undefined) return undefined;
    const { directory, journal } = found;
    const lock = await acquireProcessLock(directory.top.path, journal.id);
    const now = lstatSync(place, { bigint: true, throwIfNoEntry: false });
    if (lock !== undefined && now?.ino === directory.top.stat.ino)
      return new ChangeJournal(root, staging, directory, journal, lock);
    directory[Symbol.dispose]();
    return now === undefined ? undefined : 'busy';
  }

  /** True if all changes were made. */
  get isDone(): boolean {
    return this.directory.top.look(DONE) !== undefined;
  }

  /**
   * Makes the changes.
   * @throws PathChanged, and what the host throws; the changes have to be undone then
   */
  async perform(changes: readonly PlannedChange[]): Promise<void> {
    for (const step of this.journal.steps) {
      if (isTurnDue()) await nextTurn();
      try {
        if (step.kind === 'take') await this.#take(step, changes[step.number] as PlannedChange);
        else if (step.kind === 'put') await this.#put(step);
        else await this.#setMode(step);
      } catch (error) {
        throw error instanceof PathChanged ? error : hostError(error, 'apply', step.path);
      }
    }
    await this.#settleAll();
    // A program that had an old file open may have written into it until now.
    for (const step of this.journal.steps) {
      if (step.kind !== 'take') continue;
      const taken = this.#taken.get(step.number);
      if (taken !== undefined && !isSameEntry(taken, fingerprintOf(this.#look(this.#old(step)) as BigIntStats)))
        throw new PathChanged(step.path);
    }
    await writeDurably(this.directory.top.child(DONE), '');
    await settle(this.directory.top.path);
  }

  /**
   * Undoes the changes as far as they were made. Entries that another process has created or changed since stay, and the
   * old ones there are kept under other names. Can be repeated if it fails midway; returns what earlier attempts kept,
   * too.
   */
  async undo(): Promise<KeptEntry[]> {
    if (this.isDone) {
      await unlink(this.directory.top.child(DONE));
      await settle(this.directory.top.path);
    }
    for (const [i, step] of [...this.journal.steps.entries()].reverse()) {
      if (isTurnDue()) await nextTurn();
      try {
        if (step.kind === 'put') await this.#undoPut(step, i);
        else if (step.kind === 'take') await this.#undoTake(step, i);
        else await this.#undoMode(step);
      } catch (error) {
        throw hostError(error, 'undo', step.path);
      }
    }
    await this.#settleAll();
    return this.#showKept();
  }

  /** Removes the journal. */
  async finish(): Promise<void> {
    const place = await this.staging.place();
    await rename(this.root.child(JOURNAL), place);
    this.directory[Symbol.dispose]();
    await this.staging.clear(place);
  }

  /** Closes the journal. If it still exists, the next call finds it. */
  [Symbol.dispose](): void {
    this.directory[Symbol.dispose]();
  }

  /** Gives up the lock, so that the next call can undo the changes, or complete them if all were made. */
  async release(): Promise<void> {
    await rm(this.directory.top.child(this.lock), { force: true }).catch(() => undefined);
  }

  async #take(step: Extract<Step, { kind: 'take' }>, { current, mayReplace }: PlannedChange): Promise<void> {
    const { path } = step;
    const place = this.#old(step);
    await this.#at(path, async (from) => {
      try {
        await rename(from, place);
      } catch (error) {
        throw isCode(error, 'ENOENT', 'ENOTDIR') ? new PathChanged(path) : error;
      }
    });
    using taken = PathHandle.at(place);
    const { mtimeMs } = taken.stat;
    const is = fingerprintOf(taken.stat);
    if (taken.kind === 'directory') {
      if (current?.kind !== 'directory' || (await taken.names()).length > 0) throw new PathChanged(path);
      return;
    }
    const isSurelySame = isSameEntry(is, step.is) && Number(mtimeMs) < Date.now() - RACY_MS;
    if (!isSurelySame && !(await mayReplace(taken, place))) throw new PathChanged(path);
    this.#taken.set(step.number, is);
  }

  async #put(step: Extract<Step, { kind: 'put' }>): Promise<void> {
    await this.#at(step.path, async (to) => {
      const place = this.directory.parts.new.child(String(step.number));
      if (await giveName(place, to)) return;
      using trail = this.root.walk(step.path);
      throw new PathChanged(step.path, trail.otherSpelling() !== undefined);
    });
  }

  async #setMode({ path, mode, is }: Extract<Step, { kind: 'chmod' }>): Promise<void> {
    await this.#at(path, async (place) => {
      if (!(await setModeOf(place, is.ino, mode))) throw new PathChanged(path);
    });
  }

  async #undoPut(step: Extract<Step, { kind: 'put' }>, i: number): Promise<void> {
    const { path, is } = step;
    const undone = this.directory.parts.undone.child(String(step.number));
    await this.#atIfThere(path, async (place) => {
      const now = this.#look(place);
      if (now === undefined || String(now.ino) !== is.ino) return;
      if (now.isDirectory()) {
        // A directory in which another process has created something stays.
        await rmdir(place).catch(unless('ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR'));
      } else if (isSameEntry(fingerprintOf(now), is)) await rename(place, undone).catch(unless('ENOENT', 'ENOTDIR'));
    });
    // Another process may have changed or replaced the entry just before it was moved, also in an earlier attempt to
    // undo.
    const moved = this.#look(undone);
    if (moved === undefined || isSameEntry(fingerprintOf(moved), is)) return;
    await this.#giveBack(path, undone, i);
  }

  async #undoTake(step: Extract<Step, { kind: 'take' }>, i: number): Promise<void> {
    const { path, is } = step;
    const old = this.#old(step);
    if (this.#look(old) !== undefined) await this.#giveBack(path, old, i);
    // Earlier versions made a directory writable in this step.
    if (isDirectoryMode(is.mode))
      await this.#undoMode({ kind: 'chmod', path, mode: (Number(is.mode) & 0o7777) | 0o200, is });
  }

  async #undoMode({ path, mode, is }: Extract<Step, { kind: 'chmod' }>): Promise<void> {
    await this.#atIfThere(path, async (place) => {
      const now = this.#look(place);
      if (now !== undefined && (Number(now.mode) & 0o7777) === mode)
        await setModeOf(place, is.ino, Number(is.mode) & 0o7777);
    });
  }

  /**
   * Gives an entry its path again. If the path is taken, or its directory is gone, moves the entry to the directory
   * `kept`, under a name that begins with the step's number.
   */
  async #giveBack(path: string, place: string, i: number): Promise<void> {
    const { ino } = this.#look(place) as BigIntStats;
    let isBack = false;
    await this.#atIfThere(path, async (to) => {
      isBack = this.#look(to)?.ino === ino || (await giveName(place, to));
    });
    if (isBack) return;
    const { top } = this.directory;
    await mkdir(top.child(KEPT)).catch(unless('EEXIST'));
    using kept = PathHandle.at(top.child(KEPT));
    if (kept.kind !== 'directory') throw new FsError('ENOTDIR', { syscall: 'undo', path });
    const name = `${i}-${baseName(path)}`;
    const isUsable = Buffer.byteLength(name) <= 255 && kept.look(name) === undefined;
    await rename(place, kept.child(isUsable ? name : `${i}-${newMergeId()}`));
  }

  /**
   * Moves the kept entries to the top of the root, all in one step, and returns them with those of earlier attempts.
   * The name comes from the journal, so an untrusted person may have taken it: `rename` follows no link there, and
   * fails if anything but an empty directory is there.
   */
  async #showKept(): Promise<KeptEntry[]> {
    const { root, directory } = this;
    let name = `.scratchfs-kept-${this.journal.id}`;
    // An earlier attempt may have moved entries before it failed.
    const shown = await this.#keptIn(name);
    if (directory.top.look(KEPT) === undefined) return shown;
    try {
      await rename(directory.top.child(KEPT), root.child(name));
    } catch (error) {
      if (!isCode(error, 'EEXIST', 'ENOTEMPTY', 'ENOTDIR')) throw error;
      name = `.scratchfs-kept-${newMergeId()}`;
      await rename(directory.top.child(KEPT), root.child(name));
    }
    await settle(root.child(name));
    await settle(root.path);
    return [...shown, ...(await this.#keptIn(name))];
  }

  /** Returns the kept entries in a directory at the top of the root, in the order of their steps, the last one first. */
  async #keptIn(name: string): Promise<KeptEntry[]> {
    using directory = PathHandle.find(this.root.child(name));
    if (directory?.kind !== 'directory') return [];
    const numbered = (await directory.names()).map((entry) => ({ entry, i: Number.parseInt(entry, 10) }));
    return numbered
      .sort((a, b) => b.i - a.i)
      .flatMap(({ entry, i }) => {
        const path = this.journal.steps[i]?.path;
        return path === undefined ? [] : [{ path, keptAt: `/${name}/${entry}` }];
      });
  }

  #old({ number }: Extract<Step, { kind: 'take' }>): string {
    return this.directory.parts.old.child(String(number));
  }

  #look(place: string): BigIntStats | undefined {
    return lstatSync(place, { bigint: true, throwIfNoEntry: false });
  }

  /**
   * Calls `use` with the host path of an entry, under the open handle of its directory. @throws PathChanged if that is
   * gone
   */
  async #at(path: string, use: (place: string) => Promise<void>): Promise<void> {
    if (!(await this.#atIfThere(path, use))) throw new PathChanged(path);
  }

  /** Like {@link #at}, but returns false if the directory is gone. */
  async #atIfThere(path: string, use: (place: string) => Promise<void>): Promise<boolean> {
    using trail = this.root.walk(parentPath(path));
    if (!trail.complete || trail.last.kind !== 'directory') return false;
    await use(trail.last.child(baseName(path)));
    return true;
  }

  /** Makes the names in all changed directories durable. */
  async #settleAll(): Promise<void> {
    const parents = [...new Set(this.journal.steps.map(({ path }) => parentPath(path)))];
    for (let at = 0; at < parents.length; at += FILES_AT_ONCE)
      await Promise.all(
        parents.slice(at, at + FILES_AT_ONCE).map(async (parent) => {
          using trail = this.root.walk(parent);
          if (trail.complete && trail.last.kind === 'directory') await settle(trail.last.path);
        }),
      );
  }
}

/** Prepares the new entry of a change at `place`, if it has one. */
async function prepare(root: ConfinedRoot, { path, current, after }: PlannedChange, place: string): Promise<void> {
  if (after === undefined || (after.kind === 'directory' && current?.kind === 'directory')) return;
  if (after.kind === 'symlink') await symlink(after.target as string, place);
  else if (after.kind === 'directory') {
    await mkdir(place);
    await chmod(place, opened(after.mode ?? created(true)));
  } else {
    using trail = root.walk(path);
    const replaced = trail.complete && trail.last.kind === 'file' ? trail.last : undefined;
    const mode = after.mode ?? (current?.kind === 'file' ? current.mode & MODE_BITS : created(false));
    await fill(place, after.data as Uint8Array, mode, replaced);
  }
}

function created(isDirectory: boolean): number {
  return (isDirectory ? 0o777 : 0o666) & ~process.umask();
}

/** Returns a mode of a directory with which its owner can create and remove entries in it, and move it. */
function opened(mode: number): number {
  return mode | 0o300;
}

/**
 * Returns the steps: directories are opened from the top down, entries removed from the bottom up, others placed from
 * the top down, and at last directories get a mode that is not open, from the bottom up.
 */
function stepsOf(changes: readonly PlannedChange[], prepared: string): Step[] {
  const opening: Step[] = [];
  const removing: Step[] = [];
  const placing: Step[] = [];
  const closing: Step[] = [];
  for (const [number, { path, current, after }] of changes.entries()) {
    const isKept = current?.kind === 'directory' && after?.kind === 'directory';
    let is = current?.is;
    if (current?.kind === 'directory') {
      const mode = opened(isKept ? (after.mode as number) : current.mode);
      if (mode !== current.mode) opening.push({ kind: 'chmod', path, mode, is: current.is });
      is = withMode(current.is, mode);
    }
    if (is !== undefined && !isKept)
      (after === undefined ? removing : placing).push({ kind: 'take', path, number, is });
    if (after === undefined) continue;
    if (!isKept) {
      is = fingerprintOf(lstatSync(join(prepared, String(number)), { bigint: true }));
      placing.push({ kind: 'put', path, number, is });
    }
    const mode = after.mode ?? created(true);
    if (after.kind === 'directory' && opened(mode) !== mode)
      closing.push({ kind: 'chmod', path, mode, is: is as Fingerprint });
  }
  return [...opening, ...removing.reverse(), ...placing, ...closing.reverse()];
}

function withMode(is: Fingerprint, mode: number): Fingerprint {
  return { ...is, mode: String((Number(is.mode) & ~0o7777) | mode) };
}

/**
 * Gives an entry another name. Returns false if that is not free, or if its directory is gone. For a directory, and on
 * a disk without hard links, `rename` may replace what another process creates after the check.
 */
async function giveName(place: string, name: string): Promise<boolean> {
  // A FUSE disk that ignores case may find a removed name in another case for a second.
  const isFree = (): boolean =>
    lstatSync(name, { throwIfNoEntry: false }) === undefined || spellingIn(dirname(name), basename(name)) === undefined;
  try {
    if (!lstatSync(place).isDirectory()) {
      try {
        // Unlike `rename`, this fails if another process has created the name.
        await link(place, name);
        return true;
      } catch (error) {
        if (!isCode(error, ...NO_LINK)) throw error;
      }
    }
    if (!isFree()) return false;
    await rename(place, name);
    return true;
  } catch (error) {
    if (isCode(error, 'EEXIST', 'ENOTEMPTY', 'ENOTDIR', 'EISDIR')) return false;
    if (isCode(error, 'ENOENT') && lstatSync(place, { throwIfNoEntry: false }) !== undefined) return false;
    throw error;
  }
}

/** Sets the mode of the directory at `place`. Returns false if it is not the one with the given inode number. */
async function setModeOf(place: string, ino: string, mode: number): Promise<boolean> {
  using directory = PathHandle.find(place);
  if (directory?.kind !== 'directory' || String(directory.stat.ino) !== ino) return false;
  if ((Number(directory.stat.mode) & 0o7777) !== mode) await chmod(directory.path, mode);
  return true;
}

function isDirectoryMode(mode: string): boolean {
  return (Number(mode) & 0o170000) === 0o040000;
}

/** Returns a handler for `catch` that ignores errors with the given codes. */
function unless(...codes: readonly string[]): (error: unknown) => void {
  return (error) => {
    if (!isCode(error, ...codes)) throw error;
  };
}
