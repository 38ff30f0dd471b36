import type { Head } from './head.js';
import { parseObjectName } from './object-name.js';
import type { Ref } from './ref.js';
import type { StoredPage } from './stored-page.js';

/** After so many commits what they have scattered is written again together; after so many more of these, all of that. */
const SMALL_STEP = 64;
const LARGE_STEP = 1_024;

/** Up to which commit objects have been brought together, in small steps and in large ones. */
export interface Gathered {
  readonly small: number;
  readonly large: number;
}

/** After which commit objects are scattered to a commit that brings them together; undefined where it does not. */
export function rewriteAfter(head: Head): number | undefined {
  const { small, large } = head.gathered;
  if (head.commit + 1 - large >= LARGE_STEP) return large;
  return head.commit + 1 - small >= SMALL_STEP ? small : undefined;
}

/** What is gathered once a commit has written again what lies after `since`. */
export function gatheredBy({ gathered, commit }: Head, since: number | undefined): Gathered {
  if (since === undefined) return gathered;
  return { small: commit + 1, large: since === gathered.large ? commit + 1 : gathered.large };
}

/** Whether what lies in a place is written again by a commit that brings together what lies after `since`. */
export function isScattered({ object }: Ref, since: number): boolean {
  return parseObjectName(object).commit > since;
}

/** Whether a page is. What is seen through copyings stays where it is: else each copy would be read and written for itself. */
export function isScatteredPage({ ref, copying }: StoredPage, since: number): boolean {
  return copying === undefined && isScattered(ref, since);
}
