import type { RepositoryCall } from './repository.js';

/**
 * Resolution of content that both sides changed: the lines of one side, or of both, ours first (`union`). A link or a
 * binary file of one side is taken whole; `union` does not resolve these.
 */
export type Favor = 'ours' | 'theirs' | 'union';

export interface MergeOptions extends RepositoryCall {
  /**
   * Resolves content conflicts, except of submodules, for all paths or by path (undefined keeps the conflict). Default:
   * none.
   */
  readonly favor?: Favor | ((path: string) => Favor | undefined) | undefined;
  /**
   * Takes only the changes of `theirs` to these paths and everything in them. If that needs a directory in place of a
   * file that stays, it is a `type` conflict. Default: all changes.
   */
  readonly paths?: readonly string[] | undefined;
  /** Follows files that one side renamed and the other changed. Default true. */
  readonly renames?: boolean | undefined;
  /**
   * Treatment of files that one side adds to a directory that the other renamed: `conflict` moves them to the
   * renamed directory and reports a conflict, true moves them silently, false leaves them. Default `conflict`, as in
   * git.
   */
  readonly directoryRenames?: boolean | 'conflict' | undefined;
  /** Text after the conflict markers. Default `ours` and `theirs`. */
  readonly labels?: { readonly ours: string; readonly theirs: string } | undefined;
}
