import type { Check, Listing, LoadRequest, LoadResult, NodeRecord, Version } from '../../backend.js';
import { baseName, parentPath, pathSegments } from '../../paths.js';
import type { ContentNode } from '../../tree/content.js';
import { readPage } from '../../tree/entries-cursor.js';
import { DIRECTORY, type DirectoryNode, FILE, kindName, type Node, SYMLINK, type TreeNode } from '../../tree/node.js';
import type { Tree } from '../../tree/tree.js';

/** Versions of immutable objects: a changed file, or changed metadata, is another object. */
export type Versions = WeakMap<object, Version>;

/** Serves load requests from a tree in memory. */
export class TreeReader {
  readonly #tree: Tree;
  readonly #versions: Versions;

  constructor(tree: Tree, versions: Versions) {
    this.#tree = tree;
    this.#versions = versions;
  }

  load(request: LoadRequest): LoadResult {
    if (request.kind === 'path') return this.#loadPath(request.path, request.content);
    const found = this.find(request.at.path);
    if (found?.node.id !== request.at.id) return { kind: 'gone' };
    if (request.kind === 'content') {
      if (found.node.kind !== FILE) return { kind: 'gone' };
      const { contents } = this.#tree.shared;
      const bytes = contents.slice(found.node as ContentNode, request.offset, request.offset + request.length);
      return { kind: 'content', file: this.#record(found.entry, found.node), offset: request.offset, bytes };
    }
    if (found.node.kind !== DIRECTORY) return { kind: 'gone' };
    if (request.kind === 'tree') return this.#loadTree(found.node, request.budget, request.contents);
    const page = readPage(found.node.entries.cursor(request.after), request.limit);
    const nodes = page.values.map((entry) => this.#record(entry));
    return { kind: 'list', directory: this.#record(found.node), names: page.names, nodes, complete: page.complete };
  }

  #loadPath(path: string, content: number): LoadResult {
    let node: Node = this.#tree.root;
    const nodes: (NodeRecord | null)[] = [this.#record(node)];
    for (const name of pathSegments(path)) {
      if (node.kind !== DIRECTORY) break;
      const entry: TreeNode | undefined = node.entries.get(name);
      const next: Node | undefined = this.#tree.resolve(entry);
      if (entry === undefined || next === undefined) {
        nodes.push(null);
        return { kind: 'path', nodes };
      }
      nodes.push(this.#record(entry, next));
      node = next;
    }
    if (node.kind !== FILE || node.size > content) return { kind: 'path', nodes };
    return { kind: 'path', nodes, content: this.#tree.shared.contents.bytes(node as ContentNode) };
  }

  #loadTree(directory: DirectoryNode, budget: number, withContents: boolean): LoadResult {
    const listings: Listing[] = [];
    const pending: { path: string; node: DirectoryNode }[] = [{ path: '', node: directory }];
    let used = 0;
    for (let i = 0; i < pending.length && (used < budget || i === 0); i++) {
      const { path, node } = pending[i] as { path: string; node: DirectoryNode };
      const names = node.entries.names();
      const entries = node.entries.values();
      const contents: (Uint8Array | undefined)[] = [];
      entries.forEach((entry, at) => {
        const child = this.#tree.resolve(entry) as Node;
        const name = names[at] as string;
        used += 120 + name.length;
        if (child.kind === DIRECTORY) pending.push({ path: path === '' ? name : `${path}/${name}`, node: child });
        else if (withContents && child.kind === FILE && used + child.size <= budget) {
          contents[at] = this.#tree.shared.contents.bytes(child as ContentNode);
          used += child.size;
        }
      });
      listings.push({ path, names, nodes: entries.map((entry) => this.#record(entry)), contents });
    }
    return { kind: 'tree', directory: this.#record(directory), listings };
  }

  #record(entry: TreeNode, node = this.#tree.resolve(entry) as Node): NodeRecord {
    const record = {
      id: node.id,
      kind: kindName(node),
      meta: node.meta,
      version: this.#versionOf(node),
      size: node.kind === DIRECTORY ? 0 : node.size,
      links: this.#tree.linksOf(entry),
    };
    if (node.kind === SYMLINK) return { ...record, target: node.target };
    if (node.kind !== DIRECTORY) return record;
    const isRoot = node === this.#tree.root;
    const { size, files, directories, linked } = isRoot ? this.#tree.totals() : node;
    return {
      ...record,
      directory: {
        listing: node.listing,
        tree: this.#treeVersion(node),
        count: node.entries.size,
        totals: { size, files, directories, linked },
      },
    };
  }

  #versionOf(node: Node): Version {
    const key = node.kind === DIRECTORY ? node.meta : node;
    let version = this.#versions.get(key);
    if (version === undefined) {
      version = this.#tree.shared.newVersion();
      this.#versions.set(key, version);
    }
    return version;
  }

  /**
   * Returns a version that changes with anything under the directory. Files with several names are stored in the inode
   * table, so a directory with such files also gets the version of that table, which changes with any of them.
   */
  #treeVersion(directory: DirectoryNode): Version {
    return directory.linked > 0 ? `${directory.version}+${this.#tree.inodesVersion}` : directory.version;
  }

  find(path: string): { entry: TreeNode; node: Node } | undefined {
    const entry = this.#entryAt(path);
    const node = this.#tree.resolve(entry);
    return entry === undefined || node === undefined ? undefined : { entry, node };
  }

  #entryAt(path: string): TreeNode | undefined {
    if (path === '/') return this.#tree.root;
    const parent = this.#tree.cachedLocation(parentPath(path));
    if (parent !== undefined) return parent.directory.entries.get(baseName(path));
    let entry: TreeNode | undefined = this.#tree.root;
    for (const name of pathSegments(path)) entry = entry?.kind === DIRECTORY ? entry.entries.get(name) : undefined;
    return entry;
  }

  /** Reports whether a precondition holds now. */
  holds(check: Check): boolean {
    const found = this.find(check.path);
    if (check.kind === 'entry' && check.id === null) return found === undefined;
    if (found === undefined || found.node.id !== check.id) return false;
    if (check.kind === 'entry') return check.version === undefined || check.version === this.#versionOf(found.node);
    if (found.node.kind !== DIRECTORY) return false;
    if (check.kind === 'empty') return found.node.entries.size === 0;
    return check.version === (check.kind === 'listing' ? found.node.listing : this.#treeVersion(found.node));
  }
}
