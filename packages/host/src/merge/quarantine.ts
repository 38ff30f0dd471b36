import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type History, type NamedObject, type ObjectId, writePack } from '@scratchfs/history';
import { directoriesAbove } from '../directories-above.js';
import { type Git, inList } from '../git/git.js';
import { GitObjects } from '../git/git-objects.js';
import type { GitRepository } from '../git/git-repository.js';
import { nodePrimitives } from '../node-primitives.js';
import { type Listing, listVersion } from '../versions/onboard.js';
import { keepPack } from './kept-packs.js';

/**
 * Object directory beside the repository's in which a merge is prepared. None of its objects reaches the repository
 * before {@link release}.
 */
export class Quarantine {
  /** Git that sees the repository and the objects in quarantine. */
  readonly git: Git;

  private constructor(
    readonly repository: GitRepository,
    git: Git,
    readonly directory: string,
  ) {
    this.git = git.with({
      GIT_OBJECT_DIRECTORY: join(directory, 'objects'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: inList(repository.objectsDirectory),
    });
  }

  static async open(repository: GitRepository, git: Git, directory: string): Promise<Quarantine> {
    await mkdir(join(directory, 'objects', 'pack'), { recursive: true });
    return new Quarantine(repository, git, directory);
  }

  /**
   * Adds the objects that a version needs and the repository lacks. git checks them again (`--strict`).
   */
  async take(history: History, version: ObjectId, signal?: AbortSignal): Promise<void> {
    const there = new GitObjects(this.repository.git, this.repository.format);
    const objects: NamedObject[] = [];
    try {
      for await (const object of history.missingIn(there, version, { signal })) objects.push(object);
    } finally {
      there.close();
    }
    if (objects.length === 0) return;
    const { pack } = await writePack(objects, this.repository.format, nodePrimitives);
    await this.git.run(['index-pack', '--stdin', '--strict'], { input: pack, signal });
  }

  /**
   * Throws if a commit has more entries than the history allows. git has no such limit, so this has to be called before
   * a git command that reads the whole tree. The listing is read as a stream and ends at the limit.
   * @throws HistoryError `too-large`
   */
  async checkSize(history: History, commit: string, signal?: AbortSignal): Promise<void> {
    const count = history.countEntries();
    const args = ['ls-tree', '-r', '-t', '-z', '--full-tree', '--name-only', commit];
    await this.git.eachItem(args, (path) => count.add(1, path.length), signal);
  }

  /**
   * Returns a commit on a version that adds the paths of `base` that scratchfs cannot represent: the version cannot
   * have meant to remove them. Returns the version itself if there are none, or if it has an entry at each of those
   * paths, or a file in place of a directory above.
   */
  async withUnrepresentable(
    history: History,
    version: ObjectId,
    base: string,
    identity: Git,
    signal?: AbortSignal,
  ): Promise<ObjectId> {
    const { unrepresentable } = await listVersion(this.git, base, history.countEntries(), signal);
    const lost = unrepresentable.length === 0 ? [] : await this.#lostIn(version, unrepresentable, signal);
    if (lost.length === 0) return version;
    const index = { GIT_INDEX_FILE: join(this.directory, 'index-of-version') };
    await this.git.with(index).run(['read-tree', version], { signal });
    const input = Buffer.concat(lost.flatMap(({ record }) => [record, Buffer.of(0)]));
    await this.git.with(index).run(['update-index', '-z', '--index-info'], { input, signal });
    const tree = await this.git.with(index).text(['write-tree'], { signal });
    const message = 'Bring back what could not be held\n';
    return this.commit(identity, tree, [version], message, signal);
  }

  /**
   * Returns the records whose paths are free in the version: nothing is there, and no file is in place of a directory
   * above.
   */
  async #lostIn(
    version: ObjectId,
    records: Listing['unrepresentable'],
    signal?: AbortSignal,
  ): Promise<Listing['unrepresentable']> {
    // One character per byte: paths may not be UTF-8.
    const listed = await this.git.items(['ls-tree', '-r', '-t', '-z', '--full-tree', version], { signal }, 'latin1');
    const held = new Map(listed.map((line) => [line.slice(line.indexOf('\t') + 1), line.split(' ')[1]]));
    return records.filter(({ record }) => {
      const path = record.toString('latin1', record.indexOf(9) + 1);
      if (held.has(path)) return false;
      for (const directory of directoriesAbove(path)) if ((held.get(directory) ?? 'tree') !== 'tree') return false;
      return true;
    });
  }

  /** Commits a tree with the identity of `identity`. */
  async commit(
    identity: Git,
    tree: string,
    parents: readonly string[],
    message: string,
    signal?: AbortSignal,
  ): Promise<ObjectId> {
    const args = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-F', '-'];
    return (await this.git.with(identity.environment).text(args, { input: message, signal })) as ObjectId;
  }

  /**
   * Adds the objects that a commit needs beyond another one to the repository as a kept pack; no reference leads to
   * them yet.
   * @returns false if another merge is adding the same pack
   */
  async release(commit: string, beyond: string, id: string, signal?: AbortSignal): Promise<boolean> {
    const input = `${commit}\n^${beyond}\n`;
    const { stdout: pack } = await this.git.run(['pack-objects', '--revs', '--stdout', '-q'], { input, signal });
    const count = pack.readUInt32BE(8);
    return count === 0 || keepPack(this.repository, pack, id, signal);
  }
}
