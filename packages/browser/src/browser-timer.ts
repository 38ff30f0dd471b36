import { systemTimer } from '@scratchfs/core/internal';

/**
 * The browser's timers, but a sleep of 0 is a turn of the event loop: browsers make a `setTimeout` in another one wait
 * for 4 ms, which is longer than a commit.
 */
export const browserTimer: typeof systemTimer = {
  ...systemTimer,
  sleep: (ms, signal) => (ms === 0 && !signal.aborted ? new Promise(nextTurn) : systemTimer.sleep(ms, signal)),
};

function nextTurn(work: () => void): void {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    work();
  };
  port2.postMessage('');
}
