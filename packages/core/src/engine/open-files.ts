import type { NodeId } from '../backend.js';
import { isWithin, pathSegments } from '../paths.js';
import {
  ABSENT,
  DIRECTORY,
  DirectoryNode,
  FILE,
  type FileNode,
  type Node,
  SYMLINK,
  type TreeNode,
} from '../tree/node.js';
import type { Tree } from '../tree/tree.js';
import type { Change } from './changes.js';

/** A file or directory that handles hold open. */
export interface OpenFile {
  readonly id: NodeId;
  /** Last known path. In memory a file with several names may have lost this one: it is then found by its id. */
  path: string;
  /** The node itself once its last name is gone. */
  detached: FileNode | DirectoryNode | undefined;
  /** Set when the whole state is replaced, as by a rollback: the file can no longer be used. */
  lost: boolean;
  /** Number of handles that hold it open. */
  holders: number;
}

export interface OpenFilesOptions {
  /** Set for copies, such as those of a transaction. */
  readonly isBranch?: boolean | undefined;
  /** The storage cannot find files by id, so the names of linked files are remembered. */
  readonly remembersLinks?: boolean | undefined;
}

/**
 * The files that handles hold open, with their current paths through renames. A file that loses its last name is kept.
 */
export class OpenFiles {
  readonly #files = new Map<NodeId, OpenFile>();
  /** Bytes of files that are open and have no name: they count against the limit on total size. */
  readonly detached = { size: 0 };

  /** Over a storage that cannot find files by id: names of files to which this client has added names. */
  readonly #names: LinkNames | undefined;
  /** In a transaction: the files without a name that it has changed. */
  readonly #changed: Map<NodeId, FileNode | DirectoryNode> | undefined;

  constructor(options: OpenFilesOptions = {}) {
    this.#names = options.remembersLinks === true ? new LinkNames() : undefined;
    this.#changed = options.isBranch === true ? new Map() : undefined;
  }

  open(id: NodeId, path: string): OpenFile {
    let file = this.#files.get(id);
    if (file === undefined) {
      file = { id, path, detached: undefined, lost: false, holders: 0 };
      this.#files.set(id, file);
    }
    file.holders += 1;
    return file;
  }

  release(file: OpenFile): void {
    file.holders -= 1;
    if (file.holders > 0) return;
    if (this.#files.get(file.id) === file) this.#files.delete(file.id);
    this.setDetached(file, undefined);
  }

  /** Returns an independent copy with the same open files, for a transaction, or to try changes on. */
  copy(): OpenFiles {
    const copy = new OpenFiles({ isBranch: true });
    for (const file of this.#files.values()) copy.#files.set(file.id, { ...file, holders: 1 });
    copy.detached.size = this.detached.size;
    return copy;
  }

  /** Returns by how many bytes the files without a name would grow if this table took over those of `other`. */
  detachedBeyond(other: OpenFiles): number {
    let bytes = 0;
    for (const { id, detached } of other.#files.values())
      if (detached !== undefined) bytes += bytesOf(detached) - bytesOf(this.#files.get(id)?.detached);
    return bytes;
  }

  get hasAny(): boolean {
    return this.#files.size > 0;
  }

  isOpen(id: NodeId): boolean {
    return this.#files.has(id);
  }

  /** Returns paths of open files at or under a path. */
  openUnder(path: string): string[] {
    return [...this.#files.values()].filter((file) => isWithin(file.path, path)).map((file) => file.path);
  }

  /** Reports whether a file is known to be reachable by a path that is neither `path` nor under it. */
  knowsNameBeside(id: NodeId, path: string): boolean {
    return this.#names?.hasBeside(id, path) ?? false;
  }

  /** Replaces a file without a name after a handle has changed its content or metadata. */
  change(file: OpenFile, node: FileNode | DirectoryNode): void {
    this.setDetached(file, node);
    this.#changed?.set(file.id, node);
  }

  /** Takes over what a transaction has changed in files without a name. Call it after `follow`. */
  takeChanged(branch: OpenFiles): void {
    for (const [id, node] of branch.#changed ?? []) {
      const file = this.#files.get(id);
      if (file?.detached !== undefined) this.setDetached(file, node);
    }
  }

  setDetached(file: OpenFile, node: FileNode | DirectoryNode | undefined): void {
    if (!file.lost) this.detached.size += bytesOf(node) - bytesOf(file.detached);
    file.detached = node;
  }

  /** Follows changes that have taken effect in `tree`. */
  follow(changes: readonly Change[], tree: Tree): void {
    for (const change of changes) {
      this.#names?.follow(change);
      if (this.#files.size > 0) this.#followOne(change, tree);
    }
  }

  /** Marks all files as lost. */
  reset(): void {
    this.#names?.clear();
    this.#loseAll();
  }

  /**
   * Returns the open files that a change may affect: the removed or moved file and those that lost their last name; all
   * files for a directory or an unknown node.
   */
  #concerned({ node, orphans }: Change): Iterable<OpenFile> {
    if (node === undefined || node.kind === DIRECTORY || node.kind === ABSENT) return this.#files.values();
    const ids = new Set([node.id, ...(orphans?.keys() ?? [])]);
    return [...ids].flatMap((id) => this.#files.get(id) ?? []);
  }

  #loseAll(): void {
    for (const file of this.#files.values()) {
      this.setDetached(file, undefined);
      file.lost = true;
    }
    this.#files.clear();
  }

  #followOne(change: Change, tree: Tree): void {
    if (change.type === 'reset') {
      this.#loseAll();
      return;
    }
    const { from } = change;
    if (change.type === 'rename' && from !== undefined) {
      for (const file of this.#concerned(change)) {
        if (isWithin(file.path, from)) file.path = change.path + file.path.slice(from.length);
      }
    } else if (change.type === 'remove') this.#detach(change, tree);
  }

  #detach(change: Change, tree: Tree): void {
    for (const file of this.#concerned(change)) {
      if (file.detached !== undefined) continue;
      if (tree.inodes.has(file.id)) {
        if (isWithin(file.path, change.path))
          file.path = this.#names?.nameOf(file.id) ?? change.names?.get(file.id) ?? file.path;
        continue;
      }
      const node =
        change.orphans?.get(file.id) ?? (isWithin(file.path, change.path) ? beneath(change, file.path) : undefined);
      if (node === undefined || node.kind === SYMLINK || node.id !== file.id) continue;
      const meta = { ...node.meta, ctime: Math.max(change.time ?? node.meta.ctime, node.meta.ctime) };
      // A directory without the place it had in the storage: on a remote one, nothing is checked or loaded there again.
      const detached = node.kind === FILE ? tree.withMeta(node, meta) : DirectoryNode.empty(node.owner, node.id, meta);
      this.setDetached(file, detached);
    }
  }
}

function bytesOf(node: FileNode | DirectoryNode | undefined): number {
  return node?.kind === FILE ? node.size : 0;
}

/** Maximum number of files with several names whose names are remembered; the oldest are forgotten first. */
const MAX_LINKED_FILES = 1000;

/** Names of files with several names, as far as the links that this client made show them. */
class LinkNames {
  readonly #names = new Map<NodeId, Set<string>>();

  nameOf(id: NodeId): string | undefined {
    return this.#names.get(id)?.values().next().value;
  }

  hasBeside(id: NodeId, path: string): boolean {
    for (const name of this.#names.get(id) ?? []) if (!isWithin(name, path)) return true;
    return false;
  }

  clear(): void {
    this.#names.clear();
  }

  follow({ type, path, from, link }: Change): void {
    if (type === 'reset') this.clear();
    else if (link !== undefined) this.#add(link.id, [link.from, path]);
    else if (type === 'remove' || type === 'rename') {
      const gone = from ?? path;
      for (const names of this.#names.values()) {
        for (const name of [...names]) {
          if (!isWithin(name, gone)) continue;
          names.delete(name);
          if (type === 'rename') names.add(path + name.slice(gone.length));
        }
      }
    }
  }

  #add(id: NodeId, paths: readonly string[]): void {
    const names = this.#names.get(id) ?? new Set();
    for (const path of paths) names.add(path);
    this.#names.delete(id);
    this.#names.set(id, names);
    const oldest = this.#names.keys().next().value;
    if (this.#names.size > MAX_LINKED_FILES && oldest !== undefined) this.#names.delete(oldest);
  }
}

/** Returns the node at `path` in the entries that a change removed. */
function beneath(change: Change, path: string): Node | undefined {
  let node: TreeNode | undefined = change.node;
  const rest = path.slice(change.path.length);
  for (const name of pathSegments(rest === '' ? '/' : rest)) {
    if (node?.kind !== DIRECTORY) return undefined;
    node = node.entries.get(name);
  }
  return node === undefined || node.kind > SYMLINK ? undefined : (node as Node);
}
