import type { Step } from '@scratchfs/testkit';

/**
 * Returns the shortest sequence found that still `fails`, by removing ever smaller parts (delta debugging). The last
 * step shows the failure and always stays.
 */
export function shrink(steps: readonly Step[], fails: (steps: readonly Step[]) => boolean, budgetMs = 30_000): Step[] {
  const end = performance.now() + budgetMs;
  let kept = steps.slice();
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    let removed = true;
    while (removed) {
      removed = false;
      for (let from = Math.max(0, kept.length - 1 - size); ; from = Math.max(0, from - size)) {
        if (performance.now() > end) return kept;
        const without = [...kept.slice(0, from), ...kept.slice(Math.min(from + size, kept.length - 1))];
        if (without.length < kept.length && fails(without)) {
          kept = without;
          removed = true;
        }
        if (from === 0) break;
      }
      if (size > 1) break;
    }
  }
  return kept;
}
