import { systemTimer } from '@scratchfs/core/internal';

/**
 * Like `systemTimer`, but a sleep of 0 ms lasts for one turn of the event loop only. A nested `setTimeout` lasts for at
 * least 4 ms in a browser.
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
