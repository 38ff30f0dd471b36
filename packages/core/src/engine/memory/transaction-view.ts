import type { Metadata, NodeId } from '../../backend.js';
import type { EntryKind } from '../../entry.js';
import { joinPath } from '../../paths.js';
import type { Entries } from '../../tree/entries.js';
import {
  DIRECTORY,
  DirectoryNode,
  FILE,
  type FileNode,
  type Node,
  type SymlinkNode,
  type TreeNode,
} from '../../tree/node.js';
import type { Location, Tree, TreeState } from '../../tree/tree.js';
import type { Change } from '../changes.js';
import type { Context } from '../context.js';
import type { Access } from '../guard.js';
import type { OpenFiles } from '../open-files.js';
import { checkReach } from '../view/limits.js';
import type { ViewSource } from '../view/view-state.js';
import { View } from '../view.js';
import { locationAt, nodeAt, type TransactionRecord } from './transaction-record.js';

/** The view of a transaction in memory. It records the nodes that are relied on, and the steps that change the tree. */
export class TransactionView extends View {
  readonly #record: TransactionRecord;

  constructor(
    record: TransactionRecord,
    tree: Tree,
    context: Context,
    changes: Change[] | undefined,
    source: ViewSource | undefined,
    openFiles: OpenFiles | undefined,
  ) {
    super(tree, context, changes, source, undefined, openFiles);
    this.#record = record;
  }

  override find(path: string, follow: boolean, access: Access, syscall: string, makes?: EntryKind): Node | undefined {
    const node = super.find(path, follow, access, syscall, makes);
    this.#record.relyOnName(this.at.parent.directory, this.at.name);
    return node;
  }

  override peek(path: string, follow: boolean, access: Access, syscall: string, given?: string): Node | undefined {
    const node = super.peek(path, follow, access, syscall, given);
    this.#record.relyOnName(this.at.parent.directory, this.at.name);
    return node;
  }

  override lookup(location: Location, name: string, rest?: readonly string[]): TreeNode | undefined {
    this.#record.relyOnName(location.directory, name);
    return super.lookup(location, name, rest);
  }

  override list(location: Location): Entries<TreeNode> {
    this.#record.relyOn(location.directory, 'listing');
    return super.list(location);
  }

  override relyOnMeta(directory: DirectoryNode): void {
    this.#record.relyOn(directory, 'meta');
    super.relyOnMeta(directory);
  }

  override relyOnVersion(directory: DirectoryNode): void {
    this.#record.relyOn(directory, 'listing');
    super.relyOnVersion(directory);
  }

  override relyOnTree(directory: DirectoryNode): void {
    this.#record.relyOn(directory, 'tree');
    super.relyOnTree(directory);
  }

  override relyOnTotals(): void {
    this.#record.relyOn(this.tree.root, 'tree');
    super.relyOnTotals();
  }

  override relyOnNode(node: Node): void {
    this.#record.relyOnNode(node.id);
    super.relyOnNode(node);
  }

  override relyOnDepth(directory: DirectoryNode): void {
    this.relyOnTree(directory);
  }

  override create(parent: Location, name: string, node: Node, keepsTimes = false): void {
    super.create(parent, name, node, keepsTimes);
    if (node.kind !== DIRECTORY) {
      this.#did(parent, (view, at) => view.create(at, name, node, keepsTimes), node);
      return;
    }
    // The transaction may change its directory object further, so the step creates another.
    const { id, meta } = node;
    this.#did(parent, (view, at) => view.create(at, name, DirectoryNode.empty(view.tree.owner, id, meta), keepsTimes));
  }

  override addLink(
    from: Location,
    fromName: string,
    parent: Location,
    name: string,
    node: FileNode | SymlinkNode,
  ): void {
    super.addLink(from, fromName, parent, name, node);
    const { path } = from;
    this.#did(parent, (view, at) => {
      const source = locationAt(view, path);
      view.addLink(source, fromName, at, name, nodeAt(view, source, fromName, node.kind) as FileNode | SymlinkNode);
    });
  }

  override copyTree(
    source: DirectoryNode,
    from: string,
    parent: Location,
    name: string,
    meta: Metadata,
    keepTimes: boolean,
  ): void {
    this.relyOnTree(source);
    super.copyTree(source, from, parent, name, meta, keepTimes);
    this.#copied(parent, name);
  }

  override copyLeaf(
    source: FileNode | SymlinkNode,
    from: string,
    parent: Location,
    name: string,
    meta: Metadata,
  ): void {
    this.relyOnNode(source);
    super.copyLeaf(source, from, parent, name, meta);
    this.#copied(parent, name);
  }

  /** Records the creation of a copy. The step holds the node, so it is frozen: later changes here copy it first. */
  #copied(parent: Location, name: string): void {
    const copy = parent.directory.entries.get(name) as Node;
    this.tree.freeze();
    this.#did(parent, (view, at) => view.create(at, name, copy));
  }

  override remove(parent: Location, name: string): void {
    super.remove(parent, name);
    this.#did(parent, (view, at) => {
      wholeAt(view, at, name);
      view.remove(at, name);
    });
  }

  override move(from: Location, fromName: string, to: Location, toName: string): void {
    super.move(from, fromName, to, toName);
    const { path } = from;
    this.#did(to, (view, at) => {
      const source = locationAt(view, path);
      const directory = wholeAt(view, source, fromName);
      // Entries that other writers have added since may make the directory too deep.
      const target = joinPath(at.path, toName);
      if (directory !== undefined) checkReach(view, directory, target, 'rename', target);
      view.move(source, fromName, at, toName);
    });
  }

  override setContent(parent: Location, name: string, before: FileNode, node: FileNode): void {
    super.setContent(parent, name, before, node, []);
    this.#did(
      parent,
      (view, at) => view.setContent(at, name, nodeAt(view, at, name, FILE) as FileNode, node, []),
      node,
    );
  }

  override setMeta(parent: Location, name: string, node: Node, meta: Metadata): void {
    super.setMeta(parent, name, node, meta);
    this.#did(parent, (view, at) =>
      view.setMeta(at, name, name === '' ? view.tree.root : nodeAt(view, at, name, node.kind), meta),
    );
  }

  override setInode(id: NodeId, node: FileNode): void {
    super.setInode(id, node);
    this.#did(this.tree.rootLocation, (view) => view.setInode(id, node), node);
  }

  override restoreMeta(location: Location, meta: Metadata): void {
    this.relyOnMeta(location.directory);
    super.restoreMeta(location, meta);
    this.#did(location, (view, at) => view.restoreMeta(at, meta));
  }

  override become(state: TreeState): void {
    super.become(state);
    this.#did(this.tree.rootLocation, (view) => view.become(state));
  }

  override atomic<T>(work: () => T): T {
    const { done } = this.#record;
    try {
      return super.atomic(work);
    } catch (error) {
      this.#record.undo(done);
      throw error;
    }
  }

  #did({ path }: Location, run: (view: View, at: Location) => void, node?: Node): void {
    const bytes = node?.kind === FILE ? node.size : 0;
    this.#record.did(this.now(), (view) => run(view, locationAt(view, path)), bytes, this.tree.totals().size);
  }
}

/**
 * Returns the location of a directory under a name, loaded as far as its removal or move requires; undefined for
 * another kind of node.
 */
function wholeAt(view: View, parent: Location, name: string): Location | undefined {
  const node = nodeAt(view, parent, name);
  if (node.kind !== DIRECTORY) return undefined;
  const location = view.tree.childLocation(parent, name, node);
  view.loadTotals(location);
  return location;
}
