import { SLICE_MS } from '@scratchfs/core/internal';

/**
 * Start of the current slice, as `performance.now()` gives it. Undefined before the first call in a round of the event
 * loop.
 */
let since: number | undefined;
/** Callers that wait for a later round; one resumes in each. */
const waiting: (() => void)[] = [];

/**
 * Reports whether the event loop has been blocked for too long. Loops of many synchronous calls check it in between.
 */
export function isTurnDue(): boolean {
  if (since === undefined) begin();
  return performance.now() - (since as number) > SLICE_MS;
}

/** Yields to the event loop. Resolves in a later round; one waiting caller resumes in each. */
export function nextTurn(): Promise<void> {
  if (since === undefined) begin();
  return new Promise((resolve) => {
    waiting.push(resolve);
  });
}

function begin(): void {
  since = performance.now();
  setImmediate(nextRound);
}

function nextRound(): void {
  const next = waiting.shift();
  since = undefined;
  if (next === undefined) return;
  begin();
  next();
}
