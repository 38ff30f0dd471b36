import type { CharacterClass, Token } from './glob-tokens.js';

const ACCEPT = 0;
const CHARACTER = 1;
const ANY = 2;
const CLASS = 3;
const SLASH = 4;
const STAR = 5;
const SPLIT = 6;
/** A globstar at the start of a segment. */
const LOOP = 7;
/** A globstar inside a segment that it matches as a whole. */
const BODY = 8;

const DOT = 0x2e;
const SEPARATOR = 0x2f;
const END = -1;
const ASCII = 128;
/** Size of the cached states, in words, above which the cache is cleared. */
const MAX_CACHED_WORDS = 1 << 19;

/** State after a part of a path: the active positions in the patterns, with cached successor states. */
export interface GlobState {
  readonly positions: Int32Array;
  /** True before the first character of a segment. */
  readonly first: boolean;
  /** True if the path may end here. Undefined until it is computed. */
  ends: boolean | undefined;
  /** Successor states by code point, ASCII only. */
  readonly following: (GlobState | undefined)[];
}

/**
 * Patterns as one nondeterministic automaton whose positions advance together: matching takes the length of the
 * patterns times the length of the path at worst. Sets of positions are cached with their successors, so that a path
 * usually takes one lookup per character.
 *
 * A globstar is a plain star, or a loop over whole segments if it begins a segment and a slash or the end follows. This
 * is decided at run time, because in `{a/,b}**` it depends on the branch taken.
 */
export class GlobAutomaton {
  readonly #dot: boolean;
  readonly #kinds: number[] = [ACCEPT];
  readonly #codePoints: number[] = [0];
  readonly #next: number[] = [ACCEPT];
  readonly #classes = new Map<number, CharacterClass>();
  readonly #targets = new Map<number, readonly number[]>();
  /** For each loop (`**`): the positions after the slash that follows it. */
  readonly #afterSlash = new Map<number, readonly number[]>();
  /** Loops and bodies after which the pattern may end. */
  readonly #mayEnd = new Set<number>();

  readonly #starts: Int32Array;
  #known = new Map<number, GlobState[]>();
  #memory = 0;
  #start: GlobState | undefined;

  /** Number of the round in which each position was last visited. */
  readonly #visited: Int32Array;
  readonly #expanded: Int32Array;
  #expandedLength = 0;
  readonly #reached: Int32Array;
  readonly #list: Int32Array;
  #listLength = 0;
  #round = 0;

  constructor(patterns: readonly (readonly Token[])[], dot: boolean) {
    this.#dot = dot;
    this.#starts = Int32Array.from(patterns, (tokens) => this.#sequence(tokens, ACCEPT));
    const size = this.#kinds.length;
    this.#visited = new Int32Array(size);
    this.#expanded = new Int32Array(size);
    this.#reached = new Int32Array(size);
    this.#list = new Int32Array(size);
  }

  /** The state before the first name of a path. */
  get start(): GlobState {
    return (this.#start ??= this.#remember(this.#starts, true));
  }

  /**
   * Returns the state after a path, or after a part of one that continues from `state`; undefined if nothing can match
   * any more.
   */
  read(state: GlobState, text: string): GlobState | undefined {
    let at = state;
    for (let i = 0; i < text.length; i++) {
      let codePoint = text.charCodeAt(i);
      if (codePoint >= ASCII) {
        codePoint = text.codePointAt(i) as number;
        if (codePoint > 0xffff) i++;
      }
      at = at.following[codePoint] ?? this.#move(at, codePoint);
      if (at.positions.length === 0) return undefined;
    }
    return at;
  }

  /** Returns the state after one more slash, or undefined if nothing under that directory can match. */
  below(state: GlobState): GlobState | undefined {
    const after = state.following[SEPARATOR] ?? this.#move(state, SEPARATOR);
    return after.positions.some((position) => position !== ACCEPT) ? after : undefined;
  }

  /**
   * Reports whether the path that led to `state` matches. A directory also matches a pattern that ends with a slash.
   */
  accepts(state: GlobState, isDirectory: boolean): boolean {
    return this.#ends(state) || (isDirectory && this.#ends(state.following[SEPARATOR] ?? this.#move(state, SEPARATOR)));
  }

  #add(kind: number, next: number, codePoint = 0): number {
    this.#codePoints.push(codePoint);
    this.#next.push(next);
    return this.#kinds.push(kind) - 1;
  }

  #sequence(tokens: readonly Token[], next: number): number {
    let position = next;
    for (let i = tokens.length - 1; i >= 0; i--) position = this.#token(tokens[i] as Token, position);
    return position;
  }

  #token(token: Token, next: number): number {
    switch (token.kind) {
      case 'character':
        return this.#add(CHARACTER, next, token.codePoint);
      case 'any':
        return this.#add(ANY, next);
      case 'slash':
        return this.#add(SLASH, next);
      case 'star':
        return this.#add(STAR, next);
      case 'class': {
        const position = this.#add(CLASS, next);
        this.#classes.set(position, token.set);
        return position;
      }
      case 'alternatives':
        return this.#split(token.branches.map((branch) => this.#sequence(branch, next)));
      case 'repeat':
        return this.#repeat(token, next);
      case 'globstar':
        return this.#globstar(next);
    }
  }

  /** Adds a repetition. Each branch leads back to one split, so the size is that of the branches. */
  #repeat({ branches, min }: Extract<Token, { kind: 'repeat' }>, next: number): number {
    const loop = this.#split([next]);
    const starts = branches.map((branch) => this.#sequence(branch, loop));
    this.#targets.set(loop, [...starts, next]);
    return min === 0 ? loop : this.#split(starts);
  }

  #globstar(next: number): number {
    const star = this.#add(STAR, next);
    const seen = new Set([next]);
    const afterSlash: number[] = [];
    for (const position of seen) {
      if (this.#kinds[position] === SLASH) afterSlash.push(this.#next[position] as number);
      for (const target of this.#targets.get(position) ?? []) seen.add(target);
    }
    if (afterSlash.length === 0 && !seen.has(ACCEPT)) return star;
    const loop = this.#add(LOOP, next);
    const body = this.#add(BODY, loop);
    this.#next[loop] = body;
    this.#afterSlash.set(loop, afterSlash);
    if (seen.has(ACCEPT)) this.#mayEnd.add(loop).add(body);
    return this.#split([star, loop]);
  }

  #split(targets: readonly number[]): number {
    const position = this.#add(SPLIT, ACCEPT);
    this.#targets.set(position, targets);
    return position;
  }

  /** Advances every position by one code point. */
  #move(state: GlobState, codePoint: number): GlobState {
    this.#expand(state, codePoint);
    const isSlash = codePoint === SEPARATOR;
    const wild = !isSlash && !(state.first && codePoint === DOT && !this.#dot);
    const kinds = this.#kinds;
    this.#listLength = 0;
    for (let i = 0; i < this.#expandedLength; i++) {
      const position = this.#expanded[i] as number;
      const kind = kinds[position];
      if (kind === STAR) {
        if (wild) this.#reach(position);
      } else if (kind === CHARACTER) {
        if (this.#codePoints[position] === codePoint) this.#reach(this.#next[position] as number);
      } else if (kind === BODY) this.#reach(isSlash ? (this.#next[position] as number) : position);
      else if (
        (kind === SLASH && isSlash) ||
        (wild && kind === ANY) ||
        (wild && kind === LOOP && state.first) ||
        (wild && kind === CLASS && has(this.#classes.get(position) as CharacterClass, codePoint))
      ) {
        this.#reach(this.#next[position] as number);
      }
    }
    const after = this.#remember(this.#list.slice(0, this.#listLength), isSlash);
    if (codePoint < ASCII) state.following[codePoint] = after;
    return after;
  }

  #reach(position: number): void {
    if (this.#reached[position] === this.#round) return;
    this.#reached[position] = this.#round;
    this.#list[this.#listLength++] = position;
  }

  /**
   * Collects each position reachable without reading. No star begins an empty segment, or without `dot` a hidden one.
   */
  #expand(state: GlobState, codePoint: number): void {
    this.#round++;
    const open = !state.first || (codePoint !== END && (codePoint !== DOT || this.#dot));
    this.#expandedLength = 0;
    for (const position of state.positions) this.#visit(position);
    // The list grows during the loop.
    for (let i = 0; i < this.#expandedLength; i++) {
      const position = this.#expanded[i] as number;
      const kind = this.#kinds[position];
      if (kind === STAR) {
        if (open) this.#visit(this.#next[position] as number);
      } else if (kind === SPLIT)
        for (const target of this.#targets.get(position) as readonly number[]) this.#visit(target);
      else if (kind === LOOP && state.first) {
        for (const target of this.#afterSlash.get(position) as readonly number[]) this.#visit(target);
      }
    }
  }

  #visit(position: number): void {
    if (this.#visited[position] === this.#round) return;
    this.#visited[position] = this.#round;
    this.#expanded[this.#expandedLength++] = position;
  }

  #ends(state: GlobState): boolean {
    if (state.ends === undefined) {
      this.#expand(state, END);
      const expanded = this.#expanded.subarray(0, this.#expandedLength);
      state.ends = expanded.some(
        (position) =>
          position === ACCEPT || (this.#mayEnd.has(position) && (state.first || this.#kinds[position] === BODY)),
      );
    }
    return state.ends;
  }

  /** Returns the cached state of these positions, or caches a new one. */
  #remember(positions: Int32Array, first: boolean): GlobState {
    let hash = first ? 1 : 0;
    for (const position of positions) hash = (Math.imul(hash, 31) + position) | 0;
    const same = this.#known.get(hash)?.find((state) => state.first === first && areEqual(state.positions, positions));
    if (same) return same;
    this.#memory += ASCII + positions.length;
    if (this.#memory > MAX_CACHED_WORDS) {
      this.#known = new Map();
      this.#memory = 0;
      this.#start = undefined;
    }
    const state: GlobState = { positions, first, ends: undefined, following: new Array(ASCII).fill(undefined) };
    const bucket = this.#known.get(hash);
    if (bucket) bucket.push(state);
    else this.#known.set(hash, [state]);
    return state;
  }
}

function areEqual(a: Int32Array, b: Int32Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

function has(set: CharacterClass, codePoint: number): boolean {
  for (let i = 0; i < set.ranges.length; i += 2) {
    if (codePoint >= (set.ranges[i] as number) && codePoint <= (set.ranges[i + 1] as number)) return !set.negated;
  }
  return set.negated;
}
