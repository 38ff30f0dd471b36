import type { BackendCall } from '@scratchfs/core';

/** Whether a call has been told to stop. */
export function isAborted(call: BackendCall | undefined): boolean {
  return call?.isAborted ?? call?.signal?.aborted === true;
}

/** @throws the signal's reason */
export function throwIfAborted(call: BackendCall | undefined): void {
  if (isAborted(call)) call?.signal?.throwIfAborted();
}
