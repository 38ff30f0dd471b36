import type { Context } from './context.js';

/**
 * A context for an operation that may run several times: what it drew at random it draws again, so that a name it made
 * up is still the one it has asked about. `rewind` before each run.
 */
export function replayed(context: Context): { readonly context: Context; rewind(): void } {
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
