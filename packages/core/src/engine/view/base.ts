import type { Check, Metadata, Write } from '../../backend.js';
import type { Tree } from '../../tree/tree.js';
import type { Change } from '../changes.js';
import type { Context } from '../context.js';
import type { OpenFiles } from '../open-files.js';
import type { Source } from '../source.js';

/** What a view writes down for a storage that is far away: what it relied on, and what it did. */
export interface Recorder {
  readonly checks: Check[];
  readonly writes: Write[];
}

/** A tree, and what an operation on it works with. */
export abstract class BaseView {
  #now: number | undefined;
  #isLate = false;
  #metaTime = Number.NaN;
  #meta: Metadata | undefined;

  constructor(
    readonly tree: Tree,
    readonly context: Context,
    /** Filled with what happened, where somebody listens. */
    public changes: Change[] | undefined = undefined,
    readonly source: Source | undefined = undefined,
    readonly recorder: Recorder | undefined = undefined,
    readonly openFiles: OpenFiles | undefined = undefined,
  ) {}

  /** The moment of this operation. */
  now(): number {
    this.#now ??= checkNow(this.context.clock());
    return this.#now;
  }

  /** To be called before each operation on a view that serves several; `now`: of one that happened already. */
  begin(now?: number): void {
    this.#now = now;
    this.#isLate = now !== undefined;
  }

  /** The moment for what has been changed at `ctime`: others may have done so after an operation that happened already. */
  nowAfter({ ctime }: Metadata): number {
    const now = this.now();
    return this.#isLate && ctime > now ? ctime : now;
  }

  /** Metadata of a new node: one object for all that are made in the same moment with the same mode. */
  newMeta(mode: number): Metadata {
    const now = this.now();
    if (this.#meta === undefined || this.#metaTime !== now || this.#meta.mode !== mode) {
      this.#metaTime = now;
      this.#meta = { mode, uid: 0, gid: 0, atime: now, mtime: now, ctime: now, birthtime: now };
    }
    return this.#meta;
  }
}

/** @throws TypeError where the clock answers anything but a finite number: before anything has changed */
function checkNow(now: number): number {
  if (typeof now !== 'number' || !Number.isFinite(now))
    throw new TypeError('clock must answer a finite number of milliseconds');
  return now;
}
