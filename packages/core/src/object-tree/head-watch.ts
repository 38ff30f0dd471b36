import type { Announcement } from '../backend.js';
import { isStorageError } from '../errors.js';
import type { Head } from './head.js';
import type { Heads } from './heads.js';
import type { ObjectStore } from './object-store.js';

const RESET: readonly Announcement[] = [{ type: 'reset', path: '/' }];

interface Watcher {
  readonly tell: (changes: readonly Announcement[]) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Reports changes to watchers: those of this client's batches in detail, those of other clients as `reset`, because the
 * head does not say what changed.
 */
export class HeadWatch {
  readonly #heads: Heads;
  readonly #watch: NonNullable<ObjectStore['watch']>;
  /** Reports whether this client wrote a head: then `committed` reports the changes. */
  readonly #isOwn: (head: Head) => boolean;
  readonly #watchers = new Set<Watcher>();
  /** The newest head whose changes were reported, or that was known when the reports began. */
  #reported: Head | undefined;
  #stop: (() => void) | undefined;
  #isLooking = false;
  /** True if the head may have changed since the last look at it. */
  #mustLook = false;
  /** Waits before another look at a head that could not be read. */
  readonly #pause: () => Promise<void>;

  constructor(
    heads: Heads,
    watch: NonNullable<ObjectStore['watch']>,
    isOwn: (head: Head) => boolean,
    pause: () => Promise<void>,
  ) {
    this.#pause = pause;
    this.#heads = heads;
    this.#watch = watch;
    this.#isOwn = isOwn;
  }

  watch(tell: Watcher['tell'], fail: Watcher['fail']): () => void {
    const watcher = { tell, fail };
    this.#watchers.add(watcher);
    if (this.#watchers.size === 1) {
      this.#reported = this.#heads.known?.head;
      try {
        this.#stop = this.#watch(
          () => void this.#look(),
          (error) => this.#fail(error),
        );
      } catch (error) {
        this.#watchers.delete(watcher);
        throw error;
      }
      void this.#look();
    }
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.close();
    };
  }

  /** Reports the changes of an own commit. `base`: the head on which it was prepared. */
  committed(base: Head, head: Head, changes: readonly Announcement[]): void {
    const reported = this.#reported;
    if (this.#watchers.size === 0 || (reported !== undefined && reported.commit >= head.commit)) return;
    this.#reported = head;
    if (reported !== undefined && !isSameState(reported, base)) this.#tell(RESET);
    if (changes.length > 0) this.#tell(changes);
  }

  /** Ends all reports. */
  close(): void {
    this.#watchers.clear();
    const stop = this.#stop;
    this.#stop = undefined;
    stop?.();
  }

  async #look(): Promise<void> {
    this.#mustLook = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      while (this.#mustLook && this.#watchers.size > 0) {
        this.#mustLook = false;
        await this.#lookOnce();
      }
    } finally {
      this.#isLooking = false;
    }
  }

  async #lookOnce(): Promise<void> {
    let head: Head;
    try {
      head = (await this.#heads.refresh()).head;
    } catch (error) {
      if (isStorageError(error) && error.retryable) {
        await this.#pause();
        this.#mustLook = true;
      } else this.#fail(error);
      return;
    }
    if (this.#watchers.size === 0) return;
    const reported = this.#reported;
    if (reported !== undefined && (head.commit <= reported.commit || this.#isOwn(head))) return;
    this.#reported = head;
    if (reported !== undefined && !isSameState(reported, head)) this.#tell(RESET);
  }

  #tell(changes: readonly Announcement[]): void {
    for (const { tell } of [...this.#watchers]) tell(changes);
  }

  #fail(error: unknown): void {
    const watchers = [...this.#watchers];
    this.close();
    for (const { fail } of watchers) fail(error);
  }
}

/** Reports whether two heads have the same files, as before and after a checkpoint or a collection. */
function isSameState({ state: a }: Head, { state: b }: Head): boolean {
  return a.version === b.version && a.listing === b.listing && a.tree === b.tree;
}
