import type { Batch, CommitResult } from '../backend.js';
import { isLimited, type Limits, sameLimits } from '../limits.js';

/**
 * Returns the refusal of a batch that writes under other limits than the stored ones. Undefined if the batch writes
 * nothing, the limits are equal, or none are stored.
 */
export function otherLimits(
  stored: Limits,
  { writes, limits }: Batch,
): Extract<CommitResult, { kind: 'other-limits' }> | undefined {
  const isOther = writes.length > 0 && isLimited(stored) && !sameLimits(stored, limits);
  return isOther ? { kind: 'other-limits', limits: stored } : undefined;
}
