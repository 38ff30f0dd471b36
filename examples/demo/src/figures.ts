/** Formats a count with its noun: `1 file`, `1,204 files`. */
export function count(amount: number, singular: string, plural = `${singular}s`): string {
  return `${amount.toLocaleString('en-US')} ${amount === 1 ? singular : plural}`;
}

/** Formats bytes: `312 B`, `4.2 KB`, `1.85 MB` (powers of 1,000). */
export function bytes(amount: number): string {
  if (amount < 1000) return `${amount} B`;
  if (amount < 1_000_000) return `${(amount / 1000).toFixed(1)} KB`;
  return `${(amount / 1_000_000).toFixed(2)} MB`;
}

/** Formats milliseconds: `0.02 ms`, `3.1 ms`, `412 ms`, `1.84 s`. */
export function duration(ms: number): string {
  if (ms < 0.1) return `${ms.toFixed(3)} ms`;
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return `${(ms / 1000).toFixed(2)} s`;
}
