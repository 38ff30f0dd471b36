import type { Metadata, NodeId, Part } from '../backend.js';
import { isWithin, joinPath } from '../paths.js';
import type { ContentNode } from '../tree/content.js';
import {
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
import { type Location, Tree, type TreeState } from '../tree/tree.js';
import { PathView } from './view/paths.js';

/**
 * A tree as operations see it: paths are resolved, what is missing is loaded, limits and guards are asked, and every
 * change is written down for whoever needs to know. Rules of the filesystem are in the operations, not here.
 *
 * Of the methods that change something: the caller has checked everything, and none of them can fail.
 */
export class View extends PathView {
  /** Puts a new node under a free name. */
  create(parent: Location, name: string, node: Node): void {
    this.tree.insert(parent, name, node);
    this.touch(parent);
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

  /** Gives a file or symlink one more name. */
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

  /** Puts a copy of a directory and all beneath it under a free name. Contents are shared. */
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

  /** Puts a copy of a file or symlink under a free name. */
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

  /** Makes the whole state what `build` makes of an empty one, in one step. */
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

  /** Makes another state the current one. */
  become(state: TreeState): void {
    this.tree.reset(state);
    this.changes?.push({ type: 'reset', path: '/' });
  }

  /** Runs `work`, and takes back what it did where it throws: for operations that cannot check everything beforehand. */
  atomic<T>(work: () => T): T {
    // Where a recorder is, a failed attempt is thrown away as a whole.
    if (this.recorder !== undefined) return work();
    const state = this.tree.freeze();
    const known = this.changes?.length;
    try {
      return work();
    } catch (error) {
      this.tree.reset(state);
      if (this.changes !== undefined) this.changes.length = known ?? 0;
      throw error;
    }
  }

  /** Takes a name away, a directory with all beneath it. */
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
   * What handles hold open beneath a name that is about to go lives on with them: its content has to be at hand, or another
   * of its names known. Answers those names.
   */
  #keepOpen(parent: Location, name: string, path: string): ReadonlyMap<NodeId, string> | undefined {
    const linked = new Set<NodeId>();
    for (const open of this.openFiles?.openUnder(path) ?? []) {
      const node = this.trace(open);
      if (node?.kind === FILE) this.loaded(node);
      if (node !== undefined && this.tree.inodes.has(node.id)) linked.add(node.id);
    }
    if (linked.size === 0) return undefined;
    // Which of a file's names are beneath decides whether it goes on: all of them have to be known.
    const entry = parent.directory.entries.get(name);
    if (entry?.kind === DIRECTORY) this.#listAll(this.tree.childLocation(parent, name, entry));
    const unknown = [...linked].filter((id) => this.openFiles?.knowsNameBeside(id, path) !== true);
    return unknown.length === 0 ? undefined : this.#namesBeside(new Set(unknown), path);
  }

  /** Looks through the whole tree for names that do not go with a path. */
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

  /** Moves a name to a free one. */
  move(from: Location, fromName: string, to: Location, toName: string): void {
    const time = this.now();
    let entry = from.directory.entries.get(fromName) as TreeNode;
    const path = joinPath(to.path, toName);
    const old = joinPath(from.path, fromName);
    const node = this.tree.resolve(entry) as Node;
    this.changes?.push({ type: 'rename', path, from: old, kind: kindName(node), node: entry });
    this.tree.detach(from, fromName, entry);
    const meta = { ...node.meta, ctime: this.nowAfter(node.meta) };
    // A directory that moved has forgotten the cached locations: only the two given here are still in use.
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

  /** Gives a file, under all its names, other content; `parts` are written over the content that was there. */
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

  /** Gives a file with several names, found by its identity, other content or metadata. */
  setInode(id: NodeId, node: FileNode): void {
    this.tree.setInode(id, node, this.tree.inodes.get(id)?.links ?? 1);
  }

  /** Gives any node other metadata. */
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

  /** The times of a directory whose names changed. */
  touch(location: Location): void {
    const { meta } = location.directory;
    const now = this.nowAfter(meta);
    this.recorder?.writes.push({ kind: 'touch', path: location.path, time: now });
    if (meta.mtime === now && meta.ctime === now) return;
    const { mode, uid, gid, atime, birthtime } = meta;
    this.tree.own(location).meta = { mode, uid, gid, atime, mtime: now, ctime: now, birthtime };
  }

  #touchInode(id: NodeId): void {
    const inode = this.tree.inodes.get(id);
    if (inode !== undefined) this.tree.touchInode(id, this.nowAfter(inode.node.meta));
  }

  /** Takes back what `touch` did to a directory, where entries are put as they are. */
  restoreMeta(location: Location, meta: Metadata): void {
    if (location.directory.meta === meta) return;
    this.tree.own(location).meta = meta;
    this.#recordMeta(location.path, meta);
  }

  #recordMeta(path: string, meta: Metadata): void {
    this.recorder?.writes.push({ kind: 'meta', path, meta });
  }
}

function hasContent(node: Node): boolean {
  return node.kind === FILE && node.size > 0;
}
