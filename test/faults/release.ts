/** What a figure came to. */
export interface Outcome {
  readonly figure: string;
  readonly problems: readonly string[];
}

export type Figures = Readonly<Record<string, () => Promise<Outcome>>>;

/** Problems after which a figure is not gone on with, and which are told. */
export const ENOUGH_PROBLEMS = 20;

/** Which figures of a release are asked for: one by its name, or all; a share of it, 1 unless told; its first seed, 1 unless told. */
export class Release {
  readonly #only: string;
  readonly #share: number;
  readonly firstSeed: number;

  /** @throws RangeError for a share or a seed that is none */
  constructor([only = 'all', share = '1', firstSeed = '1']: readonly string[]) {
    this.#only = only;
    this.#share = Number(share);
    this.firstSeed = Number(firstSeed);
    if (!(this.#share > 0)) throw new RangeError(`The share must be a number above 0, not ${share}`);
    if (!Number.isSafeInteger(this.firstSeed))
      throw new RangeError(`The first seed must be a whole number, not ${firstSeed}`);
  }

  /** The share of a count, one at least. */
  count(whole: number): number {
    return Math.max(1, Math.round(whole * this.#share));
  }

  /** Every how many of all are the share. */
  get stride(): number {
    return Math.max(1, Math.round(1 / this.#share));
  }

  /** Seeds from the first on, as long as there is more to do and not too much has gone wrong. */
  *seedsWhile(isLeft: () => boolean, problems: readonly string[]): Generator<number> {
    for (let seed = this.firstSeed; isLeft() && problems.length < ENOUGH_PROBLEMS; seed++) yield seed;
  }

  /** Runs what is asked for and tells what it came to; answers whether nothing was wrong. @throws RangeError for a name that no figure has */
  async run(figures: Figures): Promise<boolean> {
    const asked = Object.entries(figures).filter(([name]) => this.#only === 'all' || this.#only === name);
    if (asked.length === 0)
      throw new RangeError(`No figure is called ${this.#only}: there is ${Object.keys(figures).join(', ')}`);
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
