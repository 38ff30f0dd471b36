import type { NodeId } from '../backend.js';
import { isWithin, pathSegments } from '../paths.js';
import { DIRECTORY, type DirectoryNode, FILE, type FileNode, type Node, SYMLINK, type TreeNode } from '../tree/node.js';
import type { Tree } from '../tree/tree.js';
import type { Change } from './changes.js';

/**
 * A file (or, for reading its metadata, a directory) that handles hold open. While it has a name, `path` is one that leads to it (or `id` is in the table of inodes);
 * when the last name goes, the file lives on here. `lost` after a rollback or restore.
 */
export interface OpenFile {
  readonly id: NodeId;
  path: string;
  detached: FileNode | DirectoryNode | undefined;
  lost: boolean;
  holders: number;
}

/** Who has to hear of changes: open handles, which follow their files, and watchers. */
export class Hub {
  readonly #files = new Map<NodeId, OpenFile>();
  readonly #listeners = new Set<(changes: readonly Change[]) => void>();
  /** Bytes of files that are open and have no name: they count against the limit on total size. */
  readonly detached = { size: 0 };

  /** Whether anybody needs changes written down. */
  get isListening(): boolean {
    return this.#files.size > 0 || this.#listeners.size > 0;
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

  setDetached(file: OpenFile, node: FileNode | DirectoryNode | undefined): void {
    if (!file.lost) this.detached.size += bytesOf(node) - bytesOf(file.detached);
    file.detached = node;
  }

  listen(listener: (changes: readonly Change[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** To be called once changes have taken effect. */
  publish(changes: readonly Change[], tree: Tree): void {
    for (const change of changes) {
      if (this.#files.size > 0) this.#follow(change, tree);
    }
    for (const listener of [...this.#listeners]) listener(changes);
  }

  /** The whole state has become another one. */
  reset(): void {
    for (const file of this.#files.values()) {
      this.setDetached(file, undefined);
      file.lost = true;
    }
    this.#files.clear();
    for (const listener of [...this.#listeners]) listener([{ type: 'reset', path: '/' }]);
  }

  #follow(change: Change, tree: Tree): void {
    if (change.type === 'reset') {
      this.reset();
      return;
    }
    const { from } = change;
    if (change.type === 'rename' && from !== undefined) {
      for (const file of this.#files.values()) {
        if (isWithin(file.path, from)) file.path = change.path + file.path.slice(from.length);
      }
    } else if (change.type === 'remove') this.#detach(change, tree);
  }

  #detach(change: Change, tree: Tree): void {
    for (const file of this.#files.values()) {
      if (file.detached !== undefined || tree.inodes.has(file.id)) continue;
      const node =
        change.orphans?.get(file.id) ?? (isWithin(file.path, change.path) ? beneath(change, file.path) : undefined);
      if (node === undefined || node.kind === SYMLINK || node.id !== file.id) continue;
      const meta = { ...node.meta, ctime: change.time ?? node.meta.ctime };
      this.setDetached(file, node.kind === FILE ? tree.withMeta(node, meta) : node.clone(node.owner, node.id, meta));
    }
  }
}

function bytesOf(node: FileNode | DirectoryNode | undefined): number {
  return node?.kind === FILE ? node.size : 0;
}

/** The file that lay at `path` in what a change has removed. */
function beneath(change: Change, path: string): Node | undefined {
  let node: TreeNode | undefined = change.node;
  const rest = path.slice(change.path.length);
  for (const name of pathSegments(rest === '' ? '/' : rest)) {
    if (node?.kind !== DIRECTORY) return undefined;
    node = node.entries.get(name);
  }
  return node === undefined || node.kind > SYMLINK ? undefined : (node as Node);
}
