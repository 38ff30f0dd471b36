import type { CompactionProgress, Head } from './head.js';
import { parseObjectName } from './object-name.js';
import type { Ref } from './ref.js';
import type { StoredPage } from './stored-page.js';

/** Number of commits between small compactions, which rewrite the objects written since the last compaction. */
const SMALL_COMPACTION_COMMITS = 64;
/** Number of commits between large compactions, which also rewrite the objects that small ones wrote. */
const LARGE_COMPACTION_COMMITS = 1_024;

/** Returns a commit number: objects of later commits are to be compacted. Undefined if no compaction is due. */
export function compactionStart(head: Head): number | undefined {
  const { small, large } = head.gathered;
  if (head.commit + 1 - large >= LARGE_COMPACTION_COMMITS) return large;
  return head.commit + 1 - small >= SMALL_COMPACTION_COMMITS ? small : undefined;
}

/** Returns the progress after the commit that follows a head, if it compacts the objects written after `since`. */
export function progressAfter({ gathered, commit }: Head, since: number | undefined): CompactionProgress {
  if (since === undefined) return gathered;
  return { small: commit + 1, large: since === gathered.large ? commit + 1 : gathered.large };
}

/** Reports whether a compaction of objects written after `since` rewrites these bytes. */
export function isScattered({ object }: Ref, since: number): boolean {
  return parseObjectName(object).commit > since;
}

/**
 * Like `isScattered`, for a page as it appears in one directory. As part of a copied directory it is not compacted,
 * because each copy would have to be read and written separately.
 */
export function isScatteredPage({ ref, copying }: StoredPage, since: number): boolean {
  return copying === undefined && isScattered(ref, since);
}
