import type { Metadata, NodeId, Write } from '../backend.js';
import { isTime } from '../engine/arguments.js';
import { keepOptimized } from '../engine/keep-optimized.js';
import { detach } from '../tree/detach.js';
import { entriesFromSorted } from '../tree/entries-build.js';
import { DirectoryNode, FileNode, type Inode, LinkedNode, type SymlinkNode, type TreeNode } from '../tree/node.js';
import { Owner } from '../tree/owner.js';
import { type SharedStore, symlinkNode, type TreeState } from '../tree/tree.js';
import { corrupt } from './corrupt.js';
import type { Snapshot } from './decode.js';
import type { DecodedEntry, FurtherName, NodeEntry } from './snapshot-entry.js';

type Body = Uint8Array<ArrayBuffer>;

export interface BuilderOptions {
  readonly shared: SharedStore;
  readonly newId: () => NodeId;
  /** Id of the root, which keeps its identity through restores. */
  readonly rootId: NodeId;
  /** Let files be views of the snapshot's bytes instead of copies. */
  readonly adopt: boolean;
  /** Also record the writes that lead a remote storage from an empty state to this one. */
  readonly recordWrites: boolean;
}

/** A directory whose entries are not complete yet. */
class OpenDirectory {
  readonly names: string[] = [];
  readonly nodes: TreeNode[] = [];
  size = 0;
  files = 0;
  directories = 0;
  linked = 0;
  constructor(
    readonly path: string,
    readonly name: string,
    readonly id: NodeId,
    readonly meta: Metadata,
  ) {}
}

/** Builds a separate tree from the entries of a snapshot, from the leaves up. It becomes visible only when complete. */
export class TreeBuilder {
  readonly writes: Write[] = [];
  readonly #owner = new Owner();
  readonly #open: OpenDirectory[] = [];
  readonly #inodes = new Map<NodeId, Inode>();
  /** Entries with further names, by number. */
  readonly #first = new Map<number, { readonly id: NodeId; readonly path: string }>();
  #linkedSize = 0;
  #number = 0;
  /** The last metadata whose times were checked. */
  #checked: Metadata | undefined;

  constructor(
    readonly snapshot: Snapshot,
    readonly options: BuilderOptions,
  ) {}

  add(entry: DecodedEntry): void {
    const number = this.#number++;
    while (this.#open.length > Math.max(entry.depth, 1)) this.#close();
    const parent = this.#open.at(-1);
    const { name } = entry;
    const path = parent === undefined ? '' : `${parent.path}/${name}`;
    if (entry.kind !== 'link') this.#checkTimes(entry.meta);
    if (entry.kind === 'link') this.#addFurther(parent as OpenDirectory, path, name, entry);
    else if (entry.kind === 'directory') this.#addDirectory(parent, path, name, entry);
    else this.#addLeaf(parent as OpenDirectory, path, name, entry, number);
  }

  /**
   * Checks times, once for neighbours with the same metadata. @throws StorageError `corrupt` for times no Date can hold
   */
  #checkTimes(meta: Metadata): void {
    if (meta === this.#checked) return;
    const { atime, mtime, ctime, birthtime } = meta;
    if (!isTime(atime) || !isTime(mtime) || !isTime(ctime) || !isTime(birthtime))
      throw corrupt('a time is out of range');
    this.#checked = meta;
  }

  /**
   * Adds entries until they have `most` bytes, each counted with 256 more than its content. Returns true if more may
   * follow.
   */
  addSome(entries: Iterator<DecodedEntry>, most: number): boolean {
    for (let bytes = 0; bytes < most; ) {
      const step = entries.next();
      if (step.done) return false;
      this.add(step.value);
      bytes += step.value.kind === 'file' ? 256 + step.value.size : 256;
    }
    return true;
  }

  finish(): TreeState {
    while (this.#open.length > 1) this.#close();
    const root = this.#build(this.#open[0] as OpenDirectory);
    return { root, inodes: this.#inodes, linkedSize: this.#linkedSize };
  }

  #addDirectory(parent: OpenDirectory | undefined, path: string, name: string, { meta }: NodeEntry<Body>): void {
    const id = parent === undefined ? this.options.rootId : this.options.newId();
    this.#open.push(new OpenDirectory(path, name, id, meta));
    if (parent !== undefined) this.#write({ kind: 'create', path, id, type: 'directory', meta });
  }

  #addLeaf(parent: OpenDirectory, path: string, name: string, entry: NodeEntry<Body>, number: number): void {
    const id = this.options.newId();
    const node = entry.kind === 'symlink' ? this.#symlink(id, entry) : this.#file(id, entry);
    if (entry.kind === 'symlink') {
      this.#write({ kind: 'create', path, id, type: 'symlink', meta: entry.meta, target: entry.target as string });
    } else this.#write({ kind: 'create', path, id, type: 'file', meta: entry.meta, content: entry.body });
    const links = this.snapshot.names.get(number);
    parent.names.push(name);
    parent.files += 1;
    if (links === undefined) {
      parent.nodes.push(node);
      parent.size += node.size;
      return;
    }
    this.#inodes.set(id, { node, links });
    this.#linkedSize += node.size;
    this.#first.set(number, { id, path });
    parent.nodes.push(new LinkedNode(id));
    parent.linked += 1;
  }

  #addFurther(parent: OpenDirectory, path: string, name: string, entry: FurtherName): void {
    const first = this.#first.get(entry.first) as { id: NodeId; path: string };
    parent.names.push(name);
    parent.nodes.push(new LinkedNode(first.id));
    parent.files += 1;
    parent.linked += 1;
    this.#write({ kind: 'link', from: first.path, path });
  }

  #symlink(id: NodeId, entry: NodeEntry<Body>): SymlinkNode {
    return symlinkNode(id, entry.meta, detach(entry.target as string));
  }

  #file(id: NodeId, entry: NodeEntry<Body>): FileNode {
    const node = new FileNode(id, entry.meta);
    if (!this.options.adopt) this.options.shared.contents.fromBytes(node as FileNode & { data: unknown }, entry.body);
    else if (entry.size > 0) {
      node.data = entry.body;
      node.size = entry.size;
    }
    return node;
  }

  #close(): void {
    const closed = this.#open.pop() as OpenDirectory;
    const parent = this.#open.at(-1) as OpenDirectory;
    parent.names.push(closed.name);
    parent.nodes.push(this.#build(closed));
    parent.size += closed.size;
    parent.files += closed.files;
    parent.directories += closed.directories + 1;
    parent.linked += closed.linked;
  }

  #build(open: OpenDirectory): DirectoryNode {
    const entries = entriesFromSorted(this.#owner, open.names, open.nodes);
    const directory = new DirectoryNode(this.#owner, open.id, open.meta, entries);
    directory.size = open.size;
    directory.files = open.files;
    directory.directories = open.directories;
    directory.linked = open.linked;
    open.nodes.forEach((node, i) => {
      directory.holds(open.names[i] as string, node);
    });
    directory.version = directory.listing = this.options.shared.newVersion();
    return directory;
  }

  #write(write: Write): void {
    if (this.options.recordWrites) this.writes.push(write);
  }
}

keepOptimized(new TreeBuilder(undefined as never, undefined as never));
keepOptimized(new OpenDirectory('', '', 0, undefined as never));
