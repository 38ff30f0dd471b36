import { setImmediate } from 'node:timers/promises';

/** How long synchronous calls follow each other before others have a turn. */
const SLICE_MS = 8;

let since = performance.now();

/** Whether the event loop has been held for long: who makes many calls that do not wait asks between them. */
export function isTurnDue(): boolean {
  return performance.now() - since > SLICE_MS;
}

/** Lets all others of this process have their turn. */
export async function nextTurn(): Promise<void> {
  await setImmediate();
  since = performance.now();
}
