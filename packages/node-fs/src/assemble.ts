import { toPath } from './arguments/paths.js';
import { checkFunction, isFd } from './arguments/values.js';
import { constants } from './constants.js';
import { coded } from './errors/argument-errors.js';
import type { FileHandle } from './file-handle.js';
import { type Any, callbackForm, promiseAtOnceForm, promiseForm, syncForm } from './forms.js';
import { exists } from './functions/exists.js';
import type { Facade } from './node-function.js';
import { promiseWatch } from './promise-watch.js';
import { CALLBACKS, open, openAsBlob, PROMISES, realpathNative, SYNCHRONOUS, type Table } from './table.js';

export type Functions = Record<string, unknown>;
export type FileHandleClass = new (facade: Facade, fd: number) => FileHandle;

/** Symbol under which `util.promisify` finds a function's promise form. */
const PROMISIFIED = Symbol.for('nodejs.util.promisify.custom');

/** `rm` options for deleting a temporary directory. */
const REMOVED_WHOLE = { recursive: true, force: true };

function named(name: string, value: Any): Any {
  return Object.defineProperty(value, 'name', { value: name, configurable: true });
}

function each(table: Table, suffix: string, make: (nodeFunction: Table[string]) => Any): Functions {
  return Object.fromEntries(
    Object.entries(table).map(([name, nodeFunction]) => [name + suffix, named(name + suffix, make(nodeFunction))]),
  );
}

export function syncFunctions(facade: Facade): Functions {
  const functions = each(SYNCHRONOUS, 'Sync', (nodeFunction) => syncForm(facade, nodeFunction));
  functions['existsSync'] = named('existsSync', syncForm(facade, exists));
  const [make, remove] = [functions['mkdtempSync'] as Any, functions['rmSync'] as Any];
  functions['mkdtempDisposableSync'] = named('mkdtempDisposableSync', (prefix, options) => {
    const path = make(prefix, options);
    const end = (): unknown => remove(path, REMOVED_WHOLE);
    return { path, remove: end, [Symbol.dispose]: end };
  });
  Object.assign(functions['realpathSync'] as Any, { native: named('native', syncForm(facade, realpathNative)) });
  return functions;
}

export function callbackFunctions(facade: Facade): Functions {
  const functions = each(CALLBACKS, '', (nodeFunction) => {
    const form = callbackForm(facade, nodeFunction);
    return nodeFunction.moves === undefined
      ? form
      : promisified(form, withPrototype(promiseForm(facade, nodeFunction)));
  });
  Object.assign(functions['realpath'] as Any, { native: named('native', callbackForm(facade, realpathNative)) });
  const close = functions['close'] as Any;
  functions['close'] = named('close', (fd, callback = throwIt) => close(fd, callback));
  functions['exists'] = existsFunction(facade);
  functions['openAsBlob'] = named('openAsBlob', promiseAtOnceForm(facade, openAsBlob));
  return functions;
}

function promisified(form: Any, promise: Any): Any {
  return Object.defineProperty(form, PROMISIFIED, { value: promise });
}

/** Copies the result to a plain object; the promise form's own result has no prototype. */
function withPrototype(promise: Any): Any {
  return async (...given) => ({ ...((await promise(...given)) as object) });
}

/** Throws the error of a `close` without a callback. */
function throwIt(error: unknown): void {
  if (error !== null) throw error;
}

/** Creates `exists`. Its callback takes true or false, and no error: false if the storage fails, as in Node. */
function existsFunction(facade: Facade): Any {
  const found = promiseForm(facade, exists);
  const promise: Any = (path) => (found(path) as Promise<boolean>).catch(() => false);
  const form: Any = (path, callback) => {
    const tell = checkFunction(callback, 'cb') as Any;
    if (exists.prepare(facade, path) === undefined) return tell(false);
    return void (promise(path) as Promise<boolean>).then((found) => facade.platform.defer(() => tell(found)));
  };
  return promisified(named('exists', form), named('exists', promise));
}

/** Creates `fs.promises`. */
export function promiseFunctions(facade: Facade, Handle: FileHandleClass): Functions {
  const functions = each(PROMISES, '', (nodeFunction) => promiseForm(facade, nodeFunction));
  const openFd = promiseForm(facade, open);
  functions['open'] = named('open', async (...given) => new Handle(facade, (await openFd(...given)) as number));
  for (const name of ['readFile', 'writeFile', 'appendFile'] as const) {
    const ofPath = functions[name] as Any;
    functions[name] = named(name, async (file, ...rest) => {
      if (file instanceof Handle) return (file as unknown as Record<string, Any>)[name]?.(...rest);
      // `toPath` refuses a number: the promise functions take no descriptors.
      if (isFd(file)) toPath(file);
      return ofPath(file, ...rest);
    });
  }
  functions['lchmod'] = named('lchmod', async () => {
    throw coded(new Error('The lchmod() method is not implemented'), 'ERR_METHOD_NOT_IMPLEMENTED');
  });
  const [make, remove] = [functions['mkdtemp'] as Any, functions['rm'] as Any];
  functions['mkdtempDisposable'] = named('mkdtempDisposable', async (prefix, options) => {
    const path = await make(prefix, options);
    const end = async (): Promise<void> => void (await remove(path, REMOVED_WHOLE));
    return { __proto__: null, path, remove: end, [Symbol.asyncDispose]: end };
  });
  const globAll = functions['glob'] as Any;
  functions['glob'] = named('glob', (...given) => eachOf(() => globAll(...given) as Promise<unknown[]>));
  functions['watch'] = named('watch', (filename, options) => promiseWatch(facade, filename, options));
  functions['constants'] = constants;
  return functions;
}

/** `promises.glob` returns an iterable and fails only during the iteration. */
async function* eachOf<T>(items: () => Promise<readonly T[]>): AsyncGenerator<T, void, undefined> {
  yield* await items();
}
