import type { Backend, BackendCall, Batch, Check, CommitResult, LoadRequest, LoadResult } from '@scratchfs/core';
import { FsError, StorageError } from '@scratchfs/core';
import { ConfinedRoot, type Trail } from './confined-root.js';
import { isTurnDue, nextTurn } from './event-loop.js';
import { hostError } from './host-error.js';
import { HostReader, versionOf } from './host-reader.js';
import { NodeIds } from './node-ids.js';

/** A directory of the host as a backend that writes nothing. Other processes may change the directory at any time. */
export class HostReadBackend implements Backend {
  readonly capabilities = {
    checkpoints: false,
    forks: false,
    sharedWatch: false,
    transactions: false,
    journaled: true,
  };
  readonly root: ConfinedRoot;
  protected readonly ids = new NodeIds();
  protected readonly reader: HostReader;
  /**
   * Loads and checks that still look up names under the root. The root's descriptor stays open until they end, because
   * its number may be reused for another directory.
   */
  readonly #running = new Set<Promise<unknown>>();
  #closed = false;

  /**
   * @param hidesGit true if names that a disk reads as `.git` count as missing
   * @param isExact true if names that the disk has in another case count as missing
   */
  constructor(
    directory: string,
    hidesGit: boolean,
    isExact: boolean,
    readonly readonly: boolean = true,
  ) {
    this.root = new ConfinedRoot(directory, hidesGit, isExact);
    this.reader = new HostReader(this.root, this.ids);
  }

  async load(requests: readonly LoadRequest[], call?: BackendCall): Promise<readonly LoadResult[]> {
    this.enter(call);
    return this.#beforeClosing(this.#load(requests, call));
  }

  async commit(batch: Batch, call?: BackendCall): Promise<CommitResult> {
    this.enter(call);
    return this.#beforeClosing(this.#check(batch));
  }

  async outcome(_operationId: string): Promise<CommitResult | 'absent' | 'unknown'> {
    return 'absent';
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.settled();
    this.root.close();
  }

  /** To be overridden: resolves when changes that a killed process has left are recovered. Awaited before each load. */
  protected async recovered(): Promise<void> {}

  /** Awaited by `close` before it closes the root. */
  protected async settled(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  protected enter(call: BackendCall | undefined): void {
    call?.signal?.throwIfAborted();
    if (this.#closed) throw new StorageError('closed', 'The directory is closed');
  }

  /** Registers work that uses the root, so that `close` waits for it. Returns the result of the work. */
  async #beforeClosing<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work);
    try {
      return await work;
    } finally {
      this.#running.delete(work);
    }
  }

  async #check({ checks, writes }: Batch): Promise<CommitResult> {
    const failed = await this.failedOf(checks);
    if (failed.length > 0) return { kind: 'conflict', checks: failed };
    if (writes.length > 0) throw new FsError('EROFS');
    return { kind: 'ok', version: 'read' };
  }

  async #load(requests: readonly LoadRequest[], call: BackendCall | undefined): Promise<readonly LoadResult[]> {
    await this.recovered();
    const results: LoadResult[] = [];
    // Requests for paths share one trail, which keeps the directories that consecutive paths have in common.
    let trail: Trail | undefined;
    try {
      for (const request of requests) {
        if (isTurnDue()) await nextTurn();
        try {
          if (request.kind !== 'path') results.push(await this.reader.load(request, call?.signal));
          else {
            call?.signal?.throwIfAborted();
            trail ??= this.root.walk('/');
            results.push(await this.reader.path(request, trail));
          }
        } catch (error) {
          call?.signal?.throwIfAborted();
          throw hostError(error, 'open', request.kind === 'path' ? request.path : request.at.path);
        }
      }
      return results;
    } finally {
      trail?.[Symbol.dispose]();
    }
  }

  protected async failedOf(checks: readonly Check[]): Promise<number[]> {
    const failed: number[] = [];
    using trail = this.root.walk('/');
    for (const [i, check] of checks.entries()) {
      if (isTurnDue()) await nextTurn();
      try {
        trail.goTo(check.path);
        if (!(await this.#holds(check, trail))) failed.push(i);
      } catch (error) {
        throw hostError(error, 'open', check.path);
      }
    }
    return failed;
  }

  async #holds(check: Check, { complete, last }: Trail): Promise<boolean> {
    if (check.kind === 'entry' && check.id === null) return !complete || last.kind === 'special';
    if (!complete || this.ids.of(last.stat) !== check.id) return false;
    if (check.kind === 'entry' && check.version === undefined) return true;
    if (check.kind !== 'empty') return check.kind !== 'tree' && versionOf(last.stat) === check.version;
    return (await last.names()).length === 0;
  }
}
