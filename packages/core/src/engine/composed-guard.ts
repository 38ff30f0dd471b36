import type { EntryKind } from '../entry.js';
import type { FileSystemStats } from '../limits.js';
import type { Entries } from '../tree/entries.js';
import type { Node, TreeNode } from '../tree/node.js';
import type { Location, Tree } from '../tree/tree.js';
import type { Access, Guard, StateCall } from './guard.js';

/** An operation's intent at the end of a path. */
export interface Aim {
  readonly access: Access;
  readonly syscall: string;
  /** The path as the caller wrote it. */
  readonly given: string;
  /** Kind of entry created if the path is missing. Undefined if none is created, or if it depends on a copy's source. */
  readonly makes?: EntryKind | undefined;
}

/** The part of a view that guards use to look at a tree. */
export interface GuardedView {
  readonly tree: Tree;
  list(location: Location): Entries<TreeNode>;
  all<T, R>(items: readonly T[], load: (item: T, index: number) => R): R[];
  relyOnNode(node: Node): void;
}

/**
 * The guards of a filesystem as the engine calls them, with nodes. The code that composes guards is in the layers, so
 * that bundles without layers lack it.
 */
export interface ComposedGuard {
  /** The guards that it is composed of, lower ones first. */
  readonly guards: readonly Guard[];
  /** Returns a composed guard of these guards and one more above them. */
  and(guard: Guard): ComposedGuard;
  /** Checks access to the end of a path. */
  check(
    path: string,
    access: Access,
    syscall: string,
    given: string,
    node?: Node | undefined,
    makes?: EntryKind | undefined,
  ): void;
  allows(path: string, access: Access, syscall: string, node?: Node): boolean;
  isVisible(path: string, node?: Node): boolean;
  /** Like `isVisible`, given only the kind: for entries that may no longer exist. */
  isKindVisible(path: string, kind: EntryKind | undefined): boolean;
  /** Checks a name on the path before it is looked up. `rest`: the remaining names, last first. */
  pass(path: string, rest: readonly string[], aim: Aim): void;
  /** Checks a path at the name at which resolving stops early, before the error is reported. */
  stuck(path: string, rest: readonly string[], aim: Aim): void;
  /** Checks everything under a directory. `at` is the path to which the directory is about to move or be copied. */
  checkTree(view: GuardedView, top: Location, access: Access, syscall: string, given: string, at?: string): void;
  checkState(call: StateCall): void;
  /** True if something may be invisible. */
  readonly hides: boolean;
  /**
   * Returns an error that names nothing invisible, except what the caller's arguments `args` name. Errors of guards and
   * of the caller's own code are returned unchanged, and so is the reason of a signal in the last argument.
   */
  shown(error: unknown, args: readonly unknown[]): unknown;
  /** Returns the usage of the visible entries. */
  stats(view: GuardedView): FileSystemStats;
  /**
   * Makes the state equal to `wanted`, a view of another state without guards. Every difference, except of times alone,
   * must be allowed, otherwise nothing changes. Entries that are neither visible nor writable stay as they are.
   * `isWhole`: `wanted` is the state of a snapshot, and all of it is restored; entries that are not readable stay only
   * if they are not in it.
   */
  restore(view: GuardedView, wanted: GuardedView, syscall: string, isWhole: boolean): void;
}
