import { isWithin, parentPath } from '@scratchfs/core';
import { type Rule, ruleOf } from './deny-patterns.js';
import { namesIn, type SandboxRoot } from './sandbox-root.js';

/** Maximum number of paths under one root whose result is kept. */
const MAX_CACHED_PATHS = 2_000;

/**
 * Paths that patterns hide, with everything under them. A pattern without a slash is compared with every name of the
 * path, one with a slash with the path from the top of the sandbox on. The last pattern that matches decides, so that
 * `!` makes exceptions; under a hidden directory there are none.
 */
export class DenyList {
  readonly #rules: readonly Rule[];
  readonly #roots: readonly { readonly root: SandboxRoot; readonly known: Map<string, boolean> }[];

  constructor(given: readonly string[], roots: readonly SandboxRoot[]) {
    this.#rules = given.map(ruleOf).reverse();
    this.#roots = roots.map((root) => ({ root, known: new Map<string, boolean>() }));
  }

  /** Reports whether a path of the filesystem is hidden, by any of the names it has in nested roots. */
  has(path: string): boolean {
    return this.#roots.some(({ root, known }) => isWithin(path, root.path) && this.#isHidden(path, root, known));
  }

  #isHidden(path: string, root: SandboxRoot, known: Map<string, boolean>): boolean {
    const before = known.get(path);
    if (before !== undefined) return before;
    const isHidden =
      (path !== root.path && this.#isHidden(parentPath(path), root, known)) || this.#matches(namesOf(root, path));
    if (known.size >= MAX_CACHED_PATHS) known.clear();
    known.set(path, isHidden);
    return isHidden;
  }

  #matches(names: readonly string[]): boolean {
    const name = names.at(-1);
    if (name === undefined) return false;
    const path = names.join('/');
    const rule = this.#rules.find(({ glob, isName }) => glob.matches(isName ? name : path, true));
    return rule?.isException === false;
  }
}

/** Returns the lower-case names of a path from the top of the sandbox on. */
function namesOf(root: SandboxRoot, path: string): string[] {
  const names = root.name === undefined ? namesIn(root, path) : [root.name, ...namesIn(root, path)];
  return names.map((each) => each.toLowerCase());
}
