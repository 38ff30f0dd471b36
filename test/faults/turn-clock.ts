const TURN_MS = 10;

/**
 * Starts a clock that only advances while the event loop runs: by 10 ms at a turn of the loop. Milliseconds in which this
 * process gets no CPU do not count. Returns a function that stops it and returns its milliseconds.
 */
export function startTurnClock(): () => number {
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, TURN_MS);
  return () => {
    clearInterval(timer);
    return turns * TURN_MS;
  };
}
