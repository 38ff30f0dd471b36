import { type ClientSession, replyText } from './connection/client-session.js';
import { runStateCommand } from './connection/state-commands.js';
import { scripts } from './lua/scripts.js';

/** Approximate number of references that one request follows, which bounds its time on the server. */
const REFERENCES_PER_STEP = 250;
/** Interval of the search for expired leases. */
const SWEEP_INTERVAL_MS = 300_000;

/**
 * Frees objects without references in small steps, and deletes states whose lease has expired, such as those of a
 * client that ended without closing. Clients share one queue, so each continues where another stopped.
 */
export class Sweeper {
  #isFreeing = false;
  #isStopped = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly session: ClientSession,
    private readonly field: string,
  ) {}

  start(): void {
    if (this.#isStopped || this.#timer !== undefined) return;
    this.#timer = setInterval(() => this.#sweep(), SWEEP_INTERVAL_MS);
    this.#timer.unref();
    this.#sweep();
  }

  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
  }

  /** Starts freeing if objects wait in the queue. */
  notice(queuedObjects: number): void {
    if (queuedObjects > 0 && !this.#isFreeing && !this.#isStopped) void this.#free();
  }

  #sweep(): void {
    runStateCommand(this.session, this.field, 'sweep', [this.session.client]).then(
      (reply) => this.notice(Number(replyText(reply[3]))),
      () => {},
    );
  }

  async #free(): Promise<void> {
    this.#isFreeing = true;
    try {
      for (let queuedObjects = 1; queuedObjects > 0 && !this.#isStopped; ) {
        const reply = await this.session.run(scripts.free, this.field, [REFERENCES_PER_STEP]);
        queuedObjects = Number(replyText(reply[2]));
      }
    } catch {
      // The reply to the next commit tells that objects are still queued.
    } finally {
      this.#isFreeing = false;
    }
  }
}
