import { hostname } from 'node:os';
import { type CallOptions, type FileSystem, isFsError } from '@scratchfs/core';
import { recoverDirectory } from '@scratchfs/host';
import { isAlive, startOf } from '@scratchfs/host/internal';
import { WorkspaceError } from '../errors.js';
import { seal, unseal } from '../log/operation-record.js';
import type { DiskWrite } from './accept-record.js';
import type { AcceptedPath } from './apply.js';
import { sameState } from './attempt-change.js';
import { DiskReader } from './disk-reader.js';

/** An accept, or the undo or redo of one, that is about to write to the disk. */
export interface PendingAccept {
  readonly tool: 'accept' | 'undo' | 'redo';
  readonly actor: string;
  readonly summary: string;
  /** For an accept: what it did to the attempt. */
  readonly paths?: readonly AcceptedPath[] | undefined;
  /** For undo and redo: the operation that they take back or make again. */
  readonly target?: number | undefined;
  readonly writes: readonly DiskWrite[];
}

interface Owner {
  readonly host: string;
  readonly pid: number;
  readonly started: string | undefined;
}

/**
 * The note of an attempt about an accept that has begun: a file of the store, written before the disk changes and removed
 * when the operation is in the log. If the process is killed in between, the next one finds it and completes the log.
 */
export class PendingAccepts {
  constructor(
    readonly store: FileSystem,
    readonly path: string,
    readonly directory: string,
  ) {}

  async begin(pending: PendingAccept, options: CallOptions = {}): Promise<void> {
    const owner: Owner = { host: hostname(), pid: process.pid, started: startOf(process.pid) };
    await this.store.writeFile(this.path, seal({ owner, pending }), options);
  }

  async end(): Promise<void> {
    await this.store.rm(this.path, { force: true });
  }

  /**
   * Returns an accept of a killed process whose changes are on the disk, so that only its operation is missing. One that
   * wrote nothing is forgotten.
   * @throws WorkspaceError `refused` if another process is accepting now
   */
  async interrupted(options: CallOptions = {}): Promise<PendingAccept | undefined> {
    let text: string;
    try {
      text = await this.store.readText(this.path, options);
    } catch (error) {
      if (isFsError(error, 'ENOENT')) return undefined;
      throw error;
    }
    const { owner, pending } = unseal(text, 'The note about an accept') as { owner: Owner; pending: PendingAccept };
    const { host, pid, started } = owner;
    if (host === hostname() && pid !== process.pid && isAlive(pid, started))
      throw new WorkspaceError('refused', `Process ${pid} is accepting changes of this attempt: wait until it is done`);
    await recoverDirectory(this.directory);
    if (await this.#isWritten(pending.writes, options)) return pending;
    await this.end();
    return undefined;
  }

  /** Reports whether the disk has what an accept wrote. Applying is all or nothing, so one path decides. */
  async #isWritten(writes: readonly DiskWrite[], { signal }: CallOptions): Promise<boolean> {
    await using disk = DiskReader.open(this.directory, signal);
    for (const { path, before, after } of writes) {
      const { state } = await disk.read(path, false);
      if (sameState(state, after)) return true;
      if (sameState(state, before)) return false;
    }
    return writes.length === 0;
  }
}
