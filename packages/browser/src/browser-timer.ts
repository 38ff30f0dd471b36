import type { ObjectTreeOptions } from '@scratchfs/core/object-tree';

type Timer = NonNullable<ObjectTreeOptions['timer']>;

/**
 * The browser's timers, but a sleep of 0 is a turn of the event loop: browsers make a `setTimeout` in another one wait
 * for 4 ms, which is longer than a commit.
 */
export const browserTimer: Timer = {
  after: (ms, work) => {
    const timeout = setTimeout(work, ms);
    return () => clearTimeout(timeout);
  },
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      if (ms === 0) return nextTurn(resolve);
      const done = (): void => {
        clearTimeout(timeout);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timeout = setTimeout(done, ms);
      signal.addEventListener('abort', done, { once: true });
    }),
};

function nextTurn(work: () => void): void {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    work();
  };
  port2.postMessage('');
}
