import type { RepositoryCall } from './repository.js';

/** Whose change is taken where both sides changed the same. */
export type Favor = 'ours' | 'theirs' | 'union';

export interface MergeOptions extends RepositoryCall {
  /** Settles conflicts of content: for all paths, or each on its own (undefined leaves the conflict). Default: none. */
  readonly favor?: Favor | ((path: string) => Favor | undefined) | undefined;
  /**
   * Only what theirs did at or beneath these paths is taken; where that needs a directory in the place of a file that stays, it is a
   * conflict (`type`). Default: everything.
   */
  readonly paths?: readonly string[] | undefined;
  /** Follow files that one side renamed and the other changed. Default true. */
  readonly renames?: boolean | undefined;
  /**
   * Files that one side puts into a directory that the other renamed: `conflict` puts them into the renamed one and says so, true
   * does it silently, false leaves them. Default `conflict`, as in git.
   */
  readonly directoryRenames?: boolean | 'conflict' | undefined;
  /** What stands behind the conflict markers. Default `ours` and `theirs`. */
  readonly labels?: { readonly ours: string; readonly theirs: string } | undefined;
}
