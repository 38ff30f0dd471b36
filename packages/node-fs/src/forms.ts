import { checkFunction } from './arguments/values.js';
import { nodeError } from './errors/node-error.js';
import type { Facade, Operation } from './operation.js';

export type Any = (...given: unknown[]) => unknown;

function failure<P>(operation: Operation<P>, error: unknown, prepared: P): unknown {
  return nodeError(error, operation.blame?.(error, prepared));
}

/** The form that answers at once. The filesystem beneath must be synchronous. */
export function syncForm<P>(facade: Facade, operation: Operation<P>): Any {
  return (a, b, c, d, e) => {
    const prepared = operation.prepare(facade, a, b, c, d, e);
    try {
      return operation.run(facade, prepared);
    } catch (error) {
      throw failure(operation, error, prepared);
    }
  };
}

export function promiseForm<P>(facade: Facade, operation: Operation<P>): Any {
  return async (a, b, c, d, e) => {
    const prepared = operation.prepare(facade, a, b, c, d, e);
    try {
      return await operation.run(facade, prepared);
    } catch (error) {
      throw failure(operation, error, prepared);
    }
  };
}

/** How a callback hears of success. */
export type Report<P> = (callback: Any, result: unknown, prepared: P) => unknown;

const report: Report<unknown> = (callback, result) => (result === undefined ? callback(null) : callback(null, result));

/** The form that calls back, later. Bad arguments are thrown at once. */
export function callbackForm<P>(facade: Facade, operation: Operation<P>, succeed: Report<P> = report): Any {
  return (...given) => {
    const callback = takeCallback(given, operation.arity);
    const prepared = operation.prepare(facade, ...given);
    let running: unknown;
    try {
      running = operation.run(facade, prepared);
    } catch (error) {
      const reason = failure(operation, error, prepared);
      facade.platform.defer(() => callback(reason));
      return;
    }
    if (!(running instanceof Promise)) {
      facade.platform.defer(() => succeed(callback, running, prepared));
      return;
    }
    running.then(
      (result) => facade.platform.defer(() => succeed(callback, result, prepared)),
      (error) => {
        const reason = failure(operation, error, prepared);
        facade.platform.defer(() => callback(reason));
      },
    );
  };
}

/** Takes the callback out of the arguments: the first function after the first of them. */
export function takeCallback(given: unknown[], arity: number): Any {
  let at = 1;
  while (at < arity && typeof given[at] !== 'function') at += 1;
  const callback = checkFunction(given[at], 'cb') as Any;
  given.length = at;
  return callback;
}
