import type { WatchEvent, WatchOptions } from '../../file-system.js';
import { normalizePath } from '../../paths.js';
import type { Mounted, Namespace } from './namespace.js';

interface Source {
  readonly mounted: Mounted;
  readonly iterator: AsyncIterableIterator<WatchEvent>;
}

/** Yields the changes under a path in every filesystem visible there, without those hidden by a mount point. */
export function watchMounts(
  space: Namespace,
  path: string,
  options: WatchOptions | undefined,
): AsyncIterableIterator<WatchEvent> {
  const { mounted, inner } = space.inside(normalizePath(path, 'watch'));
  const sources: Source[] = [{ mounted, iterator: mounted.fileSystem.watch(inner, options) }];
  try {
    if (options?.recursive === true) {
      for (const beneath of space.pointsBeneath(normalizePath(path, 'watch')))
        sources.push({ mounted: beneath, iterator: beneath.fileSystem.watch('/', options) });
    }
  } catch (error) {
    for (const { iterator } of sources) void iterator.return?.();
    throw error;
  }
  return new MergedWatch(space, sources);
}

/** Merges several watchers. Holds one event of each; further events wait in that watcher's own bounded queue. */
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

  constructor(space: Namespace, sources: readonly Source[]) {
    this.#space = space;
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
        throw item.outcome.reason;
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
    return event.from === undefined
      ? { ...event, path }
      : { ...event, path, from: this.#space.outside(mounted, event.from) };
  }
}
