import { SLICE_MS } from '@scratchfs/core/internal';

/** When the calls of this round of the event loop began; undefined before the first one. */
let since: number | undefined;
/** Who goes on in later rounds, one in each. */
const waiting: (() => void)[] = [];

/** Whether the event loop has been held for long: who makes many calls that do not wait asks between them. */
export function isTurnDue(): boolean {
  if (since === undefined) begin();
  return performance.now() - (since as number) > SLICE_MS;
}

/** Lets all others of this process have their turn. */
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
