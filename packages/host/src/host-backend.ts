import { lstatSync } from 'node:fs';
import { type BackendCall, type Batch, type CommitResult, FsError } from '@scratchfs/core';
import { carryOut, recover, recovered } from './apply/apply-changes.js';
import { batchChanges } from './apply/batch-changes.js';
import { JOURNAL } from './apply/journal.js';
import { type GitAccess, GitProtection } from './git-protection.js';
import { hostError } from './host-error.js';
import { HostReadBackend } from './host-read-backend.js';
import { type HardLinks, HostWrites } from './host-writes.js';
import { StagingDirectory } from './staging-directory.js';

const MAX_OUTCOMES = 1_000;

/** A directory of the host as a backend of the engine. Other processes may change it at any time. */
export class HostBackend extends HostReadBackend {
  readonly #staging: StagingDirectory;
  readonly #writes: HostWrites;
  readonly #outcomes = new Map<string, CommitResult>();
  #queue: Promise<unknown> = Promise.resolve();
  /**
   * Recovery of changes that a killed process has left. Undefined if there were none when the directory was opened, or
   * if it is only read.
   */
  #recovery: Promise<unknown> | undefined;
  #commits = 0;

  constructor(directory: string, isReadonly: boolean, hardLinks: HardLinks, git: GitAccess) {
    super(directory, git === 'hidden', false, isReadonly);
    this.#staging = new StagingDirectory(this.root);
    const protection = git === 'writable' ? undefined : new GitProtection(this.root);
    this.#writes = new HostWrites(this.root, this.ids, this.#staging, hardLinks, protection);
    if (!isReadonly && lstatSync(this.root.child(JOURNAL), { throwIfNoEntry: false }) !== undefined) {
      this.#recovery = recover({ root: this.root, staging: this.#staging, protection });
      // Loads and commits, which await it, report its failure.
      this.#recovery.catch(() => undefined);
    }
  }

  /** Runs commits one after the other: no other commit of this backend comes between the checks and the writes. */
  override commit(batch: Batch, call?: BackendCall): Promise<CommitResult> {
    const result = this.#queue.then(() => this.#commit(batch, call));
    this.#queue = result.catch(() => undefined);
    return result;
  }

  override async outcome(operationId: string): Promise<CommitResult | 'absent' | 'unknown'> {
    await this.#queue;
    return this.#outcomes.get(operationId) ?? 'absent';
  }

  protected override async recovered(): Promise<void> {
    await this.#recovery;
  }

  protected override async settled(): Promise<void> {
    await Promise.allSettled([this.#recovery, this.#queue, super.settled()]);
    await this.#staging.close();
  }

  async #commit(batch: Batch, call: BackendCall | undefined): Promise<CommitResult> {
    this.enter(call);
    await this.recovered();
    const known = this.#outcomes.get(batch.operationId);
    if (known !== undefined) return known;
    const isJournaled = batch.journaled === true && batch.writes.length > 1 && !this.readonly;
    if (isJournaled) await recovered(this.#writes, call?.signal);
    const failed = await this.failedOf(batch.checks);
    if (failed.length > 0) return { kind: 'conflict', checks: failed };
    call?.signal?.throwIfAborted();
    if (batch.writes.length > 0) {
      if (this.readonly) throw new FsError('EROFS');
      await this.#checkEmpty(batch);
      if (!isJournaled) await this.#writes.apply(batch.writes);
      else {
        const checks = await this.#applyJournaled(batch);
        if (checks !== undefined) return { kind: 'conflict', checks };
      }
    }
    // Each file has a version of its own on the host. This one only makes the engine look that up.
    const result: CommitResult = { kind: 'ok', version: `written-${++this.#commits}` };
    this.#outcomes.set(batch.operationId, result);
    for (const oldest of this.#outcomes.keys()) {
      if (this.#outcomes.size <= MAX_OUTCOMES) break;
      this.#outcomes.delete(oldest);
    }
    return result;
  }

  /**
   * Applies the writes of a batch, all or none. If another process has changed one of the paths, returns the checks
   * that failed, or an empty list if that was noticed only while writing.
   */
  async #applyJournaled({ checks, writes }: Batch): Promise<readonly number[] | undefined> {
    await this.#writes.checkProtection(writes);
    const { changes, ids, compared } = await batchChanges(this.root, this.ids, writes);
    // The changes replace what the disk held a moment ago, which need not be what was checked before.
    const failed = await this.failedOf(checks);
    if (failed.length > 0) return failed;
    const { changed } = await carryOut(this.#writes, changes, undefined);
    if (changed !== undefined) return [];
    for (const stat of compared) this.ids.renew(stat);
    for (const [path, id] of ids) {
      using trail = this.root.walk(path);
      if (trail.complete) this.ids.give(trail.last.stat, id);
    }
    return undefined;
  }

  /** Refuses to remove a directory that looks empty but holds entries that are not shown, such as a pipe. */
  async #checkEmpty({ checks, writes }: Batch): Promise<void> {
    for (const write of writes) {
      if (write.kind !== 'remove') continue;
      const listed = checks.some(({ kind, path }) => path === write.path && (kind === 'listing' || kind === 'empty'));
      if (!listed || !(await this.#hidesAll(write.path))) continue;
      throw new FsError('ENOTEMPTY', {
        syscall: 'rmdir',
        path: write.path,
        hint: 'It contains entries that this filesystem does not show, such as a pipe',
      });
    }
  }

  async #hidesAll(path: string): Promise<boolean> {
    try {
      return await this.reader.hidesAll(path);
    } catch (error) {
      throw hostError(error, 'rmdir', path);
    }
  }
}
