import { toPath } from './arguments/paths.js';
import { checkFunction, isFd } from './arguments/values.js';
import { constants } from './constants.js';
import { coded } from './errors/argument-errors.js';
import type { FileHandle } from './file-handle.js';
import { type Any, callbackForm, promiseAtOnceForm, promiseForm, syncForm } from './forms.js';
import type { Facade } from './operation.js';
import { exists } from './operations/exists.js';
import { promiseWatch } from './promise-watch.js';
import { CALLBACKS, open, openAsBlob, PROMISES, realpathNative, SYNCHRONOUS, type Table } from './table.js';

export type Functions = Record<string, unknown>;
export type FileHandleClass = new (facade: Facade, fd: number) => FileHandle;

/** How `util.promisify` finds what a function is as a promise. */
const PROMISIFIED = Symbol.for('nodejs.util.promisify.custom');

/** How a temporary directory ends. */
const REMOVED_WHOLE = { recursive: true, force: true };

function named(name: string, value: Any): Any {
  return Object.defineProperty(value, 'name', { value: name, configurable: true });
}

function each(table: Table, suffix: string, make: (operation: Table[string]) => Any): Functions {
  return Object.fromEntries(
    Object.entries(table).map(([name, operation]) => [name + suffix, named(name + suffix, make(operation))]),
  );
}

/** The functions that answer at once. */
export function syncFunctions(facade: Facade): Functions {
  const functions = each(SYNCHRONOUS, 'Sync', (operation) => syncForm(facade, operation));
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

/** The functions that call back. */
export function callbackFunctions(facade: Facade): Functions {
  const functions = each(CALLBACKS, '', (operation) => {
    const form = callbackForm(facade, operation);
    return operation.moves === undefined ? form : promisified(form, withPrototype(promiseForm(facade, operation)));
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

/** What moves bytes answers a plain object where it is promisified, and one without a prototype in a FileHandle. */
function withPrototype(promise: Any): Any {
  return async (...given) => ({ ...((await promise(...given)) as object) });
}

/** What `close` does with an error that nobody wants to hear of. */
function throwIt(error: unknown): void {
  if (error !== null) throw error;
}

/** It answers true or false, and no error, to its callback and to whoever promisifies it. */
function existsFunction(facade: Facade): Any {
  const promise = promiseForm(facade, exists);
  const form: Any = (path, callback) => {
    const tell = checkFunction(callback, 'cb') as Any;
    if (exists.prepare(facade, path) === undefined) return tell(false);
    return void (promise(path) as Promise<boolean>).then((found) => facade.platform.defer(() => tell(found)));
  };
  return promisified(named('exists', form), named('exists', promise));
}

/** `fs.promises`. */
export function promiseFunctions(facade: Facade, Handle: FileHandleClass): Functions {
  const functions = each(PROMISES, '', (operation) => promiseForm(facade, operation));
  const openFd = promiseForm(facade, open);
  functions['open'] = named('open', async (...given) => new Handle(facade, (await openFd(...given)) as number));
  for (const name of ['readFile', 'writeFile', 'appendFile'] as const) {
    const ofPath = functions[name] as Any;
    functions[name] = named(name, async (file, ...rest) => {
      if (file instanceof Handle) return (file as unknown as Record<string, Any>)[name]?.(...rest);
      // A number is no path here, and descriptors have no place in promises.
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

/** `promises.glob` answers what can be iterated, and fails only then. */
async function* eachOf<T>(items: () => Promise<readonly T[]>): AsyncGenerator<T, void, undefined> {
  yield* await items();
}
