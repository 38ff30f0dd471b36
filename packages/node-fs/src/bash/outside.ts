interface AsyncHooks {
  readonly AsyncResource: new (type: string) => { runInAsyncScope<T>(work: () => T): T };
}
interface Host {
  readonly process?: { getBuiltinModule?(name: string): unknown };
}

// A browser has no such module, and no defences that follow a call through its promises either.
const hooks = (globalThis as Host).process?.getBuiltinModule?.('node:async_hooks') as AsyncHooks | undefined;

/** Runs work in the async context of another moment. */
export type Outside = <T>(work: () => T) => T;

/**
 * Remembers the async context of now. just-bash marks the context of a running script and refuses timers, clocks,
 * `process` and the like to everything that is called from it; a storage needs them, and is not the script.
 */
export function outside(): Outside {
  if (hooks === undefined) return (work) => work();
  const resource = new hooks.AsyncResource('scratchfs.bash');
  return (work) => resource.runInAsyncScope(work);
}
