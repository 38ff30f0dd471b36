/** The result of one campaign. */
export interface Outcome {
  readonly figure: string;
  readonly problems: readonly string[];
}

export type Figures = Readonly<Record<string, () => Promise<Outcome>>>;

/** A campaign stops after this many problems, which is also the maximum that is printed. */
export const ENOUGH_PROBLEMS = 20;

/**
 * The command line of a campaign: its name or `all`, the share of it to run (default 1) and the first seed (default 1).
 */
export class Release {
  readonly #only: string;
  readonly #share: number;
  readonly firstSeed: number;

  /** @throws RangeError if the share or the seed is not valid */
  constructor([only = 'all', share = '1', firstSeed = '1']: readonly string[]) {
    this.#only = only;
    this.#share = Number(share);
    this.firstSeed = Number(firstSeed);
    if (!(this.#share > 0)) throw new RangeError(`The share must be a number above 0, not ${share}`);
    if (!Number.isSafeInteger(this.firstSeed))
      throw new RangeError(`The first seed must be a whole number, not ${firstSeed}`);
  }

  /** Returns the share of a count, at least 1. */
  count(whole: number): number {
    return Math.max(1, Math.round(whole * this.#share));
  }

  /** The distance between the cases of the share: 1 runs all, 10 every tenth. */
  get stride(): number {
    return Math.max(1, Math.round(1 / this.#share));
  }

  /** Yields seeds from the first on, until the work is done or {@link ENOUGH_PROBLEMS} problems were found. */
  *seedsWhile(isLeft: () => boolean, problems: readonly string[]): Generator<number> {
    for (let seed = this.firstSeed; isLeft() && problems.length < ENOUGH_PROBLEMS; seed++) yield seed;
  }

  /**
   * Runs the requested campaigns and prints their results. Returns true if no problem was found.
   * @throws RangeError if no campaign has the name
   */
  async run(figures: Figures): Promise<boolean> {
    const asked = Object.entries(figures).filter(([name]) => this.#only === 'all' || this.#only === name);
    if (asked.length === 0)
      throw new RangeError(`No campaign is called ${this.#only}. Campaigns: ${Object.keys(figures).join(', ')}`);
    let isGood = true;
    for (const [name, run] of asked) {
      const started = performance.now();
      const { figure, problems } = await run();
      const seconds = Math.round((performance.now() - started) / 1_000);
      console.log(`${name}: ${figure}: ${problems.length} problems, ${seconds} s`);
      for (const problem of problems.slice(0, ENOUGH_PROBLEMS)) console.log(`  ${problem}`);
      isGood &&= problems.length === 0;
    }
    return isGood;
  }
}
