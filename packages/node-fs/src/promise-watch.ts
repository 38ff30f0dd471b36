import { type Given, toOptions } from './arguments/options.js';
import { checkBoolean, checkObject, checkSignal } from './arguments/values.js';
import { abortError, nodeError } from './errors/node-error.js';
import type { Facade } from './node-function.js';
import { type NodeWatchEvent, toWatchCall, watchEvents } from './watch-events.js';

/**
 * `promises.watch`: yields changes from the first step of the iteration until the signal aborts or the iteration ends.
 */
export async function* promiseWatch(
  facade: Facade,
  filename: unknown,
  options: unknown = {},
): AsyncGenerator<NodeWatchEvent, void, undefined> {
  const given = toOptions(checkObject(options, 'options'), facade.platform);
  const { persistent = true } = given as Given;
  const call = toWatchCall(filename, given);
  checkBoolean(persistent, 'options.persistent');
  const signal = checkSignal(given['signal']);
  if (signal?.aborted) throw abortError(signal);
  const ending = new AbortController();
  const end = (): void => ending.abort();
  signal?.addEventListener('abort', end, { once: true });
  try {
    const path = await realPath(facade, call.path);
    yield* watchEvents(facade, { ...call, path }, ending.signal);
    if (signal?.aborted) throw abortError(signal);
  } finally {
    signal?.removeEventListener('abort', end);
    end();
  }
}

async function realPath({ driver }: Facade, path: string): Promise<string> {
  try {
    return await driver.fs.realpath(path);
  } catch (error) {
    throw watchError(error, path);
  }
}

/** Returns the error of a failed `watch`, which names the path twice. */
export function watchError(error: unknown, path: string): unknown {
  const reason = nodeError(error, { syscall: 'watch', path });
  return reason instanceof Error ? Object.assign(reason, { filename: path }) : reason;
}
