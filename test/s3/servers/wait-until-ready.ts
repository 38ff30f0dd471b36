import { setTimeout as sleep } from 'node:timers/promises';

/** Time limit for the start of a server. */
export const STARTED_WITHIN_MS = 90_000;

/** Waits until a server responds. @throws the signal's reason; an error after {@link STARTED_WITHIN_MS} */
export async function waitUntilReady(endpoint: string, signal: AbortSignal): Promise<void> {
  for (const end = Date.now() + STARTED_WITHIN_MS; ; await sleep(200)) {
    signal.throwIfAborted();
    try {
      await fetch(endpoint);
      return;
    } catch (error) {
      if (Date.now() > end) throw new Error(`${endpoint} does not respond`, { cause: error });
    }
  }
}
