import type { Cursor } from '../engine/cursor.js';
import { keepOptimized } from '../engine/keep-optimized.js';
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
  /** Patterns of what to leave out; undefined if there are none. */
  readonly excluded: GlobAutomaton | undefined;
  /** Directory of relative patterns. */
  readonly cwd: string;
  /** A directory that every match is or lies in: the common part of the patterns' literal starts. */
  readonly base: string;
}

/** A match, or null to let other tasks run after a while without one. */
export type GlobStep = { readonly path: string; readonly node: Node } | null;

/** Names examined between two pauses. */
const SLICE_NAMES = 256;

/**
 * Set at the first search, which calls {@link keepOptimized}. At module level, those calls would keep this code in
 * bundles that do not search.
 */
let isKept = false;

export type Patterns = string | readonly string[];

/**
 * @param exclude Patterns of what to leave out. Their wildcards match a leading dot.
 * @throws TypeError, RangeError, FsError EINVAL, ENOENT, ENAMETOOLONG
 */
export function planGlob(patterns: Patterns, cwd: string, dot: boolean, exclude: Patterns = []): GlobPlan {
  if (!isKept) {
    isKept = true;
    keepOptimized(new GlobAutomaton([], false));
    keepOptimized(new GlobWalk(undefined as never, undefined as never));
  }
  const directory = normalizePath(cwd, 'glob');
  const parse = (given: Patterns, name: string) => {
    const list = typeof given === 'string' ? [given] : given;
    if (!Array.isArray(list)) throw new TypeError(`${name} must be a string, or a list of them`);
    return list.map((pattern) => parsePattern(pattern, pathSegments(directory)));
  };
  const parsed = parse(patterns, 'A pattern');
  const unwanted = parse(exclude, 'exclude');
  return {
    automaton: new GlobAutomaton(parsed, dot),
    excluded: unwanted.length > 0 ? new GlobAutomaton(unwanted, true) : undefined,
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

/** States of the patterns in a directory that the walk has entered. */
interface Entered {
  /** State of the patterns within it. */
  readonly state: GlobState;
  /** State of the excluded patterns within it; undefined if they match nothing in it. */
  readonly excluded: GlobState | undefined;
}

/**
 * Walks the matches of a plan, parents first, siblings in UTF-8 order. What is excluded is neither returned nor
 * entered. Links on the way to the base are followed, others are matched but not entered. `cwd` itself is never a
 * match.
 */
export class GlobWalk implements Cursor<GlobStep> {
  /** States in the entered directory of each depth. Undefined if nothing in it can match. */
  readonly #entered: (Entered | undefined)[] = [];
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
    const excluded = this.#excludedAtBase();
    if (excluded === null) return null;
    const node = state && view.peek(base, true, 'read', 'glob');
    if (state === undefined || node?.kind !== DIRECTORY) return null;
    const location = view.at.location(node);
    const inside = base === '/' ? state : automaton.below(state);
    this.#realBase = location.path;
    this.#entered[0] = inside && { state: inside, excluded };
    if (inside !== undefined) this.#walk = new TreeWalk(view, location, (step) => this.#enters(step));
    return base !== '/' && base !== plan.cwd && automaton.accepts(state, true) ? { path: base, node } : null;
  }

  /** Returns the state of the excluded patterns within the base, or null if they exclude it or a directory above it. */
  #excludedAtBase(): GlobState | undefined | null {
    const { excluded, base } = this.plan;
    let inside = excluded?.start;
    for (const name of pathSegments(base)) {
      const at = inside && excluded?.read(inside, name);
      if (at !== undefined && excluded?.accepts(at, true)) return null;
      inside = at && excluded?.below(at);
    }
    return inside;
  }

  #enters(step: Step): boolean {
    const { automaton, excluded } = this.plan;
    const above = this.#entered[step.depth - 1];
    const state = above && automaton.read(above.state, step.name);
    const below = state && automaton.below(state);
    this.#entered[step.depth] = undefined;
    if (below === undefined) return false;
    const unwanted = above?.excluded && excluded?.read(above.excluded, step.name);
    if (unwanted !== undefined && excluded?.accepts(unwanted, true)) return false;
    this.#entered[step.depth] = { state: below, excluded: unwanted && excluded?.below(unwanted) };
    return true;
  }

  #matches(step: Step): boolean {
    const { automaton, excluded, cwd } = this.plan;
    const above = this.#entered[step.depth - 1];
    const isDirectory = step.node.kind === DIRECTORY;
    const state = above && automaton.read(above.state, step.name);
    if (state === undefined || !automaton.accepts(state, isDirectory)) return false;
    const unwanted = above?.excluded && excluded?.read(above.excluded, step.name);
    if (unwanted !== undefined && excluded?.accepts(unwanted, isDirectory)) return false;
    return this.#shown(step.path) !== cwd;
  }

  /** Returns the path as the pattern spells it, if the base was reached through a link. */
  #shown(path: string): string {
    const { base } = this.plan;
    if (this.#realBase === base) return path;
    return joinPath(base, path.slice(this.#realBase === '/' ? 1 : this.#realBase.length + 1));
  }
}
