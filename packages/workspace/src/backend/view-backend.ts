import {
  type Backend,
  type BackendCall,
  type Batch,
  type CommitResult,
  FsError,
  type LoadRequest,
  type LoadResult,
  StorageError,
} from '@scratchfs/core';
import type { Head } from '../delta/delta-node.js';
import type { Contents } from '../log/contents.js';
import type { Lower } from './lower.js';
import { View } from './view.js';

/** A head over the lower directory, read-only. */
export class ViewBackend implements Backend {
  readonly capabilities = { checkpoints: false, forks: false, sharedWatch: false, writes: false };
  readonly #head: () => Promise<Head>;
  readonly #lower: Lower;
  readonly #contents: Contents;
  #isClosed = false;

  constructor(head: () => Promise<Head>, lower: Lower, contents: Contents) {
    this.#head = head;
    this.#lower = lower;
    this.#contents = contents;
  }

  async load(requests: readonly LoadRequest[], call?: BackendCall): Promise<readonly LoadResult[]> {
    const view = await this.#view(call);
    const results: LoadResult[] = [];
    for (const request of requests) results.push(await view.load(request, call));
    return results;
  }

  async commit({ checks, writes }: Batch, call?: BackendCall): Promise<CommitResult> {
    const view = await this.#view(call);
    if (writes.length > 0) throw new FsError('EROFS');
    const failed = await view.failed(checks, call);
    return failed.length > 0 ? { kind: 'conflict', checks: failed } : { kind: 'ok', version: 'unchanged' };
  }

  async outcome(): Promise<'absent'> {
    return 'absent';
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  async #view(call: BackendCall | undefined): Promise<View> {
    call?.signal?.throwIfAborted();
    if (this.#isClosed) throw new StorageError('closed', 'The filesystem is closed');
    return new View(await this.#head(), this.#lower, this.#contents);
  }
}
