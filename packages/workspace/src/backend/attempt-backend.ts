import {
  type Backend,
  type BackendCall,
  type Batch,
  type CommitResult,
  type LoadRequest,
  type LoadResult,
  StorageError,
} from '@scratchfs/core';
import type { Head } from '../delta/delta-node.js';
import type { Contents } from '../log/contents.js';
import { type OperationLog, versionFor } from '../log/operation-log.js';
import type { Operation } from '../operation.js';
import { BatchWriter } from './batch-writer.js';
import type { Lower } from './lower.js';
import { operationContext } from './operation-context.js';
import { View } from './view.js';

export interface AttemptBackendOptions {
  readonly lower: Lower;
  readonly contents: Contents;
  readonly log: OperationLog;
  /** Name of the attempt. */
  readonly name: string;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  /** Called before each commit with writes; throws if the attempt cannot be changed. */
  readonly checkWritable?: ((batch: Batch, view: View) => Promise<void>) | undefined;
}

/** An attempt as a backend of the engine: its changes over the lower directory. Each batch of writes is one operation. */
export class AttemptBackend implements Backend {
  readonly capabilities = { checkpoints: false, forks: false, sharedWatch: false };
  readonly #options: AttemptBackendOptions;
  #queue: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(options: AttemptBackendOptions) {
    this.#options = options;
  }

  async load(requests: readonly LoadRequest[], call?: BackendCall): Promise<readonly LoadResult[]> {
    this.#enter(call);
    const { log } = this.#options;
    const view = this.view((await log.catchUp(signalOf(call))).head);
    const results: LoadResult[] = [];
    for (const request of requests) results.push(await view.load(request, call));
    return results;
  }

  view(head: Head): View {
    const { lower, contents } = this.#options;
    return new View(head, lower, contents);
  }

  /** Runs commits of this process one after the other. */
  commit(batch: Batch, call?: BackendCall): Promise<CommitResult> {
    return this.inTurn(() => this.#commit(batch, call));
  }

  /** Runs work that appends to the log after the commits that have begun. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  async outcome(operationId: string): Promise<CommitResult | 'absent' | 'unknown'> {
    await this.#queue;
    const { log, name } = this.#options;
    const operation = await log.outcomeOf(operationId);
    return typeof operation === 'string' ? operation : { kind: 'ok', version: versionFor(name, operation) };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#queue;
  }

  #enter(call: BackendCall | undefined): void {
    call?.signal?.throwIfAborted();
    if (this.#isClosed) throw new StorageError('closed', 'The attempt is closed');
  }

  async #commit(batch: Batch, call: BackendCall | undefined): Promise<CommitResult> {
    const { log, contents, lower, name, clock, checkWritable } = this.#options;
    for (;;) {
      this.#enter(call);
      const { head, last } = await log.catchUp(signalOf(call));
      const view = this.view(head);
      const failed = await view.failed(batch.checks, call);
      if (failed.length > 0) return { kind: 'conflict', checks: failed };
      const at = clock();
      const version = versionFor(name, { id: last + 1, at });
      if (batch.writes.length === 0) return { kind: 'ok', version };
      await checkWritable?.(batch, view);
      const writer = new BatchWriter(head, lower, contents, version, call);
      let operation: Operation | undefined;
      try {
        for (const write of batch.writes) await writer.apply(write);
        const next = writer.head;
        await contents.save(writer.hashes, signalOf(call));
        const context = operationContext.getStore();
        const { actor = 'user', tool = 'edit', summary } = context?.label ?? {};
        const ms = context === undefined ? 0 : Math.max(0, at - context.startedAt);
        const described = { at, actor, tool, summary, ms, batch: batch.operationId };
        operation = await log.append(next, described, signalOf(call));
        if (operation !== undefined) context?.operations.push(operation);
      } finally {
        contents.drop(writer.hashes);
      }
      if (operation !== undefined) return { kind: 'ok', version };
    }
  }
}

function signalOf(call: BackendCall | undefined): { readonly signal?: AbortSignal } {
  return call?.signal === undefined ? {} : { signal: call.signal };
}
