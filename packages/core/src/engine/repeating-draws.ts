import type { Context } from './context.js';

/**
 * Returns a context for an operation that may run several times: random draws repeat, so that a generated name is still
 * the one that was checked. Call `rewind` before each run.
 */
export function repeatingDraws(context: Context): { readonly context: Context; rewind(): void } {
  const drawn: number[] = [];
  let at = 0;
  const random = (below: number): number => {
    if (at === drawn.length) drawn.push(context.random(below));
    return drawn[at++] as number;
  };
  return {
    context: { ...context, random },
    rewind: () => {
      at = 0;
    },
  };
}
