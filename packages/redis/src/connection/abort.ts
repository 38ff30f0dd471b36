import type { BackendCall } from '@scratchfs/core';

export function isAborted(call: BackendCall | undefined): boolean {
  return call?.isAborted ?? call?.signal?.aborted === true;
}

/** @throws the signal's reason if the call has been aborted */
export function throwIfAborted(call: BackendCall | undefined): void {
  if (isAborted(call)) call?.signal?.throwIfAborted();
}
