import type { Check, Metadata, Write } from '../../backend.js';
import type { Tree } from '../../tree/tree.js';
import type { Change } from '../changes.js';
import type { Context } from '../context.js';
import type { OpenFiles } from '../open-files.js';
import type { Source } from '../source.js';

/** Records for a remote storage what an operation relied on and what it changed. */
export interface Recorder {
  readonly checks: Check[];
  readonly writes: Write[];
}

/** A tree with the state of the operation that uses it. */
export abstract class BaseView {
  #now: number | undefined;
  #isLate = false;
  #metaTime = Number.NaN;
  #meta: Metadata | undefined;

  constructor(
    readonly tree: Tree,
    public context: Context,
    /** Receives the changes if anyone listens. */
    public changes: Change[] | undefined = undefined,
    readonly source: Source | undefined = undefined,
    readonly recorder: Recorder | undefined = undefined,
    readonly openFiles: OpenFiles | undefined = undefined,
  ) {}

  /** Returns the time of this operation. */
  now(): number {
    this.#now ??= checkNow(this.context.clock());
    return this.#now;
  }

  /**
   * Must be called before each operation on a view that runs several. `now`: the time of an operation that already
   * happened.
   */
  begin(now?: number): void {
    this.#now = now;
    this.#isLate = now !== undefined;
  }

  /**
   * Returns the time for a change of something last changed at `ctime`, which others may have changed after this
   * operation's time.
   */
  nowAfter({ ctime }: Metadata): number {
    const now = this.now();
    return this.#isLate && ctime > now ? ctime : now;
  }

  /**
   * Returns the metadata of a new node: one shared object for all nodes created at the same time with the same mode.
   */
  newMeta(mode: number): Metadata {
    const now = this.now();
    if (this.#meta === undefined || this.#metaTime !== now || this.#meta.mode !== mode) {
      this.#metaTime = now;
      this.#meta = { mode, uid: 0, gid: 0, atime: now, mtime: now, ctime: now, birthtime: now };
    }
    return this.#meta;
  }
}

/** @throws TypeError, before any change, if the clock returns anything but a finite number */
function checkNow(now: number): number {
  if (typeof now !== 'number' || !Number.isFinite(now))
    throw new TypeError('clock must return a finite number of milliseconds');
  return now;
}
