/**
 * Returns the name that a mistyped one was probably meant to be: the nearest one that differs in at most a third of the
 * letters, or in one.
 */
export function nearest(text: string, names: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Math.max(1, Math.floor(text.length / 3)) + 1;
  for (const name of names) {
    const distance = editDistance(text, name, least);
    if (distance < least) {
      least = distance;
      best = name;
    }
  }
  return best;
}

/** Returns the Levenshtein distance of two short texts, or `limit` if their lengths differ by that much or more. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? limit;
}
