import type { Batch, CommitResult } from '../backend.js';
import { isLimited, type Limits, sameLimits } from '../limits.js';

/** Returns the refusal of a batch with writes whose limits differ from the stored ones; undefined for other batches. */
export function otherLimits(
  stored: Limits,
  { writes, limits }: Batch,
): Extract<CommitResult, { kind: 'other-limits' }> | undefined {
  const isOther = writes.length > 0 && isLimited(stored) && !sameLimits(stored, limits);
  return isOther ? { kind: 'other-limits', limits: stored } : undefined;
}
