import { AsyncFileSystem } from '../../async-file-system.js';
import type { Context } from '../../engine/context.js';
import type { Executor, SyncExecutor } from '../../engine/executor.js';
import {
  type Internals,
  type InternalsOptions,
  internalsOf,
  keepTrustedApi,
  type SyncTrustedApi,
} from '../../engine/internals.js';
import type { FileSystem } from '../../file-system.js';
import { MemoryFileSystem } from '../../memory-file-system.js';
import { METHODS, type MethodName, type MethodSpec, namesOf, textPaths } from '../method-table.js';
import { withFailures } from '../with-failures.js';
import { shownItems, shownItemsSync, shownPromise, shownResult } from './error-boundary.js';
import type { GuardChain } from './guard-chain.js';

type Args = readonly unknown[];
type Method = (this: FileSystem, ...args: Args) => unknown;
type Methods = Record<string, Method>;

/** Returns arguments with paths as text, as errors name them. */
type Texts = (args: Args) => Args;
type Form = (method: Method, texts: Texts) => Method;
/** Forms of the methods for which {@link asPromise} and {@link asValue} are not enough. */
const FORMS: Partial<Record<MethodName, readonly [promise: Form, sync: Form]>> = {
  walk: [asItems, asItemsSync],
  watch: [asItems, asItemsSync],
  transaction: [
    (method, texts) => asPromise(withWork(method), texts),
    (method, texts) => asValue(withWork(method), texts),
  ],
};

/** A guarded filesystem of the engine: errors of its methods are shown as the guards allow. */
class GuardedFileSystem extends AsyncFileSystem {
  static {
    Object.preventExtensions(GuardedFileSystem);
    guardMethods(GuardedFileSystem.prototype, false);
  }
}

/** A guarded filesystem of the engine that also has the synchronous methods. */
class GuardedMemoryFileSystem extends MemoryFileSystem {
  static {
    Object.preventExtensions(GuardedMemoryFileSystem);
    guardMethods(GuardedMemoryFileSystem.prototype, true);
  }
}

/** Returns the filesystem over an executor whose context has guards. */
export function guardedFileSystem(executor: Executor, context: Context, options: InternalsOptions): FileSystem {
  const own = { ...options, create: guardedFileSystem };
  const fileSystem =
    executor.kind === 'sync'
      ? new GuardedMemoryFileSystem(executor as SyncExecutor, context, own)
      : new GuardedFileSystem(executor, context, own);
  keepTrustedApi(fileSystem, guardedApi(internalsOf(fileSystem) as Internals));
  return fileSystem;
}

/** Overrides the methods. Handles show their errors themselves, and streams work through handles. */
function guardMethods(prototype: object, isSync: boolean): void {
  const methods = prototype as Methods;
  const override = (name: string, form: Form, texts: Texts): void => {
    const value = form(methods[name] as Method, texts);
    Object.defineProperty(prototype, name, { value, writable: true, configurable: true });
  };
  for (const name of namesOf(METHODS)) {
    const { shape, whole, answers, forms }: MethodSpec = METHODS[name];
    // A caller's operations and cursors run over an overlay of this filesystem.
    const isRunAbove = whole === 'code' && answers === 'plain';
    if (shape === 'value' || shape === 'own' || isRunAbove) continue;
    const [promise, sync] = FORMS[name] ?? [asPromise, asValue];
    const texts = textPaths(name);
    if (forms !== 'sync') override(name, promise, texts);
    if (isSync && forms !== 'promise') override(forms === 'sync' ? name : `${name}Sync`, sync, texts);
  }
}

function asPromise(method: Method, texts: Texts): Method {
  return function (...args) {
    return shownPromise(method.call(this, ...args) as Promise<unknown>, showFor(this, texts(args)));
  };
}

function asValue(method: Method, texts: Texts): Method {
  return function (...args) {
    try {
      return method.call(this, ...args);
    } catch (error) {
      throw showFor(this, texts(args))(error);
    }
  };
}

function asItems(method: Method, texts: Texts): Method {
  return function (...args) {
    const items = asValue(method, texts).call(this, ...args) as AsyncIterableIterator<unknown>;
    return shownItems(items, showFor(this, texts(args)));
  };
}

function asItemsSync(method: Method, texts: Texts): Method {
  return function (...args) {
    const items = asValue(method, texts).call(this, ...args) as Iterable<unknown>;
    return shownItemsSync(items, showFor(this, texts(args)));
  };
}

function withWork(method: Method): Method {
  return function (work, ...rest) {
    const { guard } = (internalsOf(this) as Internals).context;
    const isWork = typeof work === 'function';
    const given = isWork ? withFailures(work as Method, (error) => (guard as GuardChain).keep(error)) : work;
    return method.call(this, given, ...rest);
  };
}

function showFor(fileSystem: FileSystem, args: Args): (error: unknown) => unknown {
  const { guard } = (internalsOf(fileSystem) as Internals).context;
  return (error) => (guard === undefined ? error : guard.shown(error, args));
}

/** Returns the methods that run this library's code, whose paths are not known here. */
function guardedApi(inside: Internals): SyncTrustedApi {
  const show =
    (...args: Args) =>
    (error: unknown): unknown =>
      inside.context.guard?.shown(error, args) ?? error;
  return {
    run: (operation, args, options) => shownPromise(inside.run(operation, args, options), show(options)),
    iterate: (start, options) => shownItems(inside.iterate(start, options), show(options)),
    collect: (start, options) => shownPromise(inside.collect(start, options), show(options)),
    runBeside: (which, path, operation, options) =>
      shownPromise(inside.runBeside(which, path, operation, options), show(which, path, options)),
    runBesideSync: (which, path, operation) =>
      shownResult(() => inside.runBesideSync(which, path, operation), show(which, path)),
    compare: (a, b, start, options) => shownPromise(inside.compare(a, b, start, options), show(a, b, options)),
    runSync: (operation, args) => shownResult(() => inside.runSync(operation, args), show()),
    iterateSync: (start) => shownItemsSync(inside.iterateSync(start), show()),
    compareSync: (a, b, start) => shownResult(() => inside.compareSync(a, b, start), show(a, b)),
  };
}
