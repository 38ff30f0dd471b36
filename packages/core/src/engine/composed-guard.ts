import type { EntryKind } from '../entry.js';
import type { FileSystemStats } from '../limits.js';
import type { Node } from '../tree/node.js';
import type { Location } from '../tree/tree.js';
import type { Access, StateCall } from './guard.js';
import type { View } from './view.js';

/** What an operation wants at the end of a path. */
export interface Aim {
  readonly access: Access;
  readonly syscall: string;
  /** The path as the caller wrote it. */
  readonly given: string;
  /** What is made where nothing is there. */
  readonly makes?: EntryKind | undefined;
}

/**
 * The guards of a filesystem as the engine asks them, who knows nodes. The code behind it comes with the layers: a
 * filesystem without guards does not carry it.
 */
export interface ComposedGuard {
  /** About the end of a path. */
  check(
    path: string,
    access: Access,
    syscall: string,
    given: string,
    node?: Node | undefined,
    makes?: EntryKind | undefined,
  ): void;
  /** The same as an answer. */
  allows(path: string, access: Access, syscall: string, node?: Node): boolean;
  isVisible(path: string, node?: Node): boolean;
  /** The same of what is gone. */
  isKindVisible(path: string, kind: EntryKind | undefined): boolean;
  /** About a name on the way, before it is looked up. `rest`: the names still to come, last first. */
  pass(path: string, rest: readonly string[], aim: Aim): void;
  /** About a path that ends too early, before it is said why. */
  stuck(path: string, rest: readonly string[], aim: Aim): void;
  /** About everything beneath a directory. `at`: where that is going to be, if not where it is. */
  checkTree(view: View, top: Location, access: Access, syscall: string, given: string, at?: string): void;
  checkState(call: StateCall): void;
  /** Whether there may be something that is not visible. */
  readonly hides: boolean;
  /** An error at a limit as it may be shown: what is in use tells of what is not visible. */
  shown(error: unknown): unknown;
  /** Of what is visible. */
  stats(view: View): FileSystemStats;
  /**
   * Makes the state what another one is (`wanted`: a view of it that asks no guard), as far as that may be done: what is not visible stays, and whatever else
   * differs must be allowed, or nothing changes. `isWhole`: what the other state has where nothing is visible counts.
   */
  restore(view: View, wanted: View, syscall: string, isWhole: boolean): void;
}
