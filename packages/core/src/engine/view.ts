import type { Metadata, NodeId, Part } from '../backend.js';
import type { EntryKind } from '../entry.js';
import { isWithin, joinPath } from '../paths.js';
import type { ContentNode } from '../tree/content.js';
import type { Entries } from '../tree/entries.js';
import {
  ABSENT,
  DIRECTORY,
  type DirectoryNode,
  FILE,
  type FileNode,
  kindName,
  LINKED,
  LinkedNode,
  type Node,
  SYMLINK,
  type SymlinkNode,
  type TreeNode,
  Unloaded,
} from '../tree/node.js';
import { type Location, Tree, type TreeState, touched } from '../tree/tree.js';
import type { Access } from './guard.js';
import type { OpenFiles } from './open-files.js';
import { loadedFile } from './view/contents.js';
import { NOT_KNOWN, PathCursor } from './view/path-cursor.js';
import { PathResolver } from './view/path-resolver.js';
import { ViewState } from './view/view-state.js';

/**
 * The tree as operations see it. It resolves paths, loads missing parts, calls guards, and records changes for open
 * files, watchers and commits. The rules of the filesystem are in the operations.
 *
 * Methods that change something leave the checks to their caller. Over a remote storage, they may throw `NotLoaded`.
 */
export class View extends ViewState {
  /** In a transaction on a remote storage: the files opened in it. */
  inner: OpenFiles | undefined;
  /** The position of the last lookup. */
  readonly at = new PathCursor(this.tree);
  readonly paths = new PathResolver(this, this.at);

  /**
   * Returns the node at a path. Returns undefined if only the last name is missing, or only the last name of the target
   * of a link that is followed. `makes`: the kind of entry that the operation creates, for guards.
   * @throws TypeError if the path is not a string without NUL; FsError ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG, EINVAL,
   * EACCES for a link that leads out of the filesystem, and the errors of the guard
   */
  find(path: string, follow: boolean, access: Access, syscall: string, makes?: EntryKind): Node | undefined {
    if (this.context.guard === undefined) {
      const node = this.at.moveToKnown(path, follow, access === 'write');
      if (node !== NOT_KNOWN) return this.found(node);
    }
    return this.paths.find(path, follow, access, syscall, makes);
  }

  /**
   * Like `find`, but returns undefined for every path that leads nowhere. `given`: the path as the caller wrote it, if
   * it differs.
   */
  peek(path: string, follow: boolean, access: Access, syscall: string, given?: string): Node | undefined {
    if (this.context.guard === undefined) {
      const node = this.at.moveToKnown(path, follow, access === 'write');
      if (node !== NOT_KNOWN) return this.found(node);
    }
    return this.paths.peek(path, follow, access, syscall, given);
  }

  lookup(location: Location, name: string, rest?: readonly string[]): TreeNode | undefined {
    const { directory } = location;
    const entry = directory.entries.get(name);
    if (entry !== undefined) return entry.kind === ABSENT ? undefined : entry;
    return directory.complete ? undefined : this.loader?.lookup(location, name, rest);
  }

  list(location: Location): Entries<TreeNode> {
    const { complete, entries } = location.directory;
    return complete || this.loader === undefined ? entries : this.loader.list(location);
  }

  /** Reports whether a directory has no names. If it has none, its totals become exact. */
  isEmpty(location: Location): boolean {
    const isEmpty = this.list(location).size === 0;
    if (isEmpty) this.loader?.count(location);
    return isEmpty;
  }

  /** Must be called before a directory is moved, copied or removed as a whole. */
  loadTotals(top: Location): void {
    this.loader?.loadTotals(top);
  }

  /** Records that the outcome depends on the metadata of a directory. Call before reading it. */
  relyOnMeta(directory: DirectoryNode): void {
    this.loader?.relyOnMeta(directory);
  }

  /** Records that the outcome depends on the metadata and the names of a directory. Call before reading its version. */
  relyOnVersion(directory: DirectoryNode): void {
    // On a remote storage, a change of names sets the times too.
    this.relyOnMeta(directory);
  }

  /** Records that the outcome depends on the totals of the filesystem. Call before reading them. */
  relyOnTotals(): void {
    this.loader?.relyOnTotals();
  }

  relyOnTree(directory: DirectoryNode): void {
    this.loader?.relyOnTree(directory);
  }

  relyOnNode(node: Node): void {
    this.loader?.relyOnNode(node);
  }

  /** Records that an operation failed because the tree under a directory is too deep, after listing that whole tree. */
  relyOnDepth(_directory: DirectoryNode): void {
    // Over a remote storage, the checks of the listings are enough.
  }

  /** Adds a new node under a free name. `keepsTimes`: the directory keeps its times. */
  create(parent: Location, name: string, node: Node, keepsTimes = false): void {
    this.tree.insert(parent, name, node);
    if (!keepsTimes) this.touch(parent);
    const writes = this.recorder?.writes;
    if (this.changes === undefined && writes === undefined) return;
    const path = joinPath(parent.path, name);
    this.changes?.push({ type: 'create', path, kind: kindName(node), hasContent: hasContent(node) });
    if (writes === undefined) return;
    const { id, meta } = node;
    if (node.kind === DIRECTORY) writes.push({ kind: 'create', path, id, type: 'directory', meta });
    else if (node.kind === SYMLINK)
      writes.push({ kind: 'create', path, id, type: 'symlink', meta, target: node.target });
    else
      writes.push({
        kind: 'create',
        path,
        id,
        type: 'file',
        meta,
        content: this.tree.shared.contents.toSend(node as ContentNode),
      });
  }

  /** Adds another name for a file or symlink. */
  addLink(from: Location, fromName: string, parent: Location, name: string, node: FileNode | SymlinkNode): void {
    const meta = { ...node.meta, ctime: this.now() };
    let entry = from.directory.entries.get(fromName) as TreeNode;
    if (entry.kind !== LINKED) entry = this.tree.promote(from, fromName, node);
    const links = this.tree.linksOf(entry);
    this.tree.setInode(node.id, this.tree.withMeta(node, meta), links + 1);
    this.tree.insert(parent, name, new LinkedNode(node.id));
    this.touch(parent);
    const path = joinPath(parent.path, name);
    this.changes?.push({
      type: 'create',
      path,
      kind: kindName(node),
      link: { id: node.id, from: joinPath(from.path, fromName) },
    });
    this.recorder?.writes.push({ kind: 'link', from: joinPath(from.path, fromName), path });
    this.#recordMeta(joinPath(from.path, fromName), meta);
  }

  /** Adds a copy of a directory with everything in it under a free name. Contents are shared. */
  copyTree(
    source: DirectoryNode,
    from: string,
    parent: Location,
    name: string,
    meta: Metadata,
    keepTimes: boolean,
  ): void {
    const times = { time: this.now(), keep: keepTimes };
    this.#insertCopy(this.tree.copyDirectory(source, this.context.newId(), meta, times), from, parent, name, keepTimes);
  }

  /** Adds a copy of a file or symlink under a free name. */
  copyLeaf(source: FileNode | SymlinkNode, from: string, parent: Location, name: string, meta: Metadata): void {
    this.#insertCopy(this.tree.copyLeaf(source, this.context.newId(), meta), from, parent, name, false);
  }

  #insertCopy(copy: Node, from: string, parent: Location, name: string, keepTimes: boolean): void {
    this.tree.insert(parent, name, copy);
    const to = joinPath(parent.path, name);
    this.changes?.push({ type: 'create', path: to, kind: kindName(copy), hasContent: hasContent(copy) });
    this.recorder?.writes.push({ kind: 'copy', from, to, id: copy.id, meta: copy.meta, time: this.now(), keepTimes });
    this.touch(parent);
  }

  /** Replaces the whole state in one step: `build` fills an empty tree. */
  replaceAll(rootMeta: Metadata, build: (view: View) => void): void {
    const target = this.recorder === undefined ? new Tree(this.tree.shared, Tree.emptyState(rootMeta)) : this.tree;
    if (this.recorder !== undefined) {
      this.tree.reset(Tree.emptyState(rootMeta));
      this.recorder.writes.push({ kind: 'clear', meta: rootMeta });
    }
    const view = new View(target, this.context, undefined, undefined, this.recorder);
    build(view);
    if (target !== this.tree) this.become(target.freeze());
    else this.changes?.push({ type: 'reset', path: '/' });
  }

  /** Replaces the current state by another. */
  become(state: TreeState): void {
    this.tree.reset(state);
    this.changes?.push({ type: 'reset', path: '/' });
  }

  /** Runs `work` and undoes its changes if it throws, for operations that cannot check everything first. */
  atomic<T>(work: () => T): T {
    const { changes = [], recorder } = this;
    const writes = recorder?.writes ?? [];
    const before = [changes.length, writes.length] as const;
    const state = this.tree.freeze();
    try {
      return work();
    } catch (error) {
      this.tree.reset(state);
      [changes.length, writes.length] = before;
      throw error;
    }
  }

  /** Removes a name; a directory with everything in it. */
  remove(parent: Location, name: string): void {
    const time = this.now();
    const path = joinPath(parent.path, name);
    const names = this.recorder === undefined ? undefined : this.#keepOpen(parent, name, path);
    const entry = parent.directory.entries.get(name) as TreeNode;
    const kind = kindName(this.tree.resolve(entry) as Node);
    const orphans = new Map<NodeId, Node>();
    if (entry.kind === DIRECTORY && entry.linked > 0) {
      for (const id of this.tree.dropLinksBeneath(entry, orphans)) this.#touchInode(id);
    }
    this.tree.detach(parent, name, entry);
    if (entry.kind === LINKED) {
      this.tree.dropLink(entry.id, orphans);
      this.#touchInode(entry.id);
    }
    this.touch(parent);
    this.changes?.push({ type: 'remove', path, kind, time, node: entry, orphans, ...(names && { names }) });
    this.recorder?.writes.push({ kind: 'remove', path, time });
  }

  /**
   * Loads what open files at or under a name need before the name is removed: their content, and another name of those
   * that have several. Returns another name for files of which `openFiles` knows none.
   */
  #keepOpen(parent: Location, name: string, path: string): ReadonlyMap<NodeId, string> | undefined {
    const linked = new Set<NodeId>();
    for (const open of this.openFiles?.openUnder(path) ?? []) {
      const node = this.paths.trace(open);
      if (node?.kind === FILE) loadedFile(this, node);
      if (node !== undefined && this.tree.inodes.has(node.id)) linked.add(node.id);
    }
    if (linked.size === 0) return undefined;
    // Whether a file survives depends on how many of its names are in the directory, so all names in it must be known.
    const entry = parent.directory.entries.get(name);
    if (entry?.kind === DIRECTORY) this.#listAll(this.tree.childLocation(parent, name, entry));
    const unknown = [...linked].filter((id) => this.openFiles?.knowsNameBeside(id, path) !== true);
    return unknown.length === 0 ? undefined : this.#namesBeside(new Set(unknown), path);
  }

  /** Searches the whole tree for names of these files outside a path. */
  #namesBeside(wanted: ReadonlySet<NodeId>, path: string): Map<NodeId, string> {
    const found = new Map<NodeId, string>();
    this.#listAll(this.tree.rootLocation, (location) => {
      location.directory.entries.forEach((entry, name) => {
        const at = joinPath(location.path, name);
        if (entry.kind === LINKED && wanted.has(entry.id) && !isWithin(at, path)) found.set(entry.id, at);
      });
    });
    return found;
  }

  #listAll(top: Location, visit: (location: Location) => void = () => {}): void {
    for (let level = [top]; level.length > 0; ) {
      this.all(level, (location) => this.list(location));
      level = level.flatMap((location) => {
        visit(location);
        const below: Location[] = [];
        location.directory.entries.forEach((entry, name) => {
          if (entry.kind === DIRECTORY) below.push(this.tree.childLocation(location, name, entry));
        });
        return below;
      });
    }
  }

  /** Moves an entry to a free name. */
  move(from: Location, fromName: string, to: Location, toName: string): void {
    const time = this.now();
    let entry = from.directory.entries.get(fromName) as TreeNode;
    const path = joinPath(to.path, toName);
    const old = joinPath(from.path, fromName);
    const node = this.tree.resolve(entry) as Node;
    this.changes?.push({ type: 'rename', path, from: old, kind: kindName(node), node: entry });
    this.tree.detach(from, fromName, entry);
    const meta = { ...node.meta, ctime: this.nowAfter(node.meta) };
    // Detaching a directory has cleared the cached locations. Only `from` and `to` are used from here on.
    if (entry.kind === DIRECTORY) {
      entry = entry.clone(this.tree.owner, entry.id, meta);
      entry.version = this.tree.shared.newVersion();
    } else if (entry.kind === LINKED) {
      this.tree.setInode(entry.id, this.tree.withMeta(node as FileNode, meta), this.tree.linksOf(entry));
    } else entry = this.tree.withMeta(node as FileNode, meta);
    this.tree.insert(to, toName, entry);
    this.touch(from);
    if (to !== from) this.touch(to);
    this.recorder?.writes.push({ kind: 'move', from: old, to: path, time });
  }

  /**
   * Replaces a file by `node`, under all its names. `parts` describe the new content for the recorder: they are written
   * over the old content, which is cut or extended to the new size.
   */
  setContent(parent: Location, name: string, before: FileNode, node: FileNode, parts: readonly Part[]): void {
    this.#replace(parent, name, node);
    if (!(before.data instanceof Unloaded)) this.tree.shared.contents.noteReleased(before as ContentNode);
    this.recorder?.writes.push({
      kind: 'write',
      path: joinPath(parent.path, name),
      size: node.size,
      parts,
      meta: node.meta,
    });
  }

  #replace(parent: Location, name: string, node: FileNode | SymlinkNode): void {
    const entry = parent.directory.entries.get(name) as TreeNode;
    this.tree.replace(parent, name, entry, node);
    this.changes?.push({ type: 'modify', path: joinPath(parent.path, name), kind: kindName(node) });
  }

  /** Replaces the content or metadata of a file with several names, found by its id. */
  setInode(id: NodeId, node: FileNode): void {
    this.tree.setInode(id, node, this.tree.inodes.get(id)?.links ?? 1);
  }

  /** Replaces the metadata of a node. */
  setMeta(parent: Location, name: string, node: Node, meta: Metadata): void {
    if (node.kind !== DIRECTORY) {
      this.#replace(parent, name, this.tree.withMeta(node, meta));
      this.#recordMeta(joinPath(parent.path, name), meta);
      return;
    }
    const location = name === '' ? this.tree.rootLocation : this.tree.childLocation(parent, name, node);
    this.relyOnMeta(node);
    this.tree.setDirectoryMeta(location, meta);
    this.changes?.push({ type: 'modify', path: location.path, kind: 'directory' });
    this.#recordMeta(location.path, meta);
  }

  /** Updates the times of a directory whose names changed. */
  touch(location: Location): void {
    const { meta } = location.directory;
    const now = this.nowAfter(meta);
    this.recorder?.writes.push({ kind: 'touch', path: location.path, time: now });
    const next = touched(meta, now);
    if (next !== meta) this.tree.putDirectoryMeta(location, next);
  }

  #touchInode(id: NodeId): void {
    const inode = this.tree.inodes.get(id);
    if (inode !== undefined) this.tree.touchInode(id, this.nowAfter(inode.node.meta));
  }

  /**
   * Sets the metadata of a directory, for operations that restore entries exactly. Unlike `setMeta`, reports no change
   * to watchers.
   */
  restoreMeta(location: Location, meta: Metadata): void {
    if (location.directory.meta === meta) return;
    this.tree.putDirectoryMeta(location, meta);
    this.#recordMeta(location.path, meta);
  }

  #recordMeta(path: string, meta: Metadata): void {
    this.recorder?.writes.push({ kind: 'meta', path, meta });
  }
}

function hasContent(node: Node): boolean {
  return node.kind === FILE && node.size > 0;
}
