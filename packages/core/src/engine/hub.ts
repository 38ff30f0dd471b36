import type { Backend, NodeId } from '../backend.js';
import { isWithin, pathSegments } from '../paths.js';
import {
  ABSENT,
  DIRECTORY,
  type DirectoryNode,
  FILE,
  type FileNode,
  type Node,
  SYMLINK,
  type TreeNode,
} from '../tree/node.js';
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

type Listener = (changes: readonly Change[]) => void;

/** Who has to hear of changes: open handles, which follow their files, and watchers. */
export class Hub {
  readonly #files = new Map<NodeId, OpenFile>();
  readonly #listeners = new Set<Listener>();
  /** Bytes of files that are open and have no name: they count against the limit on total size. */
  readonly detached = { size: 0 };

  /** Where files cannot be found by id: the names of those that were given several here. */
  readonly #names: LinkNames | undefined;
  /** What tells watchers of changes, own ones included; without one they hear what is published here. */
  readonly #source: NonNullable<Backend['watch']> | undefined;
  #stopSource: (() => void) | undefined;
  /** Where others have to hear of it at the end: what became of files without a name through handles of this hub. */
  readonly #changed: Map<NodeId, FileNode | DirectoryNode> | undefined;

  constructor(
    options: {
      readonly isBranch?: boolean | undefined;
      readonly remembersLinks?: boolean | undefined;
      readonly source?: NonNullable<Backend['watch']> | undefined;
    } = {},
  ) {
    this.#names = options.remembersLinks === true ? new LinkNames() : undefined;
    this.#source = options.source;
    this.#changed = options.isBranch === true ? new Map() : undefined;
  }

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

  /** A hub with the same open files: what becomes of them there changes nothing here. */
  copy(): Hub {
    const copy = new Hub({ isBranch: true });
    for (const file of this.#files.values()) copy.#files.set(file.id, { ...file, holders: 1 });
    copy.detached.size = this.detached.size;
    return copy;
  }

  /** How much more the files without a name take that are open in another hub, where those open in both are as they are there. */
  detachedBeyond(other: Hub): number {
    let bytes = 0;
    for (const { id, detached } of other.#files.values())
      if (detached !== undefined) bytes += bytesOf(detached) - bytesOf(this.#files.get(id)?.detached);
    return bytes;
  }

  get hasOpenFiles(): boolean {
    return this.#files.size > 0;
  }

  isOpen(id: NodeId): boolean {
    return this.#files.has(id);
  }

  /** Paths of open files at or beneath a path. */
  openUnder(path: string): string[] {
    return [...this.#files.values()].filter((file) => isWithin(file.path, path)).map((file) => file.path);
  }

  /** Whether a name of a file is known that does not go with a path. */
  knowsNameBeside(id: NodeId, path: string): boolean {
    return this.#names?.hasBeside(id, path) ?? false;
  }

  /** Of a file without a name: what becomes of it through a handle. */
  change(file: OpenFile, node: FileNode | DirectoryNode): void {
    this.setDetached(file, node);
    this.#changed?.set(file.id, node);
  }

  /**
   * To be called once the changes of a branch are published here: files that it has taken the last name of are what its
   * own handles have made of them since.
   */
  takeChanged(branch: Hub): void {
    for (const [id, node] of branch.#changed ?? []) {
      const file = this.#files.get(id);
      if (file?.detached !== undefined) this.setDetached(file, node);
    }
  }

  setDetached(file: OpenFile, node: FileNode | DirectoryNode | undefined): void {
    if (!file.lost) this.detached.size += bytesOf(node) - bytesOf(file.detached);
    file.detached = node;
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    try {
      this.#stopSource ??= this.#source?.((changes) => this.#tell(changes));
    } catch (error) {
      this.#listeners.delete(listener);
      throw error;
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      const stop = this.#stopSource;
      this.#stopSource = undefined;
      stop?.();
    };
  }

  #tell(changes: readonly Change[]): void {
    for (const listener of [...this.#listeners]) listener(changes);
  }

  /** To be called once changes have taken effect. */
  publish(changes: readonly Change[], tree: Tree): void {
    for (const change of changes) {
      this.#names?.follow(change);
      if (this.#files.size > 0) this.#follow(change, tree);
    }
    if (this.#source === undefined) this.#tell(changes);
  }

  /** The whole state has become another one. */
  reset(): void {
    const change: Change = { type: 'reset', path: '/' };
    this.#names?.follow(change);
    this.#loseAll();
    if (this.#source === undefined) this.#tell([change]);
  }

  /** Open files that a change may be about: a file that went or moved is found by its id, a directory may hold any. */
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

  #follow(change: Change, tree: Tree): void {
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
      this.setDetached(file, node.kind === FILE ? tree.withMeta(node, meta) : node.clone(node.owner, node.id, meta));
    }
  }
}

function bytesOf(node: FileNode | DirectoryNode | undefined): number {
  return node?.kind === FILE ? node.size : 0;
}

/** Files remembered with their names. */
const MAX_LINKS = 1000;

/** Names of files that have several, as far as they were made here. */
class LinkNames {
  readonly #names = new Map<NodeId, Set<string>>();

  nameOf(id: NodeId): string | undefined {
    return this.#names.get(id)?.values().next().value;
  }

  hasBeside(id: NodeId, path: string): boolean {
    for (const name of this.#names.get(id) ?? []) if (!isWithin(name, path)) return true;
    return false;
  }

  follow({ type, path, from, link }: Change): void {
    if (type === 'reset') this.#names.clear();
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
    if (this.#names.size > MAX_LINKS && oldest !== undefined) this.#names.delete(oldest);
  }
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
