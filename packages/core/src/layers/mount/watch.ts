import { isFsError } from '../../errors.js';
import type { WatchEvent, WatchOptions } from '../../file-system.js';
import { isWithin, normalizePath, parentPath } from '../../paths.js';
import { withPaths } from '../with-paths.js';
import type { Mounted, Namespace } from './namespace.js';

interface Source {
  readonly mounted: Mounted;
  readonly iterator: AsyncIterableIterator<WatchEvent>;
}

/**
 * Yields the changes at a path and directly in it, with `recursive` everywhere under it, also in the filesystems that
 * are mounted there. Changes of what a mount point hides are left out.
 */
export function watchMounts(
  space: Namespace,
  path: string,
  options: WatchOptions | undefined,
): AsyncIterableIterator<WatchEvent> {
  const root = normalizePath(path, 'watch');
  const { mounted, inner } = space.inside(root);
  const recursive = options?.recursive === true;
  // A directory that leads to a mount point may be missing in the lower filesystem until something is written into it.
  const isWay = space.isWay(root) && root !== '/';
  const lower = isWay ? mounted.fileSystem.watch('/', { ...options, recursive: true }) : undefined;
  const sources: Source[] = [{ mounted, iterator: lower ?? mounted.fileSystem.watch(inner, options) }];
  try {
    if (recursive) {
      for (const under of space.pointsBeneath(root))
        sources.push({ mounted: under, iterator: under.fileSystem.watch('/', options) });
    }
  } catch (error) {
    for (const { iterator } of sources) void iterator.return?.();
    throw error;
  }
  const concerns = (at: string): boolean => (recursive ? isWithin(at, root) : at === root || parentPath(at) === root);
  return new MergedWatch(space, sources, isWay ? concerns : () => true, path);
}

/** Merges several watchers. Holds at most one event of each; further events wait in its own bounded queue. */
class MergedWatch implements AsyncIterableIterator<WatchEvent> {
  readonly #ready: { readonly source: Source; readonly outcome: PromiseSettledResult<IteratorResult<WatchEvent>> }[] =
    [];
  /** Sources whose next event was not requested yet. */
  readonly #idle: Set<Source>;
  #live: number;
  #wake: (() => void) | undefined;
  #last: Promise<unknown> = Promise.resolve();

  readonly #space: Namespace;
  readonly #sources: readonly Source[];
  readonly #concerns: (path: string) => boolean;
  /** The watched path as the caller wrote it. */
  readonly #given: string;

  constructor(space: Namespace, sources: readonly Source[], concerns: (path: string) => boolean, given: string) {
    this.#space = space;
    this.#concerns = concerns;
    this.#given = given;
    this.#sources = sources;
    this.#live = sources.length;
    this.#idle = new Set(sources);
  }

  next(): Promise<IteratorResult<WatchEvent>> {
    const turn = this.#last.then(() => this.#take());
    this.#last = turn.catch(() => {});
    return turn;
  }

  async return(): Promise<IteratorResult<WatchEvent>> {
    await Promise.all(this.#sources.map(({ iterator }) => iterator.return?.()));
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #take(): Promise<IteratorResult<WatchEvent>> {
    for (const source of this.#idle) this.#ask(source);
    this.#idle.clear();
    while (this.#live > 0) {
      const item = this.#ready.shift();
      if (item === undefined) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      if (item.outcome.status === 'rejected') {
        this.#live = 0;
        await this.return().catch(() => {});
        const { reason } = item.outcome;
        throw isFsError(reason) && reason.path !== undefined ? withPaths(reason, this.#given, undefined) : reason;
      }
      const result = item.outcome.value;
      if (result.done) {
        this.#live -= 1;
        continue;
      }
      const event = this.#seen(result.value, item.source.mounted);
      if (event === undefined) this.#ask(item.source);
      else {
        this.#idle.add(item.source);
        return { done: false, value: event };
      }
    }
    return { done: true, value: undefined };
  }

  #ask(source: Source): void {
    void Promise.allSettled([source.iterator.next()]).then(([outcome]) => {
      this.#ready.push({ source, outcome });
      this.#wake?.();
    });
  }

  #seen(event: WatchEvent, mounted: Mounted): WatchEvent | undefined {
    const path = this.#space.outside(mounted, event.path);
    if (this.#space.inside(path).mounted !== mounted) return undefined;
    const from = event.from === undefined ? undefined : this.#space.outside(mounted, event.from);
    const left = from !== undefined && this.#concerns(from);
    if (event.type !== 'overflow' && !this.#concerns(path)) return left ? { type: 'remove', path: from } : undefined;
    if (from === undefined) return { ...event, path };
    return left ? { ...event, path, from } : { type: 'create', path };
  }
}
