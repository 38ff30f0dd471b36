import { checkFunction } from './arguments/values.js';
import { nodeError } from './errors/node-error.js';
import type { Facade, Moves, NodeFunction } from './node-function.js';

export type Any = (...given: unknown[]) => unknown;

function failure<P>(nodeFunction: NodeFunction<P>, error: unknown, prepared: P): unknown {
  return nodeFunction.fail === undefined ? nodeError(error) : nodeFunction.fail(error, prepared);
}

/** Returns the synchronous form. The filesystem must be synchronous. */
export function syncForm<P>(facade: Facade, nodeFunction: NodeFunction<P>): Any {
  return (...given) => {
    const prepared = nodeFunction.prepare(facade, ...given);
    try {
      return nodeFunction.run(facade, prepared);
    } catch (error) {
      throw failure(nodeFunction, error, prepared);
    }
  };
}

/** Returns the promise form; bad arguments reject it too. */
export function promiseForm<P>(facade: Facade, nodeFunction: NodeFunction<P>): Any {
  return async (...given) => {
    const prepared = nodeFunction.prepare(facade, ...given);
    try {
      const result = await nodeFunction.run(facade, prepared);
      return nodeFunction.moves === undefined ? result : movedBytes(nodeFunction.moves, result, prepared);
    } catch (error) {
      throw failure(nodeFunction, error, prepared);
    }
  };
}

/**
 * Returns a form that returns a promise, but throws errors that are known immediately: for bad arguments and, over a
 * synchronous filesystem, for failures.
 */
export function promiseAtOnceForm<P>(facade: Facade, nodeFunction: NodeFunction<P>): Any {
  return (...given) => {
    const prepared = nodeFunction.prepare(facade, ...given);
    const fail = (error: unknown): never => {
      throw failure(nodeFunction, error, prepared);
    };
    let running: unknown;
    try {
      running = nodeFunction.run(facade, prepared);
    } catch (error) {
      fail(error);
    }
    return Promise.resolve(running).catch(fail);
  };
}

function movedBytes<P>({ count, subject, of }: Moves<P>, bytes: unknown, prepared: P): object {
  return { __proto__: null, [count]: bytes, [subject]: of(prepared) };
}

/** Returns the callback form, which calls back later. Bad arguments are thrown immediately. */
export function callbackForm<P>(facade: Facade, nodeFunction: NodeFunction<P>): Any {
  const { moves } = nodeFunction;
  return (...given) => {
    const callback = takeCallback(given, nodeFunction.arity);
    const prepared = nodeFunction.prepare(facade, ...given);
    const tell = (error: unknown, result: unknown): void =>
      facade.platform.defer(() => {
        if (moves !== undefined) callback(error, result ?? 0, moves.of(prepared));
        else if (error !== null || result === undefined) callback(error);
        else callback(null, result);
      });
    const succeed = (result: unknown): void => tell(null, result);
    const fail = (error: unknown): void => tell(failure(nodeFunction, error, prepared), undefined);
    let running: unknown;
    try {
      running = nodeFunction.run(facade, prepared);
    } catch (error) {
      fail(error);
      return;
    }
    if (running instanceof Promise) running.then(succeed, fail);
    else succeed(running);
  };
}

/** Removes and returns the callback: the first function after the first argument, or the argument at `arity`. */
export function takeCallback(given: unknown[], arity: number): Any {
  let at = 1;
  while (at < arity && typeof given[at] !== 'function') at += 1;
  const callback = checkFunction(given[at], 'cb') as Any;
  given.length = at;
  return callback;
}
