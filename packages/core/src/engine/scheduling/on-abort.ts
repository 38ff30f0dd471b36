/** Callbacks of the signals that something is listening to. */
const callbacksOf = new WeakMap<AbortSignal, Set<() => void>>();

/** The listener of all callbacks of a signal. */
function runCallbacks(this: AbortSignal): void {
  for (const callback of callbacksOf.get(this) ?? []) callback();
}

/**
 * Calls back when a signal aborts, unless the returned function is called first or the signal has aborted before. A
 * signal has one listener however many callbacks it has: Node warns about more than ten, and one signal may stop
 * hundreds of concurrent requests. A callback must not throw, because the ones after it would not be called.
 */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal === undefined || signal.aborted) return () => {};
  const callbacks = callbacksOf.get(signal) ?? new Set();
  callbacksOf.set(signal, callbacks);
  if (callbacks.size === 0) signal.addEventListener('abort', runCallbacks);
  callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
    if (callbacks.size === 0) signal.removeEventListener('abort', runCallbacks);
  };
}
