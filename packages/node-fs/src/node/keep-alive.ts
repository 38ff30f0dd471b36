const MAX_DELAY_MS = 2 ** 31 - 1;

/** Keeps the process running, as a kernel watcher does. */
export class KeepAlive {
  #timer: NodeJS.Timeout | undefined;
  #isWanted = true;

  begin(): void {
    this.#timer ??= setInterval(() => {}, MAX_DELAY_MS);
    if (!this.#isWanted) this.#timer.unref();
  }

  ref(): void {
    this.#isWanted = true;
    this.#timer?.ref();
  }

  unref(): void {
    this.#isWanted = false;
    this.#timer?.unref();
  }

  end(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
