import { type FileSystem, normalizePath, systemClock } from '@scratchfs/core';
import { learnLimits } from '@scratchfs/core/internal';
import { applyTree, restoreEntry } from './checkout.js';
import {
  diffTrees,
  type FileDiff,
  type FormattableDiff,
  type FormatVersionDiffOptions,
  fileDiffs,
  formatDiffParts,
  type VersionDiff,
  type VersionDiffOptions,
} from './diff.js';
import { editTree, type TreeEdits } from './edit-tree.js';
import { DEFAULT_MAX_ENTRIES, type EntryCount } from './entry-count.js';
import { HistoryError } from './errors.js';
import { walkCommits } from './log.js';
import { type Merge, mergeTrees } from './merge.js';
import { mergeBases } from './merge-base.js';
import type { MergeOptions } from './merge-options.js';
import { missingObjects } from './missing-objects.js';
import { type ObjectId, objectId } from './object-id.js';
import { ObjectReader } from './object-reader.js';
import { type Commit, decodeCommit, encodeCommit } from './objects/commit.js';
import { type GitObject, idOf, type ObjectType } from './objects/git-object.js';
import type { Person, Signature } from './objects/person.js';
import { encodeTag } from './objects/tag.js';
import { type Primitives, portablePrimitives } from './primitives.js';
import { type PruneOptions, type PruneResult, prune } from './prune.js';
import { checkRefName } from './refs.js';
import type { GitObjectStore, NamedObject, RefValue, Repository, RepositoryCall } from './repository.js';
import { resolveRevision, shortestUnique } from './revision.js';
import { StateIds } from './state-ids.js';
import { findObjects, storeObjects } from './store-tree.js';
import { MemoryRepository } from './stores/memory-repository.js';
import { TreesBeside } from './stores/trees-beside.js';
import { entryAt, listTree, type PathEntry } from './tree-walk.js';
import { type Verification, verifyFrom } from './verify.js';
import { mergeBaseTree } from './virtual-merge-base.js';

export interface HistoryOptions {
  /** Storage of objects and references. Default: in memory, with SHA-1. */
  readonly repository?: Repository | undefined;
  /** Author of commits and tags that name none. Default: `scratchfs <scratchfs@localhost>`. */
  readonly author?: Person | undefined;
  /** Returns the time in epoch milliseconds. Default: the system time. */
  readonly clock?: (() => number) | undefined;
  /** Hashing and zlib. Default: portable implementations. `nodePrimitives` of `@scratchfs/host` uses Node's. */
  readonly primitives?: Primitives | undefined;
  /**
   * Maximum number of entries that a version, or the difference of two, may have: files, links, submodules and
   * directories. Methods that list the entries of versions stop there with `too-large`, because a few small trees, each
   * of which contains the next several times, can describe more entries than any memory holds. Entries with long paths
   * count several times. Default: 1,000,000.
   */
  readonly maxEntries?: number | undefined;
}

export interface CommitOptions extends RepositoryCall {
  readonly message: string;
  /**
   * Default: the tip of the branch. If given without `branch`, no branch moves. If given with `branch`, the branch must
   * be new or its tip among the parents, so that no commit of another client is lost.
   */
  readonly parents?: readonly string[] | undefined;
  /**
   * The branch to move, `main` for `refs/heads/main`. Default without `parents`: the branch that HEAD names, or HEAD
   * itself if it names none.
   */
  readonly branch?: string | undefined;
  readonly author?: (Person & Partial<Signature>) | undefined;
  /** Default: the author. */
  readonly committer?: (Person & Partial<Signature>) | undefined;
}

/** Default minimum number of digits of a shortened id. */
const DEFAULT_SHORT_ID_DIGITS = 7;

/** Maximum length of a chain of symbolic references. */
const MAX_SYMBOLIC_REFERENCES = 8;

/** Maximum number of attempts to move a branch that other clients move too. */
const MAX_COMMIT_ATTEMPTS = 16;

/**
 * Versions of filesystems, stored as git stores them. Trees and commits have the ids that `git write-tree` and `git
 * commit-tree` give the same content. Every object that is read is checked against its hash.
 */
export class History {
  readonly repository: Repository;
  readonly #reader: ObjectReader;
  #known = new StateIds();
  /** The repository's `pruneCount` for which `#known` is valid. */
  #knownSince = 0;
  readonly #author: Person;
  readonly #clock: () => number;

  constructor(options: HistoryOptions = {}) {
    this.repository = options.repository ?? new MemoryRepository();
    const { maxEntries = DEFAULT_MAX_ENTRIES } = options;
    if (!Number.isSafeInteger(maxEntries) || maxEntries < 1)
      throw new RangeError(`maxEntries must be an integer from 1 to 2^53 - 1, not ${String(maxEntries)}`);
    this.#reader = new ObjectReader(this.repository, options.primitives ?? portablePrimitives, maxEntries);
    this.#author = options.author ?? { name: 'scratchfs', email: 'scratchfs@localhost' };
    this.#clock = options.clock ?? systemClock;
  }

  /** Returns a counter with this history's limit, for a caller that lists a version by its own means. */
  countEntries(): EntryCount {
    return this.#reader.countEntries();
  }

  /**
   * Stores a filesystem's state as a tree and returns its id, which `git write-tree` prints for the same files. After
   * the first call for a filesystem, mostly what has changed since the last one is read. With the tree of the previous
   * version as `base`, an empty directory that is a submodule there stays one. `/.git` is left out.
   */
  async writeTree(
    fileSystem: FileSystem,
    call?: RepositoryCall & { readonly base?: ObjectId | undefined },
  ): Promise<ObjectId> {
    const { known } = await this.#statesKnown(call);
    return this.#writeTree(fileSystem, known, call);
  }

  /**
   * Stores the state of a filesystem as a version, moves the branch to it, and returns its id. No branch moves if
   * `parents` are given without `branch`.
   * @throws HistoryError `ref-changed` if other clients keep moving the branch, or if its tip is not among the given
   *   parents; `hostile` for names that git refuses; `corrupt` if symbolic references lead to no branch; as `resolve`
   *   for the parents
   * @throws TypeError, RangeError for an invalid message, author, time or branch
   */
  async commit(fileSystem: FileSystem, options: CommitOptions): Promise<ObjectId> {
    const { signal } = options;
    const explicit = options.parents && (await Promise.all(options.parents.map((id) => this.resolve(id, { signal }))));
    for (let attempt = 0; attempt < MAX_COMMIT_ATTEMPTS; attempt++) {
      const { known, pruneCount } = await this.#statesKnown({ signal });
      const ref = explicit && options.branch === undefined ? undefined : await this.#branchRef(options.branch, signal);
      const tip = ref === undefined ? undefined : await this.repository.readRef(ref, { signal });
      if (explicit !== undefined && tip !== undefined && !('id' in tip && explicit.includes(tip.id))) break;
      const parents = explicit ?? (tip !== undefined && 'id' in tip ? [tip.id] : []);
      const base = parents[0] === undefined ? undefined : (await this.#reader.commit(parents[0], { signal })).tree;
      const tree = await this.#writeTree(fileSystem, known, { signal, base });
      const id = await this.#commit(tree, parents, options);
      if (ref !== undefined && (await this.repository.swapRef(ref, tip, { id }, { signal, pruneCount }))) return id;
      // Objects that this commit relies on may have been deleted.
      if ((await this.#pruneCount({ signal })) !== pruneCount) continue;
      if (ref === undefined) return id;
      if (explicit !== undefined) break;
    }
    throw new HistoryError('ref-changed', 'Another client moved the branch: read it and commit again', {
      ref: options.branch,
    });
  }

  /**
   * Changes a filesystem to a version: paths, bytes, the executable bit and link targets, which is all that git stores.
   * Files that are not in the version are removed, except in `/.git`. Directories that were empty stay unless they are
   * in the way, and entries that do not differ keep their times and other mode bits. Either all of it happens or
   * nothing. Only what differs is written. The version may be the id of a tree, for example of a merge.
   * @throws FsError ENOSPC, EFBIG for limits of the filesystem, ENOTSUP if it has no transactions; HistoryError as
   *   `resolve`, `wrong-type`, `hostile`, `corrupt`, `too-large`
   */
  async checkout(version: string, fileSystem: FileSystem, call?: RepositoryCall): Promise<void> {
    const tree = await this.treeOf(version, call);
    const { known } = await this.#statesKnown(call);
    await learnLimits(fileSystem, call?.signal);
    await fileSystem.transaction(async (inside) => {
      known.copyKnowledge(fileSystem, inside);
      const now = await findObjects(inside, this.#reader, known, tree, call);
      const trees = new TreesBeside(this.repository, now.objects);
      const reader = new ObjectReader(trees, this.#reader.primitives, this.#reader.maxEntries);
      await applyTree(inside, reader, now.root, tree, call);
      const then = await findObjects(inside, this.#reader, known, tree, call);
      if (then.root !== tree)
        throw new HistoryError('corrupt', `The filesystem does not hold what ${version} says`, { id: tree });
      known.learn(fileSystem, then);
    }, call);
  }

  /** The same as {@link checkout}, to undo all changes since a version. */
  rollback(version: string, fileSystem: FileSystem, call?: RepositoryCall): Promise<void> {
    return this.checkout(version, fileSystem, call);
  }

  /**
   * Returns the commit that a version names, see `resolve`. @throws HistoryError as `resolve`; `wrong-type` for the id
   * of a tree or blob
   */
  async show(version: string, call?: RepositoryCall): Promise<Commit> {
    return this.#reader.commit(await this.resolve(version, call), call);
  }

  /**
   * Returns the id of the commit that a version names. A version is an id, the start of an id (at least 4 digits, if no
   * other version's id begins with them), the name of a branch, a tag or another reference, or `HEAD`; then any number
   * of `~n` (n times the first parent) and `^n` (the parent with that number; `^` is `^1`), as in git's gitrevisions. A
   * name comes before the start of an id. Annotated tags are followed; the id of a tree or blob is returned as it is.
   * Every method that takes a version accepts the same.
   * @throws HistoryError `not-found`, `ambiguous` if several ids begin with the digits, `unsupported` for a shortened
   *   id in a repository that cannot list its objects, `wrong-type` for `~n` or `^n` of a tree or blob, `corrupt`;
   *   TypeError for other syntax
   */
  resolve(version: string, call?: RepositoryCall): Promise<ObjectId> {
    return resolveRevision(version, this.#reader, (name) => this.readRef(name, call), call);
  }

  /**
   * Returns the shortest start of a version's id that no other object's id has, of at least `minDigits` digits (default
   * 7), as `git rev-parse --short` does. It stays unique only until objects are added.
   * @throws HistoryError as `resolve`; RangeError unless `minDigits` is an integer from 4 to the length of an id
   */
  async shortId(
    version: string,
    options: RepositoryCall & { readonly minDigits?: number | undefined } = {},
  ): Promise<string> {
    const id = await this.resolve(version, options);
    return shortestUnique(id, options.minDigits ?? DEFAULT_SHORT_ID_DIGITS, this.repository, options);
  }

  /** Returns the id of a version's tree. @throws HistoryError as `resolve`; `wrong-type` for the id of a blob */
  async treeOf(version: string, call?: RepositoryCall): Promise<ObjectId> {
    const id = await this.resolve(version, call);
    const { type, body } = await this.#reader.object(id, call);
    if (type === 'tree') return id;
    if (type === 'commit') return decodeCommit(body, id, this.repository.format).tree;
    throw new HistoryError('wrong-type', `${version} is a ${type}, not a version`, { id });
  }

  /** Compares two versions; undefined stands for an empty one. Equal directories are skipped. */
  async diff(from: string | undefined, to: string | undefined, options?: VersionDiffOptions): Promise<VersionDiff> {
    const [before, after] = await Promise.all([from, to].map((version) => version && this.treeOf(version, options)));
    return diffTrees(this.#reader, before || undefined, after || undefined, options);
  }

  /**
   * Formats a diff as unified text in the form of `git diff`, without similarities, function names of hunks and, except
   * for binary contents, ids. `git apply` accepts the text unless `color` is set. Without `binary`, the text only says
   * that contents differ if they are binary or not UTF-8, and `git apply` refuses it then.
   */
  async formatDiff(diff: FormattableDiff, options?: FormatVersionDiffOptions): Promise<string> {
    let text = '';
    for await (const part of formatDiffParts(this.#reader, diff, options)) text += part;
    return text;
  }

  /** Converts a diff to data for a user interface, one file at a time. */
  fileDiffs(diff: FormattableDiff, options?: FormatVersionDiffOptions): AsyncGenerator<FileDiff> {
    return fileDiffs(this.#reader, diff, options);
  }

  /** Returns the best common ancestors of two versions. */
  async mergeBases(ours: string, theirs: string, call?: RepositoryCall): Promise<ObjectId[]> {
    const [a, b] = await Promise.all([this.resolve(ours, call), this.resolve(theirs, call)]);
    return mergeBases(this.#reader, a, b, call);
  }

  /**
   * Merges two versions as `git merge` does, but moves no branch and changes no files: it only stores objects. The
   * result is a tree with a list of conflicts, to inspect, check out or commit.
   * @param base default: the best common ancestor; if there are several, they are merged first; if there is none, an
   *   empty tree
   */
  async merge(base: string | undefined, ours: string, theirs: string, options: MergeOptions = {}): Promise<Merge> {
    const [a, b] = await Promise.all([this.treeOf(ours, options), this.treeOf(theirs, options)]);
    const tree =
      base === undefined ? await this.#mergeBaseTree(ours, theirs, options) : await this.treeOf(base, options);
    const { merge, objects } = await mergeTrees(this.#reader, tree, a, b, options);
    await this.repository.write(objects, options);
    return merge;
  }

  /** Stores a commit of an existing tree, for example of a merge with both sides as parents. Moves no branch. */
  async commitTree(
    tree: string,
    options: Omit<CommitOptions, 'parents' | 'branch'> & { readonly parents: readonly string[] },
  ): Promise<ObjectId> {
    const { signal } = options;
    const id = await this.treeOf(tree, { signal });
    const parents = await Promise.all(options.parents.map((parent) => this.resolve(parent, { signal })));
    return this.#commit(id, parents, options);
  }

  /** Returns the id of a content as a blob. */
  blobId(body: Uint8Array): ObjectId {
    return idOf({ type: 'blob', body }, this.repository.format, this.#reader.primitives);
  }

  /** Returns the content of a blob. @throws HistoryError `not-found`, `corrupt`, `wrong-type`, `too-large` */
  readBlob(id: ObjectId, call?: RepositoryCall): Promise<Uint8Array> {
    return this.#reader.blob(id, call);
  }

  /**
   * Changes some paths of a version's tree (undefined: an empty tree) and returns the id of the new tree. Undefined as
   * an edit removes its path. Paths have no leading `/`. Reads only the directories on the way to the changes.
   * @throws HistoryError `hostile` for names that git refuses
   */
  async editTree(version: string | undefined, edits: TreeEdits, call?: RepositoryCall): Promise<ObjectId> {
    const base = version === undefined ? undefined : await this.treeOf(version, call);
    const { id, objects } = await editTree(this.#reader, base, edits, call);
    await this.repository.write(objects, call);
    return id;
  }

  /**
   * Yields the objects that a version needs and another store lacks, each once. If the other store has an object, it is
   * assumed to have everything that the object refers to.
   */
  async *missingIn(other: GitObjectStore, version: string, call?: RepositoryCall): AsyncGenerator<NamedObject> {
    yield* missingObjects(this.#reader, await this.resolve(version, call), other, call);
  }

  async #mergeBaseTree(ours: string, theirs: string, options: MergeOptions): Promise<ObjectId | undefined> {
    const [a, b] = await Promise.all([this.resolve(ours, options), this.resolve(theirs, options)]);
    return mergeBaseTree(this.#reader, a, b, options);
  }

  /** Yields a version and its ancestors, each once, in the order of `git log`. */
  async *log(
    version = 'HEAD',
    call?: RepositoryCall & { readonly limit?: number | undefined },
  ): AsyncGenerator<Commit> {
    let left = call?.limit ?? Number.POSITIVE_INFINITY;
    if (left <= 0) return;
    for await (const commit of walkCommits(this.#reader, [await this.resolve(version, call)], call)) {
      yield commit;
      left -= 1;
      if (left <= 0) return;
    }
  }

  /** Yields all entries of a version except directories. */
  async *list(version: string, call?: RepositoryCall): AsyncGenerator<PathEntry> {
    yield* listTree(this.#reader, await this.treeOf(version, call), call);
  }

  /**
   * Returns the content of a file (or the target of a link) in a version. @throws HistoryError as `resolve`;
   * `not-found` for the path, `wrong-type` for a directory
   */
  async readFile(version: string, path: string, call?: RepositoryCall): Promise<Uint8Array> {
    const entry = await this.#entry(version, path, call);
    return (await this.#reader.blob(entry.id, call)).slice();
  }

  /**
   * Restores one file, link or directory from a version. A directory at the path is replaced with everything in it.
   * Missing parent directories are created, and a file or link in their place is removed.
   */
  async restore(version: string, path: string, fileSystem: FileSystem, call?: RepositoryCall): Promise<void> {
    const entry = await this.#entry(version, path, call);
    await fileSystem.transaction((inside) => restoreEntry(inside, this.#reader, entry, call), call);
  }

  /** Returns the id that a reference leads to, through symbolic references; undefined if there is none. */
  async readRef(name: string, call?: RepositoryCall): Promise<ObjectId | undefined> {
    const value = (await this.#follow(name, call))?.value;
    return value !== undefined && 'id' in value ? value.id : undefined;
  }

  /**
   * Creates, moves or (with undefined) removes a reference if it has the expected value.
   * @throws HistoryError `ref-changed`, `ref-conflict`; `not-found` if `next` does not exist or an id is not valid;
   *   TypeError for a name that is not valid
   */
  async moveRef(
    name: string,
    expected: string | undefined,
    next: string | undefined,
    call?: RepositoryCall,
  ): Promise<void> {
    checkRefName(name);
    const value = (id: string | undefined): RefValue | undefined =>
      id === undefined ? undefined : { id: objectId(id, this.repository.format) };
    if (next !== undefined) await this.#reader.object(objectId(next, this.repository.format), call);
    if (await this.repository.swapRef(name, value(expected), value(next), call)) return;
    const now = await this.readRef(name, call);
    throw new HistoryError('ref-changed', `${name} is ${now ?? 'not there'}, not ${expected ?? 'new'}`, { ref: name });
  }

  /**
   * Creates a branch at a version.
   * @throws HistoryError as `resolve`; `ref-changed` if the branch exists, `ref-conflict` if another branch's name is a
   *   directory of this one or the other way round; TypeError for a name that is not valid
   */
  async branch(name: string, version = 'HEAD', call?: RepositoryCall): Promise<ObjectId> {
    const id = await this.resolve(version, call);
    await this.moveRef(`refs/heads/${name}`, undefined, id, call);
    return id;
  }

  /**
   * Creates a tag of a version, or of a tree or blob by its id. With a message it is an annotated tag, and its id is
   * returned; without, the id of the tagged object.
   */
  async tag(
    name: string,
    version = 'HEAD',
    options: RepositoryCall & { readonly message?: string; readonly tagger?: Person & Partial<Signature> } = {},
  ): Promise<ObjectId> {
    let id = await this.resolve(version, options);
    if (options.message !== undefined) {
      const { type } = await this.#reader.object(id, options);
      const tagger = this.#signature(options.tagger);
      const body = encodeTag({ object: id, type, name, tagger, message: options.message });
      id = await this.#write('tag', body, options);
    }
    await this.moveRef(`refs/tags/${name}`, undefined, id, options);
    return id;
  }

  /** Returns the names of references with a prefix such as `refs/heads/`. */
  refs(prefix = 'refs/', call?: RepositoryCall): Promise<string[]> {
    return this.repository.listRefs(prefix, call);
  }

  /** Reads and hashes everything reachable from a version. Default: from all references in `refs/`. */
  async verify(
    version?: string,
    call?: RepositoryCall & { readonly onProgress?: (looked: number) => void },
  ): Promise<Verification> {
    const tips = new Set<ObjectId>();
    if (version !== undefined) tips.add(await this.resolve(version, call));
    else
      for (const name of await this.refs('refs/', call)) {
        const id = await this.readRef(name, call);
        if (id !== undefined) tips.add(id);
      }
    return verifyFrom(this.#reader, [...tips], call);
  }

  /**
   * Deletes the objects that no reference reaches, such as versions of removed branches and trees of merges that were
   * not committed. Whatever an object written in the grace period refers to stays too. Other clients may go on working:
   * `commit` notices a prune and stores again what it relied on. Objects that `writeTree`, `merge`, `editTree` and
   * `commitTree` stored are only protected by the grace period, until a reference leads to them. The grace period must
   * also exceed the differences between the clients' clocks. A version that no reference reaches is deleted, even if a
   * user knows its id: give it a branch or a tag.
   * @throws HistoryError `unsupported` if the repository cannot delete, or git uses it with a work tree, reflogs or
   *   caches; `not-found` if a reference leads to a missing object. Nothing is deleted then
   */
  prune(options: PruneOptions = {}): Promise<PruneResult> {
    return prune(this.repository, this.#reader, this.#clock(), options);
  }

  async #pruneCount(call?: RepositoryCall): Promise<number> {
    return (await this.repository.pruneCount?.(call)) ?? 0;
  }

  /** Returns the known states; none if a prune may have deleted objects since they were stored. */
  async #statesKnown(call?: RepositoryCall): Promise<{ readonly known: StateIds; readonly pruneCount: number }> {
    const pruneCount = await this.#pruneCount(call);
    if (this.#knownSince !== pruneCount) {
      this.#known = new StateIds();
      this.#knownSince = pruneCount;
    }
    return { known: this.#known, pruneCount };
  }

  async #writeTree(
    fileSystem: FileSystem,
    known: StateIds,
    call?: RepositoryCall & { readonly base?: ObjectId | undefined },
  ): Promise<ObjectId> {
    const found = await findObjects(fileSystem, this.#reader, known, call?.base, call);
    await storeObjects(this.repository, found.objects, call);
    known.learn(fileSystem, found);
    return found.root;
  }

  async #entry(version: string, path: string, call?: RepositoryCall): Promise<PathEntry> {
    const tree = await this.treeOf(version, call);
    const inside = normalizePath(path).slice(1);
    const entry = await entryAt(this.#reader, tree, inside, call);
    if (entry === undefined)
      throw new HistoryError('not-found', `${version} has no ${JSON.stringify(path.slice(0, 80))}`, { path });
    return { ...entry, path: inside };
  }

  /** Returns the reference that a commit moves, at the end of symbolic references. */
  async #branchRef(branch: string | undefined, signal: AbortSignal | undefined): Promise<string> {
    const first = branch === undefined || branch.startsWith('refs/') ? (branch ?? 'HEAD') : `refs/heads/${branch}`;
    const end = await this.#follow(first, { signal });
    if (end !== undefined) return end.name;
    throw new HistoryError('corrupt', `The reference ${branch ?? 'HEAD'} does not lead to a branch`, {
      ref: branch ?? 'HEAD',
    });
  }

  /** Follows symbolic references. Returns the last name and its value, or undefined if they do not end. */
  async #follow(
    first: string,
    call?: RepositoryCall,
  ): Promise<{ readonly name: string; readonly value: RefValue | undefined } | undefined> {
    let name = checkRefName(first);
    for (let hops = 0; hops < MAX_SYMBOLIC_REFERENCES; hops++) {
      const value = await this.repository.readRef(name, call);
      if (value === undefined || 'id' in value) return { name, value };
      name = checkRefName(value.ref);
    }
    return undefined;
  }

  #commit(tree: ObjectId, parents: readonly ObjectId[], options: CommitOptions): Promise<ObjectId> {
    const author = this.#signature(options.author);
    const committer = options.committer === undefined ? author : this.#signature(options.committer);
    const body = encodeCommit({ tree, parents, author, committer, message: options.message });
    return this.#write('commit', body, options);
  }

  async #write(type: ObjectType, body: Uint8Array, call?: RepositoryCall): Promise<ObjectId> {
    const object: GitObject = { type, body };
    const id = idOf(object, this.repository.format, this.#reader.primitives);
    await this.repository.write([{ ...object, id }], call);
    return id;
  }

  #signature(given: (Person & Partial<Signature>) | undefined): Signature {
    const { name, email } = given ?? this.#author;
    const timestamp = given?.timestamp ?? Math.floor(this.#clock() / 1_000);
    return { name, email, timestamp, timezone: given?.timezone ?? 0 };
  }
}
