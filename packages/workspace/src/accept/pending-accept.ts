import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type CallOptions, type FileSystem, isFsError, systemClock } from '@scratchfs/core';
import { recoverDirectory } from '@scratchfs/host';
import { isAlive, startOf } from '@scratchfs/host/internal';
import { WorkspaceError } from '../errors.js';
import type { NewOperation } from '../log/operation-log.js';
import { seal, unseal } from '../log/operation-record.js';
import type { DiskWrite } from './accept-record.js';
import type { AcceptedPath } from './apply.js';
import { sameState } from './attempt-change.js';
import { DiskReader } from './disk-reader.js';

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
  /** For an accept: what it did to the attempt. */
  readonly paths?: readonly AcceptedPath[] | undefined;
  /** For undo and redo: the operation that they take back or make again. */
  readonly target?: number | undefined;
  readonly writes: readonly DiskWrite[];
  /** For an operation of a live attempt. */
  readonly operation?: LiveOperation['operation'] | undefined;
  /** Number of the last operation when it began. */
  readonly after: number;
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
  /** Stored as `batch` with the operation that the note announces. */
  readonly id: string;
  readonly owner: Owner;
  readonly pending: PendingAccept;
  /** True while the call that made the note is at work. */
  readonly isLive: boolean;
  /** Version of the file. */
  readonly version: string;
}

/** Ids of the notes of calls that are at work in this process. */
const atWork = new Set<string>();

/** Age in milliseconds up to which a note of another host counts as that of a running process. */
const FOREIGN_MS = 600_000;

/**
 * The note of an attempt about an accept that has begun: a file of the store, created exclusively before the disk changes
 * and removed when the operation is in the log. If the process is killed in between, the next one finds it and completes
 * the log.
 */
export class PendingAccepts {
  constructor(
    readonly store: FileSystem,
    readonly path: string,
    readonly directory: string,
  ) {}

  /** Returns a note that is not in the store yet. */
  note(): AcceptNote {
    return new AcceptNote(this.store, this.path);
  }

  /** Returns the note in the store. */
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

  /** Removes a note, unless it is another one by now. */
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
   * Reports whether the disk has all that an accept wrote, after interrupted changes of the disk were undone or
   * completed. Otherwise it counts as not written: if the person has changed a part of it since, the attempt keeps its
   * changes and compares them with the disk.
   * @param needed `some`: one write is enough, because the attempt has no changes of its own and so must have the line
   *   of what is on the disk
   */
  async isWritten(writes: readonly DiskWrite[], needed: 'all' | 'some'): Promise<boolean> {
    await recoverDirectory(this.directory);
    await using disk = DiskReader.open(this.directory);
    for (const { path, after } of writes) {
      const isThere = sameState((await disk.read(path, false)).state, after);
      if (isThere !== (needed === 'all')) return isThere;
    }
    return needed === 'all';
  }
}

/** A note of this call. Once it is disposed of, what is left of it in the store counts as interrupted. */
export class AcceptNote implements AsyncDisposable {
  readonly id: string = randomUUID();
  #isStored = false;

  constructor(
    readonly store: FileSystem,
    readonly path: string,
  ) {}

  /** Stores the note unless another call has one. */
  async offer(pending: PendingAccept, options: CallOptions = {}): Promise<boolean> {
    try {
      await this.begin(pending, options);
      return true;
    } catch (error) {
      if (error instanceof WorkspaceError && error.code === 'refused') return false;
      throw error;
    }
  }

  /** Stores the note, or what it says now. @throws WorkspaceError `refused` if another call has one */
  async begin(pending: PendingAccept, options: CallOptions = {}): Promise<void> {
    const owner: Owner = { host: hostname(), pid: process.pid, started: startOf(process.pid), at: systemClock() };
    const text = seal({ id: this.id, owner, pending });
    atWork.add(this.id);
    try {
      await this.store.writeFile(this.path, text, { ...options, ...(this.#isStored ? {} : { flag: 'wx' }) });
      this.#isStored = true;
    } catch (error) {
      if (!isFsError(error, 'EEXIST')) throw error;
      throw new WorkspaceError('refused', 'Another accept of this attempt has begun: wait until it is done');
    }
  }

  async end(): Promise<void> {
    if (this.#isStored) await this.store.rm(this.path, { force: true });
    this.#isStored = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    atWork.delete(this.id);
  }
}

function isLive({ id, owner }: Pick<FoundNote, 'id' | 'owner'>): boolean {
  const { host, pid, started, at } = owner;
  // Nothing is known about the processes of another host.
  if (host !== hostname()) return systemClock() - at < FOREIGN_MS;
  return pid === process.pid && started === startOf(pid) ? atWork.has(id) : isAlive(pid, started);
}
