import { setTimeout as sleep } from 'node:timers/promises';

/** In milliseconds. */
export const STARTED_WITHIN_MS = 90_000;

/** Until a server answers. @throws the signal's reason; where it does not answer for too long */
export async function answers(endpoint: string, signal: AbortSignal): Promise<void> {
  for (const end = Date.now() + STARTED_WITHIN_MS; ; await sleep(200)) {
    signal.throwIfAborted();
    try {
      await fetch(endpoint);
      return;
    } catch (error) {
      if (Date.now() > end) throw new Error(`${endpoint} does not answer`, { cause: error });
    }
  }
}
