import { UNKNOWN_VERSION } from '../backend.js';
import type { Steps } from '../engine/scheduling/time-slice.js';
import { type Need, NotLoaded } from '../engine/source.js';
import { loadedFile } from '../engine/view/contents.js';
import type { View } from '../engine/view.js';
import { pathSegments } from '../paths.js';
import { DIRECTORY, type DirectoryNode, FILE, type Node, SYMLINK } from '../tree/node.js';
import type { Location, Tree } from '../tree/tree.js';
import type { SideChange } from './merge.js';
import { isMove, type Plan } from './plan.js';
import { isSameNode, isSameOwner } from './same-state.js';
import type { Versions } from './versions.js';

/** A path at which the storage differs from the state that the plan was made for. */
export interface Deviation {
  readonly path: string;
  /** The planned change of the entry. */
  readonly ours: SideChange;
}

/**
 * Compares everything that a plan relies on with the storage's current state. Everything examined is among the commit's
 * preconditions, so that without deviations the plan runs on exactly this state.
 */
export function deviationSteps(view: View, plan: Plan, base: Tree, versions: Versions): Steps<Deviation[]> {
  return new Verifier(view, base, versions).run(plan);
}

/** Preconditions checked together. */
const BATCH_PRECONDITIONS = 64;

interface Precondition {
  readonly path: string;
  readonly ours: SideChange;
  readonly holds: () => boolean;
}

class Verifier {
  constructor(
    readonly view: View,
    readonly base: Tree,
    readonly versions: Versions,
  ) {}

  *run(plan: Plan): Steps<Deviation[]> {
    const found: Deviation[] = [];
    const needs: Need[] = [];
    const ask = (questions: readonly Precondition[]): void => {
      try {
        const answers = this.view.all(questions, (question) => question.holds());
        questions.forEach(({ path, ours }, i) => void (answers[i] || found.push({ path, ours })));
      } catch (error) {
        // All missing data is requested together.
        if (!(error instanceof NotLoaded)) throw error;
        needs.push(...error.needs);
      }
    };
    let some: Precondition[] = [];
    for (const question of this.#questions(plan)) {
      if (some.push(question) < BATCH_PRECONDITIONS) continue;
      ask(some);
      some = [];
      yield;
    }
    ask(some);
    if (needs.length > 0) throw new NotLoaded(needs, this.view.source);
    return found;
  }

  *#questions(plan: Plan): Generator<Precondition> {
    for (const { path, id } of plan.touched)
      yield { path, ours: 'modified', holds: () => this.#at(path)?.node.id === id };
    for (const path of plan.free) yield { path, ours: 'added', holds: () => this.#at(path) === undefined };
    for (const step of plan.leaving) {
      const { path, node } = step;
      if (isMove(step)) yield { path, ours: 'renamed', holds: () => this.#at(path)?.node.id === node.id };
      else yield { path, ours: 'removed', holds: () => this.#isWhole(path, node) };
    }
    for (const { path, before, after } of plan.altered)
      yield { path, ours: 'modified', holds: () => this.#isAlterable(path, before, after) };
  }

  #isWhole(path: string, known: Node): boolean {
    const found = this.#at(path);
    if (found === undefined || found.node.id !== known.id) return false;
    if (known.kind === DIRECTORY) return found.location !== undefined && this.#isSameTree(found.location, known);
    return this.#hasSameNames(known) && this.#isSameLeaf(found.node, known);
  }

  /** Reports whether a file has as many names as before. If not, a name to be removed may be its last one. */
  #hasSameNames({ id }: Node): boolean {
    return this.view.source?.current?.(id)?.links === (this.base.inodes.get(id)?.links ?? 1);
  }

  #isAlterable(path: string, before: Node, after: Node): boolean {
    const found = this.#at(path);
    if (found === undefined || found.node.id !== before.id) return false;
    const { node } = found;
    if (node.kind !== DIRECTORY) return this.#isSameLeaf(node, before);
    if (!isSameOwner(before.meta, after.meta)) this.view.relyOnMeta(node);
    return isSameOwner(node.meta, before.meta);
  }

  /** Reports whether a file or link equals the base's, by its version, or else by comparison. */
  #isSameLeaf(node: Node, known: Node): boolean {
    const { view, versions } = this;
    view.relyOnNode(node);
    const record = view.source?.current?.(node.id);
    if (record !== undefined && versions.isVersion(known, record.version)) return true;
    if (node.kind === SYMLINK || known.kind !== FILE || node.kind !== FILE)
      return isSameNode(view.tree.shared.contents, node, known);
    const { size, meta } = known;
    if (node.size !== size || node.meta.mtime !== meta.mtime || !isSameOwner(node.meta, meta)) return false;
    return isSameNode(view.tree.shared.contents, loadedFile(view, node) as typeof node, known);
  }

  #isSameTree(location: Location, known: DirectoryNode): boolean {
    const { view, versions } = this;
    const { directory } = location;
    if (!isSameOwner(directory.meta, known.meta)) return false;
    const record = view.source?.current?.(directory.id)?.directory;
    if (record?.counted !== false && record?.totals.linked === 0 && versions.isTree(known, record.tree)) {
      view.relyOnTree(directory);
      return true;
    }
    const entries = view.list(location);
    const names = known.entries.names();
    if (entries.size !== names.length) return false;
    const same = view.all(names, (name) => {
      const before = this.base.resolve(known.entries.get(name));
      const now = view.tree.resolve(entries.get(name));
      if (before === undefined || now?.id !== before.id) return false;
      if (before.kind !== DIRECTORY) return this.#hasSameNames(before) && this.#isSameLeaf(now, before);
      return now.kind === DIRECTORY && this.#isSameTree(view.tree.childLocation(location, name, now), before);
    });
    return same.every(Boolean);
  }

  #at(path: string): { readonly node: Node; readonly location: Location | undefined } | undefined {
    const { view } = this;
    let location = view.tree.rootLocation;
    const names = pathSegments(path).reverse();
    if (names.length === 0) {
      // Until the root is loaded, its node is a placeholder without an id.
      if (location.directory.id === UNKNOWN_VERSION)
        throw new NotLoaded([{ kind: 'path', path: '/', content: 0 }], view.source);
      return { node: location.directory, location };
    }
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      const node = view.tree.resolve(view.lookup(location, name, names));
      if (node === undefined) return undefined;
      const below = node.kind === DIRECTORY ? view.tree.childLocation(location, name, node) : undefined;
      if (names.length === 0) return { node, location: below };
      if (below === undefined) return undefined;
      location = below;
    }
    return undefined;
  }
}
