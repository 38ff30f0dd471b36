import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type CallOptions, type FileSystem, isFsError, systemClock } from '@scratchfs/core';
import { isAlive, startOf } from '@scratchfs/host/internal-read';
import { WorkspaceError } from '../errors.js';
import type { NewOperation } from '../log/operation-log.js';
import { seal, unseal } from '../log/operation-record.js';
import type { DiskWrite } from './accept-record.js';
import type { AcceptedPath } from './apply.js';
import { sameState } from './attempt-change.js';
import { type PathRead, WritesAtWork } from './writes-at-work.js';

/** An operation of a live attempt whose changes are, or will be, on the disk. */
export interface LiveOperation {
  readonly writes: readonly DiskWrite[];
  readonly operation: Omit<NewOperation, 'accept' | 'after'> &
    Required<Pick<NewOperation, 'changes'>> & { readonly summary: string };
}

/** An accept, the undo or redo of one, or an operation of a live attempt that is about to write to the disk. */
export interface PendingAccept {
  readonly tool: 'accept' | 'undo' | 'redo' | 'operation';
  readonly actor: string;
  readonly summary: string;
  /** For an accept: its effect at each path. */
  readonly paths?: readonly AcceptedPath[] | undefined;
  /** For undo and redo: the operation that they take back or repeat. */
  readonly target?: number | undefined;
  readonly writes: readonly DiskWrite[];
  /** The operation, if it is one of a live attempt. */
  readonly operation?: LiveOperation['operation'] | undefined;
  /** Number of the last operation when it began. */
  readonly after: number;
  /** True once the disk has all writes. Recorded only for operations of live attempts, their undo and their redo. */
  readonly isApplied?: true | undefined;
}

interface Owner {
  readonly host: string;
  readonly pid: number;
  readonly started: string | undefined;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** A note in the store. */
export interface FoundNote {
  /** Stored as `batch` with the operation that the note announces, unless that has a batch of its own. */
  readonly id: string;
  readonly owner: Owner;
  readonly pending: PendingAccept;
  /**
   * True while the call that made the note may be at work: for another process, as long as it runs; for one of another
   * host, until the note is 10 minutes old.
   */
  readonly isLive: boolean;
  /** Version of the file. */
  readonly version: string;
}

/** Ids of the notes of calls that are at work in this process. */
const atWork = new Set<string>();

/** Age in milliseconds up to which a note of another host counts as that of a running process. */
const FOREIGN_MS = 600_000;

/**
 * The note of an attempt about an accept, or another write to the disk, that has begun: a file of the store, created
 * exclusively before the disk changes, and removed when the operation is in the log or was given up. If the process is
 * killed in between, the next one finds the note and completes the log.
 */
export class PendingAccepts {
  readonly #atWork = new WritesAtWork();

  constructor(
    readonly store: FileSystem,
    readonly path: string,
    readonly directory: string,
  ) {}

  /** Returns a note that is not in the store yet. */
  note(): AcceptNote {
    return new AcceptNote(this.store, this.path, this.#atWork);
  }

  /** Lets reads of the paths of writes that need no note wait, until the result is disposed of. */
  writing(writes: readonly DiskWrite[]): Disposable {
    this.#atWork.begin(writes);
    return { [Symbol.dispose]: () => this.#atWork.end() };
  }

  /**
   * Runs work that reads paths while no call of this object writes to them on the disk. Runs it again, with true, if
   * such a write has begun before it ended, or if it fails with EBUSY while another client writes. Waits for up to a minute.
   */
  whileUnwritten<T>(
    reads: readonly PathRead[],
    work: (isAgain: boolean) => Promise<T>,
    options: CallOptions,
  ): Promise<T> {
    const isWriting = async (given: CallOptions): Promise<boolean> => (await this.find(given))?.isLive === true;
    return this.#atWork.read(reads, isWriting, work, options);
  }

  /** Returns the note in the store; undefined if there is none. */
  async find(options: CallOptions = {}): Promise<FoundNote | undefined> {
    try {
      const { version } = await this.store.stat(this.path, options);
      const text = await this.store.readText(this.path, options);
      const note = unseal(text, 'The note about an accept') as unknown as Pick<FoundNote, 'id' | 'owner' | 'pending'>;
      return { ...note, version, isLive: isLive(note) };
    } catch (error) {
      if (isFsError(error, 'ENOENT')) return undefined;
      throw error;
    }
  }

  /** Removes a note, unless another one has replaced it. */
  async forget({ id }: FoundNote): Promise<void> {
    const now = await this.find();
    if (now?.id !== id) return;
    try {
      await this.store.rm(this.path, { force: true, ifVersion: now.version });
    } catch (error) {
      if (!isFsError(error, 'ECHANGED') && !isFsError(error, 'ENOENT')) throw error;
    }
  }

  /**
   * Undoes or completes interrupted changes of the disk, then reports whether the writes of a killed process count as
   * made. The person may have changed the paths since:
   *
   * - Writes known to be applied count, unless every path holds its old state again: then they were taken back.
   * - Other writes of a live attempt count if no path holds its old state. All or none are made, so one old state says
   *   that none were; and if they were made, only the log has the old contents, which must not be lost.
   * - Other writes of any other attempt count if every path holds its new state. If they do not count, nothing is lost:
   *   the attempt still has its changes, and compares them with the disk.
   */
  async isWritten({ writes, isApplied }: PendingAccept, isLive: boolean): Promise<boolean> {
    const [{ recoverDirectory }, { DiskReader }] = await Promise.all([
      import('@scratchfs/host'),
      import('./disk-reader.js'),
    ]);
    await recoverDirectory(this.directory);
    await using disk = DiskReader.open(this.directory);
    let old = 0;
    let made = 0;
    for (const { path, before, after } of writes) {
      const { state } = await disk.read(path);
      if (sameState(state, after)) made++;
      else if (sameState(state, before)) old++;
    }
    if (isApplied === true) return old === 0 || old < writes.length;
    return isLive ? old === 0 : made === writes.length;
  }
}

/**
 * The note that one call stores before it writes to the disk. If it is not removed before it is disposed of, the writes
 * count as interrupted.
 */
export class AcceptNote implements AsyncDisposable {
  readonly id: string = randomUUID();
  #isStored = false;

  constructor(
    readonly store: FileSystem,
    readonly path: string,
    readonly writes: WritesAtWork,
  ) {}

  /** Stores the note. Returns false if another call has one. */
  async offer(pending: PendingAccept, options: CallOptions = {}): Promise<boolean> {
    try {
      await this.begin(pending, options);
      return true;
    } catch (error) {
      if (error instanceof WorkspaceError && error.code === 'refused') return false;
      throw error;
    }
  }

  /** Stores the note, or replaces what it says. @throws WorkspaceError `refused` if another call has one */
  async begin(pending: PendingAccept, options: CallOptions = {}): Promise<void> {
    const owner: Owner = { host: hostname(), pid: process.pid, started: startOf(process.pid), at: systemClock() };
    const text = seal({ id: this.id, owner, pending });
    atWork.add(this.id);
    try {
      await this.store.writeFile(this.path, text, { ...options, ...(this.#isStored ? {} : { flag: 'wx' }) });
      this.#isStored = true;
      this.writes.begin(pending.writes);
    } catch (error) {
      if (!isFsError(error, 'EEXIST')) throw error;
      throw new WorkspaceError('refused', 'Another accept of this attempt has begun: wait until it is done');
    }
  }

  /**
   * Records that the disk has all writes. A failure is ignored: it only makes `isWritten` less certain after a kill.
   */
  async applied(pending: PendingAccept): Promise<void> {
    await this.begin({ ...pending, isApplied: true }).catch(() => undefined);
  }

  async end(): Promise<void> {
    if (this.#isStored) await this.store.rm(this.path, { force: true });
    this.#isStored = false;
    this.writes.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.writes.end();
    atWork.delete(this.id);
  }
}

function isLive({ id, owner }: Pick<FoundNote, 'id' | 'owner'>): boolean {
  const { host, pid, started, at } = owner;
  // Nothing is known about the processes of another host.
  if (host !== hostname()) return systemClock() - at < FOREIGN_MS;
  return pid === process.pid && started === startOf(pid) ? atWork.has(id) : isAlive(pid, started);
}
