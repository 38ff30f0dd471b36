/** The middle one, the larger where there are two. */
export function median(figures: readonly number[]): number {
  const sorted = [...figures].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}
