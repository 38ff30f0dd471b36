import { checkFileSystem } from '../check-file-system.js';
import { checkBoolean, checkOptions, describe } from '../engine/arguments.js';
import { systemClock } from '../engine/defaults.js';
import { internalsOf } from '../engine/internals.js';
import type { FileSystem, SyncFileSystem } from '../file-system.js';
import { bytesOf, detailOf, pathsOf } from './describe-call.js';
import { type Around, type Call, intercept } from './intercept.js';
import { type ChangedVersions, capturedArguments, looksOf, versionOf, versionOfSync } from './observed-versions.js';

/** A call of a filesystem and its result. */
export interface OperationEvent {
  /** The actor in whose name the filesystem was wrapped, if one was given. */
  readonly actor?: string;
  /** The method without `Sync`: `readFile`, `rename` …; for an open file `handle.read`, `handle.close` … */
  readonly operation: string;
  /** Form of the called method. */
  readonly form: 'promise' | 'sync';
  /** The paths among the arguments as given; for an open file the path at which it was opened. */
  readonly paths: readonly string[];
  /**
   * Details besides paths, such as the flags of `open`, the name of the function given to `run` or the checkpoint of
   * `rollback`.
   */
  readonly detail?: string;
  readonly ok: boolean;
  /** The error; undefined if `ok`. */
  readonly error?: unknown;
  /** Start in epoch milliseconds, by the `clock` of the options. */
  readonly startedAt: number;
  /** Duration in milliseconds by the same clock. */
  readonly durationMs: number;
  /**
   * Bytes of content that a successful read or write of one file returned or was given (`readFile`, `getEntry`,
   * `handle.write` …). Undefined if it is not known, as for `editFile`, `cp` and `entries`.
   */
  readonly bytes?: number;
  /**
   * With the option `versions`: the version of the changed entry before the call, undefined for example if the entry
   * did not exist. For `rename`, `rm`, `unlink` and `rmdir` that is the removed entry, else the written one (`cp`,
   * `copyFile`, `link`: the destination).
   */
  readonly before?: string;
  /**
   * With the option `versions`: the version of the written entry (for `rename` under its new path) after a successful
   * call.
   */
  readonly after?: string;
  /**
   * Set inside a transaction, and at its end if its work has begun. The work may run again: `attempt` counts from 1.
   */
  readonly transaction?: { readonly id: number; readonly attempt: number };
}

export interface ObserveOptions {
  /** Name of the user of the returned filesystem; each event carries it. Default: none. */
  readonly actor?: string | undefined;
  /**
   * Report the versions of a changed entry before and after the call. Each call that changes an entry then has up to
   * two lookups more, which take requests on a remote storage. The lookups and the call are not one atomic step: if
   * another client changes the entry at the same time, a version may belong to another state. Default false.
   */
  readonly versions?: boolean | undefined;
  /**
   * Returns epoch milliseconds. Default: the clock of the filesystem; the system's for a filesystem known only by its
   * methods.
   */
  readonly clock?: (() => number) | undefined;
  /** Handles an error of the listener. Default: it is thrown in a microtask of its own, as uncaught. */
  readonly onListenerError?: ((error: unknown, event: OperationEvent) => void) | undefined;
}

/**
 * Returns the same filesystem, reporting operations to a listener: one event per method call when it has ended, refused
 * ones too, as an audit log needs.
 *
 * An operation that the engine repeats, because it had to load something or lost a race, is one event. In a transaction
 * each operation has its own event, marked with the attempt; the transaction has one when it ends. A stream has the
 * events of its `open`, `handle.read`, `handle.write` and `handle.close`. `walk`, `iterate` and `watch` have theirs
 * once they have begun, so that ending them early hides nothing, and another if a later step fails. `run`, `iterate`
 * and `compare` take code that sees the whole filesystem: their events have no paths.
 *
 * The listener is called before the caller gets its result. Its errors, thrown or rejected, go to
 * {@link ObserveOptions.onListenerError} instead of the caller. The filesystems that `fork` and `at` return are
 * observed too. `close` ends the layer; the lower filesystem stays open.
 *
 * @throws TypeError for arguments of a wrong type, such as a listener that is not a function
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
  const { actor, versions } = checkOptions(
    options,
    ['actor', 'clock', 'onListenerError', 'versions'],
    'observe',
    false,
  );
  if (actor !== undefined && typeof actor !== 'string')
    throw new TypeError(`actor must be a string, not ${describe(actor)}`);
  if (typeof onEvent !== 'function') throw new TypeError(`The listener must be a function, not ${describe(onEvent)}`);
  const inner = internalsOf(fileSystem)?.context.clock;
  const onListenerError = options.onListenerError ?? throwLater;
  return intercept(
    fileSystem,
    new Observer({
      actor,
      versions: checkBoolean(versions, 'versions'),
      clock: options.clock ?? inner ?? systemClock,
      onEvent,
      onListenerError,
      transactions: 0,
    }),
  );
}

interface Shared {
  readonly actor: string | undefined;
  readonly versions: boolean;
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

  async promise(call: Call, next: (args?: readonly unknown[]) => Promise<unknown>): Promise<unknown> {
    const startedAt = this.shared.clock();
    const looks = this.shared.versions ? looksOf(call) : undefined;
    // The call begins after the first lookup, so its arguments are captured before.
    const args = looks && capturedArguments(call);
    const before = looks && (await versionOf(looks.before));
    let result: unknown;
    try {
      result = await next(args);
    } catch (error) {
      this.#report(call, 'promise', startedAt, { error, versions: { before } });
      throw error;
    }
    const after = looks?.after && (await versionOf(looks.after(result)));
    this.#report(call, 'promise', startedAt, { result, versions: { before, after } });
    return result;
  }

  sync(call: Call, next: () => unknown): unknown {
    const startedAt = this.shared.clock();
    const looks = this.shared.versions ? looksOf(call) : undefined;
    const before = looks && versionOfSync(looks.before);
    let result: unknown;
    try {
      result = next();
    } catch (error) {
      this.#report(call, 'sync', startedAt, { error, versions: { before } });
      throw error;
    }
    const after = looks?.after && versionOfSync(looks.after(result));
    this.#report(call, 'sync', startedAt, { result, versions: { before, after } });
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

  /** Returns functions that report an iterator: `passed` that it has begun, at most once; `failed` each failure. */
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
    outcome: { readonly error?: unknown; readonly result?: unknown; readonly versions?: ChangedVersions },
  ): void {
    const ok = !('error' in outcome);
    const bytes = ok ? bytesOf(call, outcome.result) : undefined;
    const detail = detailOf(call);
    const transaction = this.#marks.get(call) ?? this.mark;
    const { actor } = this.shared;
    const { before, after } = outcome.versions ?? {};
    // Adding the optional fields by spreads took a fifth of the time of a `statSync`.
    const event: { -readonly [K in keyof OperationEvent]: OperationEvent[K] } = {
      operation: call.on === 'handle' ? `handle.${call.name}` : call.name,
      form,
      paths: Object.freeze(pathsOf(call)),
      ok,
      startedAt,
      durationMs: this.shared.clock() - startedAt,
    };
    if (actor !== undefined) event.actor = actor;
    if (detail !== undefined) event.detail = detail;
    if (!ok) event.error = outcome.error;
    if (bytes !== undefined) event.bytes = bytes;
    if (before !== undefined) event.before = before;
    if (after !== undefined) event.after = after;
    if (transaction !== undefined) event.transaction = transaction;
    Object.freeze(event);
    const { onEvent, onListenerError } = this.shared;
    try {
      const answer = onEvent(event);
      if (answer instanceof Promise) answer.catch((error: unknown) => onListenerError(error, event));
    } catch (error) {
      try {
        onListenerError(error, event);
      } catch (again) {
        // The operation has been done, so its result stays.
        throwLater(again);
      }
    }
  }
}

function throwLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
