import { isWithin } from '@scratchfs/core';
import type { DenyList } from './deny-list.js';
import { rootOf } from './namespace.js';
import type { SandboxRoot } from './sandbox-root.js';

/** Access by paths of the filesystem without links. The rules on suffixes and sizes are in {@link SandboxRoot}. */
export interface Policy {
  /** Directories that may be read with everything under them, in the given order; one may lie within another. */
  readonly readableRoots: readonly string[];
  readonly writableRoots: readonly string[];
  canRead(path: string): boolean;
  canWrite(path: string): boolean;
  /** Reports whether a root, or an entry of an allow list, lies strictly under a path. */
  isOnTheWay(path: string): boolean;
  /**
   * Reports whether a directory may be listed, even if only the names that lead to something readable or writable are
   * shown.
   */
  canList(path: string): boolean;
  /**
   * Reports whether a path is a root, or an entry of an allow list that is a link or leads through one. Such a name is
   * visible, even if its directory cannot be listed.
   */
  isEntry(path: string): boolean;
  /** Reports whether the decision for a path holds for everything under it. */
  isUniform(path: string): boolean;
  /** Reports whether a list of patterns hides a path. Every access to the path is then refused. */
  denies(path: string): boolean;
}

/** Reports whether a path may be seen to exist. */
export function canLook(policy: Policy, path: string): boolean {
  return policy.canRead(path) || policy.canWrite(path) || policy.isEntry(path) || policy.isOnTheWay(path);
}

/** Policy of a configuration. */
export class RootPolicy implements Policy {
  readonly readableRoots: readonly string[];
  readonly writableRoots: readonly string[];

  constructor(readonly roots: readonly SandboxRoot[]) {
    this.readableRoots = roots.map(({ path }) => path);
    this.writableRoots = roots.filter(({ isWritable }) => isWritable).map(({ path }) => path);
  }

  canRead(path: string): boolean {
    return rootOf(this.roots, path) !== undefined;
  }

  canWrite(path: string): boolean {
    return rootOf(this.roots, path)?.isWritable === true;
  }

  isOnTheWay(path: string): boolean {
    return leadsTo(path, this.readableRoots);
  }

  canList(path: string): boolean {
    return this.canRead(path) || this.isOnTheWay(path);
  }

  isEntry(path: string): boolean {
    return this.readableRoots.includes(path);
  }

  isUniform(path: string): boolean {
    return !leadsTo(path, this.readableRoots);
  }

  denies(): boolean {
    return false;
  }
}

/** Policy of a child: what its lists allow, as long as its parent allows it too. */
export class ChildPolicy implements Policy {
  readonly readableRoots: readonly string[];
  readonly writableRoots: readonly string[];
  readonly #roots: readonly string[];

  /** @param links paths of entries that are links or lead through one: the child may follow them, and nothing more */
  constructor(
    readonly parent: Policy,
    readonly reads: readonly string[] | undefined,
    readonly writes: readonly string[] | undefined,
    links: readonly string[],
  ) {
    this.readableRoots = common(reads, parent.readableRoots);
    this.writableRoots = common(writes, parent.writableRoots);
    this.#roots = [...this.readableRoots, ...this.writableRoots, ...links];
  }

  canRead(path: string): boolean {
    return allows(this.reads, path) && this.parent.canRead(path);
  }

  canWrite(path: string): boolean {
    return allows(this.writes, path) && this.parent.canWrite(path);
  }

  isOnTheWay(path: string): boolean {
    return leadsTo(path, this.#roots) && canLook(this.parent, path);
  }

  /** On the way to its own roots, the child may list a directory only if its parent may. */
  canList(path: string): boolean {
    return this.canRead(path) || (this.isOnTheWay(path) && this.parent.canList(path));
  }

  isEntry(path: string): boolean {
    return this.#roots.includes(path) && canLook(this.parent, path);
  }

  isUniform(path: string): boolean {
    return !leadsTo(path, [...(this.reads ?? []), ...(this.writes ?? [])]) && this.parent.isUniform(path);
  }

  denies(path: string): boolean {
    return this.parent.denies(path);
  }
}

/** Another policy, without access to the paths that a list hides. */
export class DenyPolicy implements Policy {
  readonly readableRoots: readonly string[];
  readonly writableRoots: readonly string[];
  readonly #inner: Policy;
  readonly #list: DenyList;

  constructor(inner: Policy, list: DenyList) {
    this.#inner = inner;
    this.#list = list;
    this.readableRoots = Object.freeze(inner.readableRoots.filter((path) => !list.has(path)));
    this.writableRoots = Object.freeze(inner.writableRoots.filter((path) => !list.has(path)));
  }

  canRead(path: string): boolean {
    return this.#inner.canRead(path) && !this.#list.has(path);
  }

  canWrite(path: string): boolean {
    return this.#inner.canWrite(path) && !this.#list.has(path);
  }

  isOnTheWay(path: string): boolean {
    return this.#inner.isOnTheWay(path) && !this.#list.has(path);
  }

  canList(path: string): boolean {
    return this.#inner.canList(path) && !this.#list.has(path);
  }

  isEntry(path: string): boolean {
    return this.#inner.isEntry(path) && !this.#list.has(path);
  }

  /** A name under a path may be hidden although the path is not. */
  isUniform(path: string): boolean {
    return this.denies(path);
  }

  denies(path: string): boolean {
    return this.#list.has(path) || this.#inner.denies(path);
  }
}

function allows(prefixes: readonly string[] | undefined, path: string): boolean {
  return prefixes === undefined || prefixes.some((prefix) => isWithin(path, prefix));
}

function leadsTo(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => root !== path && isWithin(root, path));
}

/** Returns the intersections of prefixes and roots. One that lies within another is kept only if it is a root. */
function common(prefixes: readonly string[] | undefined, roots: readonly string[]): readonly string[] {
  if (prefixes === undefined) return roots;
  const both = prefixes.flatMap((prefix) =>
    roots.flatMap((root) => (isWithin(prefix, root) ? [prefix] : isWithin(root, prefix) ? [root] : [])),
  );
  return Object.freeze([...new Set(both)].filter((path) => roots.includes(path) || !isInner(path, both)));
}

function isInner(path: string, others: readonly string[]): boolean {
  return others.some((other) => other !== path && isWithin(path, other));
}
