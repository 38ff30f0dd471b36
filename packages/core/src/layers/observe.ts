import { checkFileSystem } from '../check-file-system.js';
import { checkOptions, describe } from '../engine/arguments.js';
import { systemClock } from '../engine/defaults.js';
import { internalsOf } from '../engine/internals.js';
import type { FileSystem, SyncFileSystem } from '../file-system.js';
import { bytesOf, detailOf, pathsOf } from './describe-call.js';
import { type Around, type Call, intercept } from './intercept.js';

/** A call of a filesystem and its result. */
export interface OperationEvent {
  /** The method without `Sync`: `readFile`, `rename` …; for an open file `handle.read`, `handle.close` … */
  readonly operation: string;
  /** Form of the called method. */
  readonly form: 'promise' | 'sync';
  /** The paths among the arguments as given; for an open file the path at which it was opened. */
  readonly paths: readonly string[];
  /**
   * Details besides paths: the flags of `open`, the name of the function given to `run`, the checkpoint of `rollback`.
   */
  readonly detail?: string;
  readonly ok: boolean;
  /** The error; undefined if `ok`. */
  readonly error?: unknown;
  /** Start in epoch milliseconds by the filesystem's clock. */
  readonly startedAt: number;
  /** Duration in milliseconds by the same clock. */
  readonly durationMs: number;
  /** Bytes of content read or written, if the method moves content and succeeded. */
  readonly bytes?: number;
  /** Set inside a transaction, and for its end. The work may run again: `attempt` counts from 1. */
  readonly transaction?: { readonly id: number; readonly attempt: number };
}

export interface ObserveOptions {
  /** Returns epoch milliseconds. Default: the clock of a filesystem of this library, else the system's. */
  readonly clock?: (() => number) | undefined;
  /** Handles an error of the listener. Default: it is thrown in a separate task, as uncaught. */
  readonly onListenerError?: ((error: unknown, event: OperationEvent) => void) | undefined;
}

/**
 * Returns the same filesystem, reporting every operation to a listener when it has ended: one event per method call,
 * refused ones too, as an audit log needs.
 *
 * An operation that the engine repeats, because it had to load something or lost a race, is one event. In a transaction
 * each operation has its own event, marked with the attempt; the transaction has one when it ends. A stream has the
 * events of its `open`, `handle.read`, `handle.write` and `handle.close`. `walk`, `iterate` and `watch` have theirs
 * once they have begun, so that ending them early hides nothing, and another if a later step fails. `run`, `iterate`
 * and `compare` take code that sees the whole filesystem: their events have no paths.
 *
 * The listener is called before the caller gets its result. Its errors, thrown or rejected, never reach the operation:
 * see {@link ObserveOptions.onListenerError}. Forks are observed too. `close` ends the layer; the lower filesystem
 * stays open.
 *
 * @throws TypeError if the listener is not a function
 * @example
 * ```ts
 * import { createFileSystem } from 'scratchfs';
 * import { observe } from '@scratchfs/core/layers';
 *
 * const log: string[] = [];
 * const fs = observe(createFileSystem(), (event) => {
 *     log.push(`${event.operation} ${event.paths.join(' ')} ${event.ok ? 'ok' : 'refused'}`);
 * });
 * fs.writeFileSync('/a', 'x');
 * fs.existsSync('/b');
 * console.log(log.join(', ')); // → writeFile /a ok, exists /b ok
 * ```
 */
export function observe(
  fileSystem: SyncFileSystem,
  onEvent: (event: OperationEvent) => void,
  options?: ObserveOptions,
): SyncFileSystem;
export function observe(
  fileSystem: FileSystem,
  onEvent: (event: OperationEvent) => void,
  options?: ObserveOptions,
): FileSystem;
export function observe(
  fileSystem: FileSystem,
  onEvent: (event: OperationEvent) => void,
  options: ObserveOptions = {},
): FileSystem {
  checkFileSystem(fileSystem);
  checkOptions(options, ['clock', 'onListenerError'], 'observe', false);
  if (typeof onEvent !== 'function') throw new TypeError(`The listener must be a function, not ${describe(onEvent)}`);
  const inner = internalsOf(fileSystem)?.context.clock;
  const onListenerError = options.onListenerError ?? throwLater;
  return intercept(
    fileSystem,
    new Observer({ clock: options.clock ?? inner ?? systemClock, onEvent, onListenerError, transactions: 0 }),
  );
}

interface Shared {
  readonly clock: () => number;
  readonly onEvent: (event: OperationEvent) => unknown;
  readonly onListenerError: (error: unknown, event: OperationEvent) => void;
  transactions: number;
}

type Mark = NonNullable<OperationEvent['transaction']>;

class Observer implements Around {
  readonly #marks = new WeakMap<Call, Mark>();

  constructor(
    readonly shared: Shared,
    readonly mark?: Mark,
  ) {}

  async promise(call: Call, next: () => Promise<unknown>): Promise<unknown> {
    const startedAt = this.shared.clock();
    let result: unknown;
    try {
      result = await next();
    } catch (error) {
      this.#report(call, 'promise', startedAt, { error });
      throw error;
    }
    this.#report(call, 'promise', startedAt, { result });
    return result;
  }

  sync(call: Call, next: () => unknown): unknown {
    const startedAt = this.shared.clock();
    let result: unknown;
    try {
      result = next();
    } catch (error) {
      this.#report(call, 'sync', startedAt, { error });
      throw error;
    }
    this.#report(call, 'sync', startedAt, { result });
    return result;
  }

  iterator(call: Call, next: () => AsyncIterableIterator<unknown>): AsyncIterableIterator<unknown> {
    const steps = this.#steps(call, 'promise');
    const inner = steps.guard(next);
    if (call.name === 'watch') steps.passed();
    const layer: AsyncIterableIterator<unknown> = {
      async next() {
        const result = await inner.next().catch(steps.failed);
        steps.passed();
        return result;
      },
      return: async (value?: unknown) => inner.return?.(value) ?? { done: true, value },
      [Symbol.asyncIterator]: () => layer,
    };
    return layer;
  }

  iteratorSync(call: Call, next: () => IterableIterator<unknown>): IterableIterator<unknown> {
    const steps = this.#steps(call, 'sync');
    const inner = steps.guard(next);
    const layer: IterableIterator<unknown> = {
      next() {
        const result = steps.guard(() => inner.next());
        steps.passed();
        return result;
      },
      return: (value?: unknown) => inner.return?.(value) ?? { done: true, value },
      [Symbol.iterator]: () => layer,
    };
    return layer;
  }

  inTransaction(call: Call): Around {
    const before = this.#marks.get(call);
    const mark = { id: before?.id ?? ++this.shared.transactions, attempt: (before?.attempt ?? 0) + 1 };
    this.#marks.set(call, mark);
    return new Observer(this.shared, mark);
  }

  /** Reports an iterator at its first step, and again if a later step fails. */
  #steps(call: Call, form: 'promise' | 'sync') {
    const startedAt = this.shared.clock();
    let told = false;
    const failed = (error: unknown): never => {
      told = true;
      this.#report(call, form, startedAt, { error });
      throw error;
    };
    const passed = (): void => {
      if (!told) this.#report(call, form, startedAt, {});
      told = true;
    };
    const guard = <R>(step: () => R): R => {
      try {
        return step();
      } catch (error) {
        return failed(error);
      }
    };
    return { failed, passed, guard };
  }

  #report(
    call: Call,
    form: 'promise' | 'sync',
    startedAt: number,
    outcome: { readonly error?: unknown; readonly result?: unknown },
  ): void {
    const ok = !('error' in outcome);
    const bytes = ok ? bytesOf(call, outcome.result) : undefined;
    const detail = detailOf(call);
    const transaction = this.#marks.get(call) ?? this.mark;
    const event: OperationEvent = Object.freeze({
      operation: call.on === 'handle' ? `handle.${call.name}` : call.name,
      form,
      paths: Object.freeze(pathsOf(call)),
      ...(detail === undefined ? {} : { detail }),
      ok,
      ...(ok ? {} : { error: outcome.error }),
      startedAt,
      durationMs: this.shared.clock() - startedAt,
      ...(bytes === undefined ? {} : { bytes }),
      ...(transaction === undefined ? {} : { transaction }),
    });
    const { onEvent, onListenerError } = this.shared;
    try {
      const answer = onEvent(event);
      if (answer instanceof Promise) answer.catch((error: unknown) => onListenerError(error, event));
    } catch (error) {
      onListenerError(error, event);
    }
  }
}

function throwLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
