import type { NodeRecord } from '../backend.js';
import type { Context } from '../engine/context.js';
import type { Cursor } from '../engine/cursor.js';
import { rootMeta } from '../engine/defaults.js';
import type { Executor } from '../engine/executor.js';
import { MemoryExecutor } from '../engine/memory/memory-executor.js';
import { repeatingDraws } from '../engine/repeating-draws.js';
import { collectItems, slicesOf } from '../engine/scheduling/time-slice.js';
import type { ViewSource } from '../engine/view/view-state.js';
import type { View } from '../engine/view.js';
import type { Stats } from '../entry.js';
import type { Checkpoint, FileSystem } from '../file-system.js';
import type { FileSystemStats, Limits } from '../limits.js';
import type { DirectoryNode } from '../tree/node.js';
import { Owner } from '../tree/owner.js';
import { nodeFromRecord } from '../tree/stored-nodes.js';
import { SharedStore, Tree, type TreeState } from '../tree/tree.js';
import { LowerContents } from './lower-contents.js';
import { LowerLoader } from './lower-loader.js';
import { recordOf } from './lower-records.js';

type Which = Checkpoint | string | undefined;

/** One run of an operation on the loaded part of the tree. */
type Attempt<R> = (memory: MemoryExecutor, context: Context, source: ViewSource) => R;

/** Returns a tree with only the root and the totals. Everything else is loaded from a source on demand. */
export function overlayState(root: Stats, stats: FileSystemStats): TreeState {
  const { totalSize, fileCount, directoryCount } = stats;
  const totals = { size: totalSize, files: fileCount, directories: directoryCount, linked: 0 };
  const record: NodeRecord = {
    ...recordOf('/', root, undefined),
    directory: { listing: 0, tree: 0, count: 0, totals },
  };
  const node = nodeFromRecord(new Owner(), record, '/') as DirectoryNode;
  return { root: node, inodes: new Map(), linkedSize: 0 };
}

/**
 * Runs operations on a tree in memory over an asynchronous filesystem. If an operation reads something that is not
 * loaded, its changes are undone, the data is loaded, and it runs again.
 */
export class OverlayExecutor implements Executor {
  readonly kind = 'async';

  readonly #memory: MemoryExecutor;
  readonly #loader: LowerLoader;
  #opened: Promise<void> | undefined;

  private constructor(memory: MemoryExecutor, loader: LowerLoader, opened?: Promise<void>) {
    this.#memory = memory;
    this.#loader = loader;
    this.#opened = opened;
  }

  /** Creates an executor; the first operation loads the root and the totals. */
  static over(lower: FileSystem, limits: Limits): OverlayExecutor {
    const loader = new LowerLoader(lower);
    const tree = new Tree(new SharedStore(), Tree.emptyState(rootMeta(0)));
    const memory = new MemoryExecutor(tree, new LowerContents(loader), undefined, undefined, limits);
    return new OverlayExecutor(memory, loader);
  }

  get capabilities() {
    return this.#memory.capabilities;
  }
  get feed() {
    return this.#memory.feed;
  }
  get quota() {
    return this.#memory.quota;
  }
  get newId() {
    return this.#memory.newId;
  }

  async run<R>(context: Context, operation: (view: View) => R, signal?: AbortSignal): Promise<R> {
    return this.#again(context, (memory, again, source) => memory.runSync(again, operation, source), signal);
  }

  async runBeside<R>(
    context: Context,
    which: Checkpoint | string,
    operation: (view: View, kept: View) => R,
    signal?: AbortSignal,
    syscall?: string,
  ): Promise<R> {
    const attempt: Attempt<R> = (memory, again, source) =>
      memory.runBesideSync(again, which, operation, syscall, source);
    return this.#again(context, attempt, signal);
  }

  iterate<T>(context: Context, start: (view: View) => Cursor<T>, signal?: AbortSignal): AsyncIterableIterator<T> {
    return this.#items((memory, source) => start(memory.viewOf(context, undefined, source)), signal);
  }

  async collect<T>(context: Context, start: (view: View) => Cursor<T>, signal?: AbortSignal): Promise<T[]> {
    return collectItems(this.iterate(context, start, signal));
  }

  async compare<T>(
    context: Context,
    a: Which,
    b: Which,
    start: (a: View, b: View) => Cursor<T>,
    signal?: AbortSignal,
  ): Promise<T[]> {
    return collectItems(
      this.#items(
        (memory, source) => start(memory.viewOf(context, a, source), memory.viewOf(context, b, source)),
        signal,
      ),
    );
  }

  async checkpoint(context: Context, name: string | undefined, signal?: AbortSignal): Promise<Checkpoint> {
    return (await this.#ready(signal)).checkpoint(context, name, signal);
  }
  async checkpoints(signal?: AbortSignal): Promise<Checkpoint[]> {
    return (await this.#ready(signal)).checkpoints(signal);
  }
  async rollback(context: Context, checkpoint: Checkpoint | string, signal?: AbortSignal): Promise<void> {
    return (await this.#ready(signal)).rollback(context, checkpoint, signal);
  }
  async drop(checkpoint: Checkpoint | string, signal?: AbortSignal): Promise<void> {
    return (await this.#ready(signal)).drop(checkpoint, signal);
  }
  async at(checkpoint: Checkpoint | string, signal?: AbortSignal): Promise<Executor> {
    return this.#branch((await this.#ready(signal)).atSync(checkpoint));
  }
  async fork(from: Which, signal?: AbortSignal): Promise<Executor> {
    return this.#branch((await this.#ready(signal)).forkSync(from));
  }
  async transaction<T>(context: Context, work: (executor: Executor) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const memory = await this.#ready(signal);
    const inside = (branch: Executor): Promise<T> => work(this.#branch(branch as MemoryExecutor));
    return memory.transaction(context, inside, signal, (merge, stop) =>
      new LowerContents(this.#loader).run(merge, stop),
    );
  }
  async close(): Promise<void> {}

  /** Returns the memory once the root is loaded; loads it again after a failure. */
  async #ready(signal: AbortSignal | undefined): Promise<MemoryExecutor> {
    signal?.throwIfAborted();
    this.#opened ??= this.#open().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    await this.#opened;
    signal?.throwIfAborted();
    return this.#memory;
  }

  async #open(): Promise<void> {
    const [root, stats] = await this.#loader.top();
    this.#memory.tree.reset(overlayState(root, stats));
  }

  #branch(memory: MemoryExecutor): OverlayExecutor {
    return new OverlayExecutor(memory, this.#loader, this.#opened);
  }

  async #again<R>(context: Context, attempt: Attempt<R>, signal: AbortSignal | undefined): Promise<R> {
    const memory = await this.#ready(signal);
    const replay = repeatingDraws(context);
    return new LowerContents(this.#loader).run((source) => {
      replay.rewind();
      return attempt(memory, replay.context, source);
    }, signal);
  }

  async *#items<T>(
    start: (memory: MemoryExecutor, source: ViewSource) => Cursor<T>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<T, void, undefined> {
    const memory = await this.#ready(signal);
    const contents = new LowerContents(this.#loader);
    const cursor = await contents.run((source) => start(memory, source), signal);
    yield* slicesOf(() => contents.run(() => cursor.next(), signal), signal);
  }
}
