import { existsSync, lstatSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { quote } from '@scratchfs/core';
import type { ObjectFormat, ObjectId, Person, TreeMode } from '@scratchfs/history';
import { directoriesAbove } from '../directories-above.js';
import { withoutDrivers } from '../git/drivers.js';
import { checkGitVersion, Git, inList, nulEnded } from '../git/git.js';
import { findRepository, type GitRepository } from '../git/git-repository.js';
import { filteredPaths } from '../merge/changed-paths.js';
import { identityFor } from '../merge/identity.js';
import { workTreeOf } from '../merge/work-tree-state.js';

/** A file or link as it lies in a work tree. */
export interface CommitEntry {
  readonly mode: Exclude<TreeMode, '40000' | '160000'>;
  /** Content of a file, or target of a link. */
  readonly content: Uint8Array;
}

/** Path that cannot be committed, with the reason. */
export interface RefusedPath {
  readonly path: string;
  readonly reason: string;
}

export interface CommitDraftOptions {
  /** Branch to create or advance. Undefined: a commit on HEAD, to which no branch leads. */
  readonly branch?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * A commit in preparation: the tip of a branch, or HEAD, with some paths changed, made by the user's git. Index, work
 * tree and HEAD stay as they are, and nothing is written to the repository before {@link commit}. Line ends are
 * converted as the repository's attributes say; no filter, hook or driver runs. Paths have no leading `/`.
 */
export class CommitDraft implements AsyncDisposable {
  readonly #repository: GitRepository & { readonly workTree: string };
  /** Git with an index and an object directory of its own. */
  readonly #git: Git;
  readonly #scratch: string;
  readonly #ref: string | undefined;
  readonly #signal: AbortSignal | undefined;
  #tracked: ReadonlyMap<string, TreeMode> | undefined;

  private constructor(
    repository: GitRepository & { readonly workTree: string },
    git: Git,
    scratch: string,
    readonly parent: ObjectId,
    /** Commit that the branch named when the draft was opened. Undefined for a new branch, or without a branch. */
    readonly tip: ObjectId | undefined,
    { branch, signal }: CommitDraftOptions,
  ) {
    this.#repository = repository;
    this.#git = git;
    this.#scratch = scratch;
    this.#ref = branch === undefined ? undefined : `refs/heads/${branch}`;
    this.#signal = signal;
  }

  /** Opens a draft, or returns a sentence that says why there can be none. */
  static async open(directory: string, options: CommitDraftOptions = {}): Promise<CommitDraft | string> {
    const { branch, signal } = options;
    const repository = await findRepository(directory);
    const workTree = repository?.workTree;
    if (repository === undefined || workTree === undefined) return 'The directory is not the top of a git work tree.';
    await checkGitVersion(repository.git);
    const ref = `refs/heads/${branch}`;
    const commitAt = async (name: string): Promise<ObjectId | undefined> => {
      const args = ['rev-parse', '-q', '--verify', `${name}^{commit}`];
      const { exitCode, stdout } = await repository.git.run(args, { accept: [0, 1, 128], signal });
      return exitCode === 0 ? (stdout.toString('utf8').trim() as ObjectId) : undefined;
    };
    if (branch !== undefined) {
      const { exitCode } = await repository.git.run(['check-ref-format', ref], { accept: [0, 1], signal });
      if (exitCode !== 0 || branch.startsWith('-')) return `${quote(branch)} is not a name for a branch.`;
      const elsewhere = await workTreeOf(ref, repository.git, signal);
      if (elsewhere !== undefined)
        return `The branch ${quote(branch)} is checked out in ${quote(elsewhere)}: take another name, or merge.`;
    }
    const tip = branch === undefined ? undefined : await commitAt(ref);
    const parent = tip ?? (await commitAt('HEAD'));
    if (parent === undefined)
      return 'The repository has no commit yet, so a branch cannot begin: commit something first.';
    const scratch = await mkdtemp(join(tmpdir(), 'scratchfs-'));
    try {
      for (const name of ['objects', 'files', 'tip']) await mkdir(join(scratch, name));
      const git = (await withoutDrivers(repository.git, { filters: false })).with(
        {
          GIT_INDEX_FILE: join(scratch, 'index'),
          GIT_OBJECT_DIRECTORY: join(scratch, 'objects'),
          GIT_ALTERNATE_OBJECT_DIRECTORIES: inList(repository.objectsDirectory),
        },
        SETTINGS,
      );
      await git.run(['read-tree', parent], { signal });
      return new CommitDraft({ ...repository, workTree }, git, scratch, parent, tip, options);
    } catch (error) {
      await rm(scratch, { recursive: true, force: true });
      throw error;
    }
  }

  get format(): ObjectFormat {
    return this.#repository.format;
  }

  /** Returns the paths that lie in a submodule or another repository, or have a filter such as that of LFS. */
  async refused(paths: readonly string[]): Promise<readonly RefusedPath[]> {
    const tracked = await this.#entries();
    const filtered = new Set(await filteredPaths(this.#repository.git, this.#git, paths, this.#signal));
    return paths.flatMap((path): RefusedPath[] => {
      const above = [...directoriesAbove(path), path];
      if (above.some((at) => tracked.get(at) === '160000')) return [{ path, reason: 'a submodule is there' }];
      if (above.some((at) => existsSync(join(this.#repository.workTree, at, '.git'))))
        return [{ path, reason: 'it lies in another repository' }];
      return filtered.has(path) ? [{ path, reason: 'it has a filter, as with LFS' }] : [];
    });
  }

  async #entries(): Promise<ReadonlyMap<string, TreeMode>> {
    if (this.#tracked === undefined) {
      const lines = await this.#git.items(['ls-files', '-z', '--stage'], { signal: this.#signal });
      this.#tracked = new Map(
        lines.map((line) => [line.slice(line.indexOf('\t') + 1), line.slice(0, 6) as TreeMode] as const),
      );
    }
    return this.#tracked;
  }

  /**
   * Returns entries of the parent as git checks them out without filters. Paths that it does not have, and submodules,
   * are left out.
   */
  async entriesAt(paths: readonly string[]): Promise<ReadonlyMap<string, CommitEntry>> {
    const tracked = await this.#entries();
    const found = paths.filter((path) => tracked.has(path) && tracked.get(path) !== '160000');
    const top = join(this.#scratch, 'tip');
    const args = ['checkout-index', '-f', '-z', '--stdin', `--prefix=${top}/`];
    await this.#git.run(args, { input: nulEnded(found), signal: this.#signal });
    const entries = new Map<string, CommitEntry>();
    for (const path of found) {
      const mode = tracked.get(path) as CommitEntry['mode'];
      const at = join(top, path);
      const content = lstatSync(at).isSymbolicLink() ? Buffer.from(await readlink(at)) : await readFile(at);
      entries.set(path, { mode, content });
    }
    return entries;
  }

  /**
   * Commits changed entries, and moves the branch if the draft has one. An entry that is null is removed.
   * @param author used if the user's git has no identity
   * @throws GitError if git fails, or if the branch has moved since the draft was opened; it then stays where it is
   */
  async commit(entries: ReadonlyMap<string, CommitEntry | null>, message: string, author?: Person): Promise<ObjectId> {
    const signal = this.#signal;
    const files = join(this.#scratch, 'files');
    for (const [path, entry] of entries) if (entry !== null) await put(join(files, path), entry);
    // Removed paths first: a file may take the place of a directory.
    const removed = [...entries].flatMap(([path, entry]) => (entry === null ? [path] : []));
    await this.#git.run(['update-index', '-z', '--force-remove', '--stdin'], { input: nulEnded(removed), signal });
    const added = [...entries].flatMap(([path, entry]) => (entry === null ? [] : [path]));
    const { environment, settings } = this.#git.with({ GIT_WORK_TREE: files, GIT_DIR: this.#repository.gitDirectory });
    const update = ['update-index', '-z', '--add', '--replace', '--stdin'];
    await new Git(files, environment, settings).run(update, { input: nulEnded(added), signal });
    const tree = await this.#git.text(['write-tree'], { signal });
    const identity = await identityFor(this.#repository.git, author, signal);
    const args = ['commit-tree', tree, '-p', this.parent, '-F', '-'];
    const id = await this.#git.with(identity.environment).text(args, { input: message, signal });
    const input = `${id}\n^${this.parent}\n`;
    const { stdout: pack } = await this.#git.run(['pack-objects', '--revs', '--stdout', '-q'], { input, signal });
    const { git } = this.#repository;
    await git.run(['unpack-objects', '-q'], { input: pack, signal });
    if (this.#ref !== undefined) {
      const log = `scratchfs: ${message.split('\n', 1)[0]}`.slice(0, 200);
      await git.run(['update-ref', '-m', log, this.#ref, id, this.tip ?? '0'.repeat(id.length)], { signal });
    }
    return id as ObjectId;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#scratch, { recursive: true, force: true });
  }
}

/**
 * Moves, creates or deletes a branch that is checked out nowhere.
 * @param from commit that the branch must name, undefined if it must not exist
 * @param to commit that it names then, undefined to delete it
 * @returns undefined after success, otherwise a sentence that says why not
 */
export async function moveBranch(
  directory: string,
  branch: string,
  from: string | undefined,
  to: string | undefined,
): Promise<string | undefined> {
  const repository = await findRepository(directory);
  if (repository === undefined) return 'The directory is not the top of a git repository.';
  const { git, format } = repository;
  const ref = `refs/heads/${branch}`;
  const elsewhere = await workTreeOf(ref, git, undefined);
  if (elsewhere !== undefined) return `The branch ${quote(branch)} is checked out in ${quote(elsewhere)}.`;
  const none = '0'.repeat(format === 'sha1' ? 40 : 64);
  const args = ['update-ref', '-m', 'scratchfs: undo or redo', ref, to ?? none, from ?? none];
  const { exitCode } = await git.run(args, { accept: [0, 1, 128] });
  return exitCode === 0 ? undefined : `The branch ${quote(branch)} is not where it was left.`;
}

/**
 * Settings under which the scratch index has all paths, modes and links, even those that a sparse checkout or the disk
 * of the work tree leaves out.
 */
const SETTINGS: readonly (readonly [string, string])[] = [
  ['core.sparseCheckout', 'false'],
  ['core.fileMode', 'true'],
  ['core.symlinks', 'true'],
  ['core.safecrlf', 'false'],
];

async function put(path: string, { mode, content }: CommitEntry): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  if (mode === '120000') return symlink(Buffer.from(content), path);
  await writeFile(path, content);
  await chmod(path, mode === '100755' ? 0o755 : 0o644);
}
