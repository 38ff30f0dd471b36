import { isDeepStrictEqual } from 'node:util';
import type { Random } from '@scratchfs/testkit';
import type { Call, Case, Form, Outcome } from './case.js';
import { perform, treeOf } from './forms.js';
import { KNOWN_DIFFERENCES } from './known-differences.js';
import type { Value } from './values.js';
import type { World } from './world.js';

/**
 * Yields every value at every place with usual values elsewhere, every shorter list of arguments, and combinations of
 * unusual values.
 */
export function* casesOf(call: Call, form: Form, random: Random, mixed: number): Generator<Case> {
  const isLater = form !== 'sync' && form !== 'handle';
  const isCalledBack = form === 'callback' || form === 'promisified';
  for (const one of allCasesOf(call, random, mixed)) {
    if (isLater && one.given.some(({ label }) => call.uncatchable?.test(label))) continue;
    // A function is the callback there, whatever its position.
    if (isCalledBack && one.given.some(({ label }) => label === 'a function')) continue;
    yield one;
  }
}

function* allCasesOf(call: Call, random: Random, mixed: number): Generator<Case> {
  const { places } = call;
  const ordinary = ordinaryOf(call);
  for (let length = 0; length < places.length; length++) yield { call, given: ordinary.slice(0, length) };
  for (const [i, pool] of places.entries()) {
    for (const value of i === 0 ? pool : pool.slice(1)) yield { call, given: ordinary.with(i, value) };
  }
  if (places.length < 2) return;
  for (let i = 0; i < mixed; i++) yield { call, given: places.map((pool) => random.pick(pool)) };
}

function ordinaryOf({ places }: Call): Value[] {
  return places.map((pool) => pool[0] as Value);
}

/** A call and its outcome on both sides. */
export interface Difference {
  readonly label: string;
  readonly theirs: Outcome;
  readonly ours: Outcome;
}

/** Runs the same calls in one form on node:fs and on ours. */
export class Comparison {
  /** The known differences that occurred. */
  readonly met = new Set<string>();
  readonly #form: Form;
  readonly #theirs: Ground;
  readonly #ours: Ground;
  /** The outcomes of node:fs with one unusual argument. */
  readonly #alone = new Map<string, Outcome>();

  constructor(form: Form, theirs: () => Promise<World>, ours: () => Promise<World>) {
    this.#form = form;
    this.#theirs = new Ground(theirs);
    this.#ours = new Ground(ours);
  }

  /** Returns undefined if both outcomes are equal, or ours is an accepted alternative. */
  async differs(one: Case): Promise<Difference | undefined> {
    const theirs = await this.#theirs.perform(this.#form, one);
    const ours = await this.#ours.perform(this.#form, one);
    if (isDeepStrictEqual(theirs, ours)) return undefined;
    const known = KNOWN_DIFFERENCES.find((difference) => difference.matches(one, this.#form, { theirs, ours }));
    if (known !== undefined) this.met.add(known.sentence);
    if (known !== undefined || (await this.#isExcused(one, theirs, ours))) return undefined;
    return { label: labelOf(this.#form, one), theirs, ours };
  }

  async close(): Promise<void> {
    await this.#theirs.close();
    await this.#ours.close();
  }

  async #isExcused(one: Case, theirs: Outcome, ours: Outcome): Promise<boolean> {
    if (theirs.code === undefined || ours.code === undefined || !isDeepStrictEqual(theirs.tree, ours.tree))
      return false;
    // For a missing argument, the error may name it or the one in its place.
    if (one.given.length < one.call.places.length) return theirs.code === ours.code;
    // Node's internal TypeErrors have no code; ours may have one.
    if (theirs.code === 'TypeError' && ours.code === 'ERR_INVALID_ARG_TYPE') return true;
    // If several arguments are invalid, the error may be about any of them.
    const ordinary = ordinaryOf(one.call);
    const odd = one.given.flatMap((value, i) => (value === ordinary[i] ? [] : [{ value, i }]));
    if (odd.length < 2) return false;
    for (const { value, i } of odd) {
      const single = { call: one.call, given: ordinary.with(i, value) };
      if (isDeepStrictEqual((await this.#whenAlone(single)).result, ours.result)) return true;
    }
    return false;
  }

  async #whenAlone(single: Case): Promise<Outcome> {
    const label = labelOf(this.#form, single);
    const known = this.#alone.get(label) ?? (await this.#theirs.perform(this.#form, single));
    this.#alone.set(label, known);
    return known;
  }
}

export function labelOf(form: Form, { call, given }: Case): string {
  return `${form} ${call.name}(${given.map(({ label }) => label).join(', ')})`;
}

/** A world that is created again after each call that changed it. */
class Ground {
  readonly #make: () => Promise<World>;
  #world: World | undefined;
  #pristine: unknown;

  constructor(make: () => Promise<World>) {
    this.#make = make;
  }

  async perform(form: Form, one: Case): Promise<Outcome> {
    if (this.#world === undefined) {
      this.#world = await this.#make();
      this.#pristine ??= await treeOf(this.#world);
    }
    const outcome = await perform(this.#world, form, one);
    if (one.call.touches === true || !isDeepStrictEqual(outcome.tree, this.#pristine)) await this.close();
    return outcome;
  }

  async close(): Promise<void> {
    await this.#world?.close();
    this.#world = undefined;
  }
}
