import { pathSegments } from '@scratchfs/core';
import { isDotGit } from '@scratchfs/history/internal';
import { type DenyRule, denyRules, SECRET_FILES } from '@scratchfs/sandbox/internal';

/** Patterns of secrets: those of the sandbox, and everything that begins with `.env`, except examples. */
const SECRETS = [...SECRET_FILES, '.env*', '!.env.{example,sample,template,dist,defaults}'];

export interface HiddenPathOptions {
  /** Patterns of paths to hide in addition to secrets. */
  readonly deny?: readonly string[] | undefined;
  /** Patterns of secrets that are not hidden. */
  readonly allowSecrets?: readonly string[] | undefined;
}

/** Maximum number of names whose rules are kept. */
const MAX_CACHED_NAMES = 20_000;

/**
 * The paths that an attempt neither shows nor writes: secrets, `.git`, and what `deny` names, each with everything
 * under it. The options are given by the person who opens the workspace; no file of an attempt changes them. Case is
 * ignored, because some disks ignore it.
 */
export class HiddenPaths {
  readonly #secrets: RuleList;
  readonly #denied: RuleList;

  /** @throws TypeError, RangeError for invalid patterns, and for exceptions (`!…`) in `allowSecrets` */
  constructor({ deny = [], allowSecrets = [] }: HiddenPathOptions = {}) {
    const allowed = denyRules(allowSecrets, 'allowSecrets');
    if (allowed.some(({ isException }) => isException))
      throw new RangeError(
        "allowSecrets must not have patterns that begin with '!': name what is to be hidden in deny",
      );
    const secrets = [...denyRules(SECRETS, 'secrets'), ...allowed.map((rule) => ({ ...rule, isException: true }))];
    this.#secrets = new RuleList(secrets);
    // An exception in `deny` reveals no secret: it applies only to `deny`.
    this.#denied = new RuleList(denyRules(deny, 'deny'));
  }

  /**
   * Reports whether the last name of a path is hidden, in a directory that is shown.
   * @param names all names of the path
   */
  hidesLast(names: readonly string[]): boolean {
    return isDotGit(names.at(-1) as string) || this.#secrets.matches(names) || this.#denied.matches(names);
  }

  /** Returns the number of names of a path up to the first hidden one; undefined if none is hidden. */
  hiddenDepth(names: readonly string[]): number | undefined {
    for (let depth = 1; depth <= names.length; depth++)
      if (this.hidesLast(names.length === depth ? names : names.slice(0, depth))) return depth;
    return undefined;
  }

  /** Reports whether an absolute path, or a directory above it, is hidden. */
  hides(path: string): boolean {
    return this.hiddenDepth(pathSegments(path)) !== undefined;
  }
}

/** A list of patterns. The last one that matches decides. */
class RuleList {
  /** In reverse order: the last rule first. */
  readonly #rules: readonly DenyRule[];
  /** By name: the rules that may match a path that ends with it. */
  readonly #byName = new Map<string, readonly DenyRule[]>();

  constructor(rules: readonly DenyRule[]) {
    this.#rules = [...rules].reverse();
  }

  matches(names: readonly string[]): boolean {
    if (this.#rules.length === 0) return false;
    const rules = this.#rulesFor(names.at(-1) as string);
    if (rules.length === 0) return false;
    let path: string | undefined;
    for (const { glob, isName, isException } of rules) {
      if (isName) return !isException;
      path ??= names.join('/').toLowerCase();
      if (glob.matches(path, true)) return !isException;
    }
    return false;
  }

  #rulesFor(name: string): readonly DenyRule[] {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const folded = name.toLowerCase();
    const rules = this.#rules.filter(({ glob, isName }) => !isName || glob.matches(folded, true));
    const firstName = rules.findIndex(({ isName }) => isName);
    const found = firstName < 0 ? rules : rules.slice(0, firstName + 1);
    if (this.#byName.size >= MAX_CACHED_NAMES) this.#byName.clear();
    this.#byName.set(name, found);
    return found;
  }
}
