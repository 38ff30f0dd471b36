interface AsyncHooks {
  readonly AsyncResource: new (type: string) => { runInAsyncScope<T>(work: () => T): T };
}
interface Host {
  readonly process?: { getBuiltinModule?(name: string): unknown };
}

// Undefined if the runtime lacks this module, as a browser does.
const hooks = (globalThis as Host).process?.getBuiltinModule?.('node:async_hooks') as AsyncHooks | undefined;

/** Runs work in the async context in which the function was created. */
export type Outside = <T>(work: () => T) => T;

/**
 * Captures the current async context. just-bash marks the context of a running script and refuses timers, clocks,
 * `process` and the like to everything called from it; a storage needs them and is not the script.
 */
export function outside(): Outside {
  if (hooks === undefined) return (work) => work();
  const resource = new hooks.AsyncResource('scratchfs.bash');
  return (work) => resource.runInAsyncScope(work);
}
