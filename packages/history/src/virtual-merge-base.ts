import { mergeTrees } from './merge.js';
import { type Ancestor, type Ancestry, mergeBases } from './merge-base.js';
import type { MergeOptions } from './merge-options.js';
import type { ObjectId } from './object-id.js';
import type { ObjectReader } from './object-reader.js';
import { idOf } from './objects/git-object.js';
import type { RepositoryCall } from './repository.js';

/**
 * Returns the tree of the merge base of two commits; undefined if they have no common ancestor. Several best
 * common ancestors are merged as git does it: oldest first, each result as a virtual commit whose parents are the merged
 * commits, and whose tree keeps the conflicts.
 */
export async function mergeBaseTree(
  reader: ObjectReader,
  ours: ObjectId,
  theirs: ObjectId,
  { renames, signal }: Pick<MergeOptions, 'renames' | 'signal'>,
): Promise<ObjectId | undefined> {
  return new VirtualAncestry(reader, { renames, signal }).tree(ours, theirs, 0);
}

const encoder = new TextEncoder();

/** Real commits, and virtual ones that merge common ancestors. */
class VirtualAncestry implements Ancestry {
  readonly #made = new Map<ObjectId, Ancestor>();

  constructor(
    readonly reader: ObjectReader,
    readonly options: MergeOptions,
  ) {}

  async commit(id: ObjectId, call?: RepositoryCall): Promise<Ancestor> {
    return this.#made.get(id) ?? (await this.reader.commit(id, call));
  }

  async parentsOf(commit: Ancestor, call?: RepositoryCall): Promise<readonly ObjectId[]> {
    return this.#made.has(commit.id) ? commit.parents : this.reader.parentsOf(commit, call);
  }

  async tree(ours: ObjectId, theirs: ObjectId, depth: number): Promise<ObjectId | undefined> {
    const [first, ...others] = (await mergeBases(this, ours, theirs, this.options)).reverse();
    if (first === undefined) return undefined;
    let base = await this.commit(first, this.options);
    for (const other of others) base = await this.#merged(base, await this.commit(other, this.options), depth + 1);
    return base.tree;
  }

  async #merged(ours: Ancestor, theirs: Ancestor, depth: number): Promise<Ancestor> {
    const base = await this.tree(ours.id, theirs.id, depth);
    const { merge, objects } = await mergeTrees(this.reader, base, ours.tree, theirs.tree, this.options, depth);
    await this.reader.store.write(objects, this.options);
    const { store, primitives } = this.reader;
    const id = idOf({ type: 'commit', body: encoder.encode(`${ours.id} ${theirs.id}`) }, store.format, primitives);
    // As in git, its time is 0, which makes it the oldest.
    const made = { id, tree: merge.tree, parents: [ours.id, theirs.id], committer: { timestamp: 0 } };
    this.#made.set(made.id, made);
    return made;
  }
}
