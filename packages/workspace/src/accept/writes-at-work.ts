import { setTimeout as pause } from 'node:timers/promises';
import { type CallOptions, isFsError, parentPath } from '@scratchfs/core';
import type { DiskWrite } from './accept-record.js';

/** A request for a path, its entries (`list`, `listing`, `empty`), or everything under it (`tree`). */
export interface PathRead {
  readonly kind: string;
  readonly path: string;
}

/** Time in milliseconds for which a read waits. With a bound, no call can wait for itself forever. */
const MAX_WAIT_MS = 60_000;
const PAUSE_MS = 5;

/**
 * The writes to the disk of an accept, an undo or redo of one, or an operation of a live attempt, from before the first
 * until its operation is in the log. In between, the disk and the log do not agree: a moved file may be missing at both
 * of its paths. Reads of these paths therefore wait.
 */
export class WritesAtWork {
  /** The reads at work. One is stale once writes that touch it have begun. */
  readonly #readers = new Set<{ readonly reads: readonly PathRead[]; isStale: boolean }>();
  /** Reports whether a read sees a difference that the writes make, or a state in between. Undefined without writes. */
  #touches: ((read: PathRead) => boolean) | undefined;

  /** Begins writes, or replaces those that have begun. */
  begin(writes: readonly DiskWrite[]): void {
    const touches = touching(writes);
    this.#touches = touches;
    for (const reader of this.#readers) reader.isStale ||= reader.reads.some(touches);
  }

  end(): void {
    this.#touches = undefined;
  }

  /**
   * Runs work that reads paths, once no writes to them are at work or a minute has passed. Runs it again if writes to
   * them have begun before it ended, or if it fails with EBUSY, which writes of another client may cause.
   * @param isWriting reports whether another client is writing
   * @param work called with true if it runs again
   */
  async read<T>(
    reads: readonly PathRead[],
    isWriting: (options: CallOptions) => Promise<boolean>,
    work: (isAgain: boolean) => Promise<T>,
    { signal }: CallOptions,
  ): Promise<T> {
    const until = performance.now() + MAX_WAIT_MS;
    for (let [isAgain, isLast] = [false, false]; ; isAgain = true) {
      while (this.#touches !== undefined && reads.some(this.#touches) && performance.now() < until) {
        signal?.throwIfAborted();
        await pause(PAUSE_MS);
      }
      const reader = { reads, isStale: false };
      const hasBegun = (): boolean => reader.isStale && performance.now() < until;
      this.#readers.add(reader);
      try {
        const result = await work(isAgain);
        if (!hasBegun()) return result;
      } catch (error) {
        signal?.throwIfAborted();
        if (hasBegun()) continue;
        if (isLast || !isFsError(error, 'EBUSY')) throw error;
        // If the other client has ended since, the last try finds its operation.
        isLast = performance.now() >= until || !(await isWriting({ signal }));
        if (!isLast) await pause(PAUSE_MS);
      } finally {
        this.#readers.delete(reader);
      }
    }
  }
}

function touching(writes: readonly DiskWrite[]): (read: PathRead) => boolean {
  const paths = new Set(writes.map(({ path }) => path));
  const changed = new Set<string>();
  const above = new Set<string>();
  for (const { path, before, after } of writes) {
    if (before === null || after === null) changed.add(parentPath(path));
    for (let top = parentPath(path); !above.has(top); top = parentPath(top)) above.add(top);
  }
  return ({ kind, path }) => {
    if (kind === 'tree' && above.has(path)) return true;
    if ((kind === 'list' || kind === 'listing' || kind === 'empty') && changed.has(path)) return true;
    for (let top = path; ; top = parentPath(top)) {
      if (paths.has(top)) return true;
      if (top === '/') return false;
    }
  };
}
