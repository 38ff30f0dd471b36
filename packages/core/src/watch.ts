import type { Announcement } from './backend.js';
import { checkBoolean, checkInteger, checkOptions } from './engine/arguments.js';
import type { ChangeFeed } from './engine/change-feed.js';
import type { Internals } from './engine/internals.js';
import { exists } from './engine/operations/read.js';
import { checkNameEncoding } from './engine/text-encodings.js';
import type { EntryKind } from './entry.js';
import { FsError } from './errors.js';
import type { WatchEvent, WatchOptions } from './file-system.js';
import { isWithin, normalizePath, parentPath } from './paths.js';

const MAX_QUEUED_EVENTS = 1024;

/** Yields changes from this call on. A slow consumer gets an `overflow` in place of the newest queued events. */
export function watchChanges(
  { executor, context, ending }: Internals,
  path: string,
  options: WatchOptions | string | null | undefined,
): AsyncIterableIterator<WatchEvent> {
  const known = ['encoding', 'recursive', 'maxQueue', 'persistent'];
  const given = checkOptions<WatchOptions>(options, known, 'watch');
  checkNameEncoding(given.encoding);
  const root = normalizePath(path, 'watch');
  const recursive = checkBoolean(given.recursive, 'recursive');
  const maxQueue = given.maxQueue === undefined ? MAX_QUEUED_EVENTS : checkInteger(given.maxQueue, 'maxQueue', 1);
  context.guard?.check(root, 'read', 'watch', path);
  const concerns = (at: string, kind: EntryKind | undefined): boolean =>
    (recursive ? isWithin(at, root) : at === root || parentPath(at) === root) &&
    (context.guard?.isKindVisible(at, kind) ?? true);
  const watcher = new Watcher(executor.feed, (change) => eventOf(change, root, concerns), maxQueue, [
    ending,
    given.signal,
  ]);
  // Listening comes first, so that no change after the look is missed.
  watcher.beginAfter(
    executor.run(
      context,
      (view) => {
        if (!exists(view, path)) throw new FsError('ENOENT', { syscall: 'watch', path });
      },
      given.signal,
    ),
  );
  return watcher;
}

type Concerns = (path: string, kind: EntryKind | undefined) => boolean;

function eventOf(change: Announcement, root: string, concerns: Concerns): WatchEvent | undefined {
  const { path, from, kind } = change;
  if (change.type === 'reset') return { type: 'overflow', path: root };
  if (change.type !== 'rename' || from === undefined) {
    if (!concerns(path, kind)) return undefined;
    const event = { type: change.type as WatchEvent['type'], path };
    return change.hasContent === true ? { ...event, hasContent: true } : event;
  }
  const left = concerns(from, kind);
  if (concerns(path, kind)) return left ? { type: 'rename', path, from } : { type: 'create', path };
  return left ? { type: 'remove', path: from } : undefined;
}

class Watcher implements AsyncIterableIterator<WatchEvent> {
  readonly #queue: WatchEvent[] = [];
  readonly #waiting: {
    readonly resolve: (result: IteratorResult<WatchEvent>) => void;
    readonly reject: (error: unknown) => void;
  }[] = [];
  readonly #stopListening: () => void;
  readonly #signals: readonly AbortSignal[];
  readonly #toEvent: (change: Announcement) => WatchEvent | undefined;
  readonly #maxQueue: number;
  #done = false;
  /** Pending until it is known whether the path exists. */
  #beginning: Promise<void> | undefined;
  /** The error with which the watcher has ended, until the consumer gets it. */
  #failure: { readonly error: unknown } | undefined;

  constructor(
    feed: ChangeFeed,
    toEvent: (change: Announcement) => WatchEvent | undefined,
    maxQueue: number,
    signals: readonly (AbortSignal | undefined)[],
  ) {
    this.#toEvent = toEvent;
    this.#maxQueue = maxQueue;
    this.#signals = signals.filter((signal) => signal !== undefined);
    this.#stopListening = feed.listen(
      (changes) => {
        for (const change of changes) this.#push(change);
      },
      (error) => this.#fail(error),
    );
    for (const signal of this.#signals) signal.addEventListener('abort', this.#end, { once: true });
    if (this.#signals.some((signal) => signal.aborted)) this.#end();
  }

  /** Fails the watcher if `look` rejects, as it does if the path does not exist. */
  beginAfter(look: Promise<void>): void {
    const begun = (): void => {
      this.#beginning = undefined;
    };
    this.#beginning = look.then(begun, (error: unknown) => {
      begun();
      if (this.#done) return;
      this.#queue.length = 0;
      this.#failure = { error };
      this.#end();
    });
  }

  async next(): Promise<IteratorResult<WatchEvent>> {
    if (this.#beginning !== undefined && !this.#done) await this.#beginning;
    const event = this.#queue.shift();
    if (event !== undefined) return { done: false, value: event };
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.error;
    if (this.#done) return { done: true, value: undefined };
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  async return(): Promise<IteratorResult<WatchEvent>> {
    this.#queue.length = 0;
    this.#end();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Passes a change on. An error here must not reach the writer of the change: the watcher fails instead. */
  #push(change: Announcement): void {
    if (this.#done) return;
    let event: WatchEvent | undefined;
    try {
      event = this.#toEvent(change);
    } catch (error) {
      this.#fail(error);
    }
    if (event === undefined) return;
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) waiting.resolve({ done: false, value: event });
    else if (this.#queue.length < this.#maxQueue) this.#queue.push(event);
    else this.#queue[this.#queue.length - 1] = { type: 'overflow', path: event.path };
  }

  /** Ends the watcher with an error, after the events that are queued. */
  #fail(error: unknown): void {
    if (this.#done) return;
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#failure = { error };
    else waiting.reject(error);
    this.#end();
  }

  readonly #end = (): void => {
    if (this.#done) return;
    this.#done = true;
    for (const signal of this.#signals) signal.removeEventListener('abort', this.#end);
    for (const { resolve } of this.#waiting.splice(0)) resolve({ done: true, value: undefined });
    this.#stopListening();
  };
}
