import type { NodeRecord } from '@scratchfs/core';
import type { Base } from '../delta/delta-node.js';

const RACY_MS = 2_000;

/**
 * Reports whether a file was modified so shortly before it was read that it may have been modified again without a
 * change of its times. It must then be compared by content, as git does with its index.
 */
export function isRacy({ at }: Pick<Base, 'at'>, { kind, meta }: Pick<NodeRecord, 'kind' | 'meta'>): boolean {
  return kind === 'file' && meta.mtime >= at - RACY_MS;
}
