import type { Guard } from '../../engine/guard.js';
import { type Internals, internalsOf, type TrustedApi, trustedApi, type UntrustedApi } from '../../engine/internals.js';
import type { EntryInfo } from '../../entry.js';
import { FsError, isFsError } from '../../errors.js';
import type { FileHandle } from '../../file-handle.js';
import type { Capabilities, FileSystem, SyncFileSystem, WatchEvent } from '../../file-system.js';
import { normalizePath } from '../../paths.js';
import { toRecord } from '../../to-record.js';
import { runCalls, runCallsSync, signalOf } from '../call-sequence.js';
import { captureArguments } from '../capture.js';
import { type Around, type Call, intercept, interceptHandle } from '../intercept.js';
import { overlay } from '../overlay.js';
import { overOverlay, type Refusals } from '../untrusted-code.js';
import { withPaths } from '../with-paths.js';
import { shownItems, shownItemsSync, shownPromise, shownResult } from './error-boundary.js';
import { type FileSystemCall, GenericRules, isFree, type Outcome, type Place } from './generic-rules.js';
import { GuardChain } from './guard-chain.js';
import { GuardedHandle } from './guarded-handle.js';
import { restrictInternals } from './restrict-internals.js';
import { genericCapabilities } from './restricted-capabilities.js';
import { visibleEvents } from './visible-events.js';

/** Returns a filesystem under a guard, over one that is known only by its methods. */
export function restrictByMethods(inner: FileSystem, guard: Guard, refusals: Refusals): FileSystem {
  const guards = new GuardChain([guard]);
  const around = new Restriction(guards);
  const untrustedApi = (self: FileSystem): UntrustedApi => overOverlay(self, refusals);
  const forCursors = (name: string, lower: FileSystem): TrustedApi =>
    shownResult(
      () => cursorsOver(name, lower, guard, guards),
      (error) => guards.shown(error, []),
    );
  const capabilities = (lower: Capabilities): Capabilities => genericCapabilities(lower, guards);
  return intercept(inner, around, { untrustedApi, forCursors, capabilities });
}

/**
 * Returns the runner of this library's cursors: over the lower filesystem if everything may be read, else over an
 * overlay, which has a view that asks the guards. @throws FsError ENOTSUP for `compare` unless everything may be read
 */
function cursorsOver(name: string, inner: FileSystem, guard: Guard, guards: GuardChain): TrustedApi {
  if (guards.isOpen()) return trustedApi(inner);
  if (name === 'compare') {
    const hint =
      'A filesystem with hidden paths compares its states only directly over a filesystem of this library: put other layers above restrict';
    throw new FsError('ENOTSUP', { syscall: 'diff', hint });
  }
  return trustedApi(restrictInternals(internalsOf(overlay(inner, { limits: {} })) as Internals, guard));
}

class Restriction implements Around {
  readonly #guards: GuardChain;
  readonly #rules: GenericRules;

  constructor(guards: GuardChain) {
    this.#guards = guards;
    this.#rules = new GenericRules(guards, new Set());
  }

  async promise(call: Call, next: (args?: readonly unknown[]) => Promise<unknown>): Promise<unknown> {
    if (call.on === 'handle' || isBoundedBelow(call)) return next();
    if (call.name === 'close') return shownPromise(next(), this.#showFor(call));
    const captured = { ...call, args: captureArguments(call.name, call.args) };
    try {
      if (isFree(captured, this.#guards)) return await next();
      const outcome = await runCalls(this.#rules.of(captured), signalOf(call.args));
      if ('value' in outcome) return outcome.value;
      return this.#answer(captured, outcome, await this.#named(outcome, () => next(changed(captured, outcome))));
    } catch (error) {
      throw this.#showFor(call)(error);
    }
  }

  sync(call: Call, next: (args?: readonly unknown[]) => unknown): unknown {
    if (call.on === 'handle' || isBoundedBelow(call)) return next();
    try {
      if (call.name === 'toJSON') return this.#record(call);
      if (isFree(call, this.#guards)) return next();
      const outcome = runCallsSync(this.#rules.of(call));
      if ('value' in outcome) return outcome.value;
      try {
        return this.#answer(call, outcome, next(changed(call, outcome)));
      } catch (error) {
        throw translated(error, outcome.places);
      }
    } catch (error) {
      throw this.#showFor(call)(error);
    }
  }

  iterator(call: Call, next: () => AsyncIterableIterator<unknown>): AsyncIterableIterator<unknown> {
    if (call.on === 'handle' || isBoundedBelow(call)) return next();
    const show = this.#showFor(call);
    if (call.name === 'watch')
      return shownItems(
        shownResult(() => this.#watch(call, next), show),
        show,
      );
    const rules = this.#rules;
    const items = (async function* () {
      yield* await runCalls(rules.walkFrom(call), signalOf(call.args));
    })();
    return shownItems(items, show);
  }

  iteratorSync(call: Call, next: () => IterableIterator<unknown>): IterableIterator<unknown> {
    if (call.on === 'handle' || isBoundedBelow(call)) return next();
    const rules = this.#rules;
    const items = (function* () {
      yield* runCallsSync(rules.walkFrom(call));
    })();
    return shownItemsSync(items, this.#showFor(call));
  }

  inTransaction(): Around {
    return this;
  }

  failedInTransaction(error: unknown): unknown {
    return this.#guards.keep(error);
  }

  #showFor(call: Call): (error: unknown) => unknown {
    return (error) => this.#guards.shown(error, call.args);
  }

  #watch(call: FileSystemCall, next: () => AsyncIterableIterator<unknown>): AsyncIterableIterator<unknown> {
    const [given] = call.args as [string];
    const path = normalizePath(given, 'watch');
    this.#guards.ask({ path, access: 'read', kind: undefined, size: undefined, syscall: 'watch', given });
    return visibleEvents(next() as AsyncIterableIterator<WatchEvent>, path, {
      // Links may lead outside, so their ends are checked before the lower watcher says what exists.
      reach: () => runCalls(this.#rules.of(call), signalOf(call.args)),
      isVisible: (at, kind) => this.#guards.isKindVisible(at, kind),
      kindOf: async (at) => (await call.target.lstat(at).catch(() => undefined))?.kind,
    });
  }

  #answer(call: FileSystemCall, outcome: Exclude<Outcome, { value: unknown }>, result: unknown): unknown {
    if (call.spec.answers === 'handle') {
      const { path, given } = outcome.places[0] as Place;
      const handle = result as FileHandle;
      return interceptHandle(handle, new GuardedHandle(this.#guards, handle, path, given), given);
    }
    return outcome.answer === undefined ? result : outcome.answer(result);
  }

  async #named(outcome: Exclude<Outcome, { value: unknown }>, call: () => Promise<unknown>): Promise<unknown> {
    try {
      return await call();
    } catch (error) {
      throw translated(error, outcome.places);
    }
  }

  /** Returns a record of everything that may be read. */
  #record(call: FileSystemCall): unknown {
    const target = call.target as SyncFileSystem;
    const entries: readonly EntryInfo[] = runCallsSync(this.#rules.walk(target, '/'));
    const sizes = new Map(entries.map(({ path, kind, size }) => [path, { kind, size }]));
    const source = {
      walkSync: () => entries.values(),
      readFileSync: ((path: string) => target.readFileSync(path)) as SyncFileSystem['readFileSync'],
    };
    return toRecord(source, (path) => {
      const { kind, size } = sizes.get(path) ?? {};
      return this.#guards.permitsOne({ path, access: 'read', kind, size, syscall: 'open', given: path });
    });
  }
}

/**
 * Reports whether a call runs operations or cursors. Each of their accesses is checked elsewhere: by an overlay of this
 * layer, or by guards of their own.
 */
function isBoundedBelow({ on, spec }: Call): boolean {
  return on === 'fileSystem' && spec.whole === 'code' && spec.answers === 'plain';
}

/** Returns the arguments for the lower filesystem; undefined for a transaction, whose work `intercept` has to wrap. */
function changed(call: FileSystemCall, { args }: Exclude<Outcome, { value: unknown }>): readonly unknown[] | undefined {
  return call.name === 'transaction' ? undefined : args;
}

/** Returns an error with the paths as the caller gave them. */
function translated(error: unknown, places: readonly Place[]): unknown {
  if (!isFsError(error) || error.syscall === 'symlink') return error;
  const outer = (path: string | undefined): string | undefined =>
    places.find((place) => place.path === path)?.given ?? path;
  const path = outer(error.path);
  const dest = outer(error.dest);
  return path === error.path && dest === error.dest ? error : withPaths(error, path, dest);
}
