import type { Cursor } from '../engine/cursor.js';
import { keepKind } from '../engine/keep-kind.js';
import type { View } from '../engine/view.js';
import { type Step, TreeWalk } from '../engine/walk.js';
import { joinPath, normalizePath, pathSegments } from '../paths.js';
import { DIRECTORY, type Node } from '../tree/node.js';
import { GlobAutomaton, type GlobState } from './glob-automaton.js';
import { literalBase } from './glob-pattern.js';
import { parsePattern } from './glob-tokens.js';

/** Compiled patterns with the start of the walk. */
export interface GlobPlan {
  readonly automaton: GlobAutomaton;
  /** Directory of relative patterns. */
  readonly cwd: string;
  /** The deepest directory that contains every match. */
  readonly base: string;
}

/** A match, or null to let other tasks run after a while without one. */
export type GlobStep = { readonly path: string; readonly node: Node } | null;

/** Names examined between two pauses. */
const SLICE_NAMES = 256;

/** Set at the first search, see {@link keepKind}. At module level it would be kept in bundles that do not search. */
let isKept = false;

/** @throws TypeError, RangeError, FsError EINVAL, ENAMETOOLONG */
export function planGlob(patterns: string | readonly string[], cwd: string, dot: boolean): GlobPlan {
  if (!isKept) {
    isKept = true;
    keepKind(new GlobAutomaton([], false));
    keepKind(new GlobWalk(undefined as never, undefined as never));
  }
  const list = typeof patterns === 'string' ? [patterns] : patterns;
  if (!Array.isArray(list)) throw new TypeError('A pattern must be a string, or a list of them');
  const directory = normalizePath(cwd, 'glob');
  const parsed = list.map((pattern) => parsePattern(pattern, pathSegments(directory)));
  return {
    automaton: new GlobAutomaton(parsed, dot),
    cwd: directory,
    base: `/${commonDirectories(parsed.map(literalBase))}`,
  };
}

function commonDirectories(bases: readonly string[]): string {
  const [first = '', ...others] = bases;
  const names = first === '' ? [] : first.split('/');
  for (const base of others) {
    const same = base.split('/');
    const end = names.findIndex((name, i) => name !== same[i]);
    if (end >= 0) names.length = end;
  }
  return names.join('/');
}

/**
 * Walks the matches of a plan, parents first, siblings in UTF-8 order. Links on the way to the base are followed,
 * others are matched but not entered. The start itself is never a match.
 */
export class GlobWalk implements Cursor<GlobStep> {
  /** State of the automaton within the directory of each depth. */
  readonly #states: (GlobState | undefined)[] = [];
  #walk: TreeWalk | undefined;
  #hasBegun = false;
  #realBase = '';

  constructor(
    readonly view: View,
    readonly plan: GlobPlan,
  ) {}

  next(): GlobStep | undefined {
    if (!this.#hasBegun) {
      const match = this.#begin();
      this.#hasBegun = true;
      if (match !== null) return match;
    }
    if (this.#walk === undefined) return undefined;
    for (let looked = 0; looked < SLICE_NAMES; looked++) {
      const step = this.#walk.next();
      if (step === undefined) {
        this.#walk = undefined;
        return undefined;
      }
      if (this.#matches(step)) return { path: this.#shown(step.path), node: step.node };
    }
    return null;
  }

  /** Goes to the base, which may be a match itself. */
  #begin(): GlobStep {
    const { view, plan } = this;
    const { automaton, base } = plan;
    const state = automaton.read(automaton.start, base.slice(1));
    const node = state && view.peek(base, true, 'read', 'glob');
    if (state === undefined || node?.kind !== DIRECTORY) return null;
    const location = view.at.location(node);
    const inside = base === '/' ? state : automaton.below(state);
    this.#realBase = location.path;
    this.#states[0] = inside;
    if (inside !== undefined) this.#walk = new TreeWalk(view, location, (step) => this.#enters(step));
    return base !== '/' && base !== plan.cwd && automaton.accepts(state, true) ? { path: base, node } : null;
  }

  #enters(step: Step): boolean {
    const { automaton } = this.plan;
    const above = this.#states[step.depth - 1];
    const state = above && automaton.read(above, step.name);
    const below = state && automaton.below(state);
    this.#states[step.depth] = below;
    return below !== undefined;
  }

  #matches(step: Step): boolean {
    const { automaton, cwd } = this.plan;
    const above = this.#states[step.depth - 1];
    const state = above && automaton.read(above, step.name);
    if (state === undefined || !automaton.accepts(state, step.node.kind === DIRECTORY)) return false;
    return this.#shown(step.path) !== cwd;
  }

  /** Returns the path as the pattern spells it, if the base was reached through a link. */
  #shown(path: string): string {
    const { base } = this.plan;
    if (this.#realBase === base) return path;
    return joinPath(base, path.slice(this.#realBase === '/' ? 1 : this.#realBase.length + 1));
  }
}
