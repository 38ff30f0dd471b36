import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { FsError, isWithin, type Write } from '@scratchfs/core';
import { isDotGit } from '@scratchfs/history/internal';
import type { ConfinedRoot } from './confined-root.js';
import { isTurnDue, nextTurn } from './event-loop.js';
import { ConfiguredPaths } from './git/configured-paths.js';
import { isAt, isGitDirectory, isInGitDirectory } from './git/repositories-at.js';
import type { PathHandle } from './path-handle.js';

/** Allowed access to the git repositories of a directory of the host. */
export type GitAccess = 'read-only' | 'hidden' | 'writable';

const HINT = "It belongs to a git repository, which can only be read here: open the directory with git: 'writable'";

/**
 * Effect of a write on a path. `change`: the entry changes, or a new file or directory is created. `place`: a link, an
 * entry of another kind or an entry from elsewhere comes to the path. `displace`: the entry leaves the path, with
 * everything under it.
 */
export type Use = 'change' | 'place' | 'displace';

/**
 * Refuses writes that would change git's own files or a file that git's configuration names, because hooks and settings
 * there run code when the user calls git. It protects, with everything under them: every name that HFS+ or NTFS reads as
 * `.git`, existing git directories under other names (bare repositories, linked work trees), the user's own git settings,
 * and the {@link ConfiguredPaths} of each repository that contains the path, also above the root.
 */
export class GitProtection {
  readonly #configured = new ConfiguredPaths();

  constructor(readonly root: ConfinedRoot) {}

  /** Returns a check for one batch, which reads the configuration of each repository once. */
  forBatch(): BatchCheck {
    return new BatchCheck(this.root, this.#configured);
  }
}

export class BatchCheck {
  readonly #top: string;
  readonly #isAllProtected: boolean;
  readonly #userPaths: readonly string[];
  readonly #byDirectory = new Map<string, readonly string[]>();

  constructor(
    readonly root: ConfinedRoot,
    readonly configured: ConfiguredPaths,
  ) {
    this.#top = root.currentHostPath();
    this.#userPaths = this.configured.ofUser().map(folded);
    this.#isAllProtected = this.#top.split(/[\\/]/).some(isDotGit) || isInGitDirectory(this.#top);
  }

  /** @throws FsError EACCES if the write is refused, and what the host throws */
  async check(write: Write): Promise<void> {
    if (isTurnDue()) await nextTurn();
    switch (write.kind) {
      case 'create':
        return this.#checkPath(write.path, write.type === 'symlink' ? 'place' : 'change');
      case 'write':
      case 'meta':
        return this.#checkPath(write.path, 'change');
      case 'link':
        // Under a second name the protected file could be changed.
        this.#checkPath(write.from, 'change');
        return this.#checkPath(write.path, 'place');
      case 'remove':
        return await this.#checkDisplaced(write.path);
      case 'move':
        this.#checkPath(write.to, 'place');
        return await this.#checkDisplaced(write.from);
      case 'copy':
        this.#checkPath(write.to, 'place');
        return await this.#checkContents(write.from);
    }
  }

  /**
   * Checks the change of one entry, but not of the entries under it.
   * @throws FsError EACCES if it is refused, and what the host throws
   */
  async checkEntry(path: string, use: Use): Promise<void> {
    if (isTurnDue()) await nextTurn();
    this.#checkPath(path, use);
  }

  async #checkDisplaced(path: string): Promise<void> {
    this.#checkPath(path, 'displace');
    await this.#checkContents(path);
  }

  #checkPath(path: string, use: Use): void {
    if (this.#isAllProtected || path.split('/').some(isDotGit)) refuse(path);
    using trail = this.root.walk(path);
    const names = path.split('/').slice(1);
    this.#checkNamed(path, use, this.#userPaths);
    for (const directory of this.#around()) this.#checkConfigured(path, use, directory);
    for (const [depth, pathHandle] of trail.pathHandles.entries()) {
      if (pathHandle.kind !== 'directory') break;
      if (isGitDirectory(pathHandle.path)) refuse(path);
      if (!isAt(pathHandle.child('.git'))) continue;
      const inside = names.slice(0, depth).join('/');
      this.#checkConfigured(path, use, inside === '' ? this.#top : `${this.#top}/${inside}`);
    }
  }

  /** Yields the directories above the root. */
  *#around(): Generator<string> {
    for (let at = this.#top; dirname(at) !== at; ) {
      at = dirname(at);
      yield at;
    }
  }

  #checkConfigured(path: string, use: Use, workTree: string): void {
    let named = this.#byDirectory.get(workTree);
    if (named === undefined) {
      named = this.configured.of(workTree).map(folded);
      this.#byDirectory.set(workTree, named);
    }
    this.#checkNamed(path, use, named);
  }

  #checkNamed(path: string, use: Use, named: readonly string[]): void {
    if (named.length === 0) return;
    const there = folded(path === '/' ? this.#top : this.#top + path);
    for (const protectedPath of named) {
      if (isWithin(there, protectedPath)) refuse(path);
      // Replacing or moving a directory on the way decides which file the protected path leads to.
      if (use !== 'change' && isWithin(protectedPath, there)) refuse(path);
    }
  }

  /** Refuses a directory that contains a repository at any depth. */
  async #checkContents(path: string): Promise<void> {
    using trail = this.root.walk(path);
    if (!trail.complete || trail.last.kind !== 'directory') return;
    await this.#checkDirectory(trail.last, path);
  }

  async #checkDirectory(directory: PathHandle, path: string): Promise<void> {
    if (isTurnDue()) await nextTurn();
    if (isGitDirectory(directory.path)) refuse(path);
    for (const { name, isDirectory } of entriesOf(directory)) {
      if (isDotGit(name.toString('utf8'))) refuse(`${path}/${name}`);
      if (!isDirectory) continue;
      using child = directory.enter(name);
      if (child?.kind === 'directory') await this.#checkDirectory(child, `${path}/${name}`);
    }
  }
}

function refuse(path: string): never {
  throw new FsError('EACCES', { path, hint: HINT });
}

/** Folds case and Unicode composition, because some disks ignore both. */
function folded(path: string): string {
  return path.normalize('NFC').toLowerCase();
}

/** Returns names as bytes, because a name need not be valid UTF-8. */
function entriesOf(directory: PathHandle): { readonly name: Buffer; readonly isDirectory: boolean }[] {
  const entries = readdirSync(`${directory.path}/.`, { withFileTypes: true, encoding: 'buffer' });
  return entries.map((entry) => ({ name: entry.name, isDirectory: entry.isDirectory() }));
}
