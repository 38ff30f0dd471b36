import { ask } from './commit/idempotent-command.js';
import type { Session } from './connection/client-session.js';
import { scripts } from './lua/scripts.js';

/** References that one step follows: what keeps it short. */
const STEP = 250;
/** Between looks for states that were lent and not given back. */
const SWEEP_MS = 300_000;

/**
 * Frees what nothing refers to any more, in small steps, one after the other, and gives back what a client that ended
 * badly had lent. Every client does so; what one leaves undone the next one goes on with.
 */
export class Sweeper {
  #isFreeing = false;
  #isStopped = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly session: Session,
    private readonly field: string,
  ) {}

  start(): void {
    if (this.#isStopped || this.#timer !== undefined) return;
    this.#timer = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#timer.unref();
    this.#sweep();
  }

  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
  }

  /** So many objects wait. */
  notice(waiting: number): void {
    if (waiting > 0 && !this.#isFreeing && !this.#isStopped) void this.#free();
  }

  #sweep(): void {
    ask(this.session, this.field, 'sweep').then(
      (answer) => this.notice(Number(String(answer[3]))),
      () => {},
    );
  }

  async #free(): Promise<void> {
    this.#isFreeing = true;
    try {
      for (let waiting = 1; waiting > 0 && !this.#isStopped; ) {
        const answer = await this.session.run(scripts.free, this.field, [STEP]);
        waiting = Number(String(answer[2]));
      }
    } catch {
      // The next commit notices that something waits.
    } finally {
      this.#isFreeing = false;
    }
  }
}
