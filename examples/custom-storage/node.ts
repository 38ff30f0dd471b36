import { baseName, type NodeFact, parentPath, pathSegments, type Totals, type Write } from '@scratchfs/core';
import { type Content, EMPTY, write as writeContent } from './sparse.js';

/** A file, directory or symlink. One with several names is the same object under each. */
export interface Node extends Pick<NodeFact, 'id' | 'kind' | 'meta' | 'target'> {
  /** The number of the batch that last changed it, and of the one that last changed its names. */
  readonly version: number;
  readonly listing: number;
  readonly links: number;
  readonly content: Content;
  readonly names: Map<string, Node>;
}

export function newNode(fields: Pick<Node, 'id' | 'kind' | 'meta'> & Partial<Node>): Node {
  return { version: 0, listing: 0, links: 0, content: EMPTY, names: new Map(), ...fields };
}

/** The nodes along a path, from the root; undefined at the end where a name is missing. */
export function along(root: Node, path: string): (Node | undefined)[] {
  const found: (Node | undefined)[] = [root];
  for (const name of pathSegments(path)) {
    const last = found.at(-1);
    if (last?.kind !== 'directory') break;
    found.push(last.names.get(name));
  }
  return found;
}

export function find(root: Node, path: string): Node | undefined {
  const found = along(root, path);
  return found.length > pathSegments(path).length ? found.at(-1) : undefined;
}

export interface Summary {
  readonly totals: Totals;
  /** The newest version of all that is beneath, and of the directory itself. */
  readonly tree: number;
}

/** What is beneath a directory. With `linked`, a file with several names counts too, the first time it is met. */
export function summarize(node: Node, linked?: Set<Node>): Summary {
  const sum = { size: 0, files: 0, directories: 0, linked: 0 };
  let tree = Math.max(node.version, node.listing);
  for (const child of node.names.values()) {
    tree = Math.max(tree, child.version);
    if (child.kind === 'directory') {
      const beneath = summarize(child, linked);
      for (const key of ['size', 'files', 'directories', 'linked'] as const) sum[key] += beneath.totals[key];
      sum.directories++;
      tree = Math.max(tree, beneath.tree);
      continue;
    }
    sum.files++;
    if (child.links > 1) sum.linked++;
    if (child.links === 1 || linked?.has(child) === false) sum.size += child.content.size;
    linked?.add(child);
  }
  return { totals: sum, tree };
}

type Fields = { -readonly [K in keyof Node]?: Node[K] | undefined };

/** Makes one change, of the batch with this number, and pushes how to take it back. That it can be made was checked before. */
export function apply(root: Node, write: Write, version: number, undo: (() => void)[]): void {
  const at = (path: string) => find(root, path) as Node;
  const set = (node: Node, fields: Fields): void => {
    const before = { ...node };
    undo.push(() => Object.assign(node, before));
    Object.assign(node, fields);
  };
  const change = (node: Node, fields: Fields): void => set(node, { ...fields, version });
  const put = (path: string, node: Node): void => {
    const parent = at(parentPath(path));
    set(parent, { listing: version });
    set(node, { links: node.links + 1 });
    parent.names.set(baseName(path), node);
    undo.push(() => parent.names.delete(baseName(path)));
  };
  const take = (path: string): Node => {
    const parent = at(parentPath(path));
    const node = at(path);
    set(parent, { listing: version });
    set(node, { links: node.links - 1 });
    parent.names.delete(baseName(path));
    undo.push(() => parent.names.set(baseName(path), node));
    return node;
  };
  /** A node has lost a name: what has others stays, else all beneath it loses one. */
  const lose = (node: Node, time: number): void => {
    if (node.links > 0) change(node, { meta: { ...node.meta, ctime: time } });
    else
      for (const child of node.names.values()) {
        set(child, { links: child.links - 1 });
        lose(child, time);
      }
  };
  const copy = (source: Node, to: string, id: Node['id'], meta: Node['meta'], times: object): void => {
    put(to, { ...source, id, meta, version, listing: version, links: 0, names: new Map() });
    for (const [name, child] of source.names) {
      copy(child, `${to}/${name}`, `${id}/${name}`, { ...child.meta, uid: 0, gid: 0, ...times }, times);
    }
  };
  switch (write.kind) {
    case 'create': {
      const { path, id, type: kind, meta, target } = write;
      const bytes = target === undefined ? write.content : new TextEncoder().encode(target);
      const content = bytes ? writeContent(EMPTY, bytes.length, [{ offset: 0, bytes }]) : EMPTY;
      put(
        path,
        newNode({ id, kind, meta, version, listing: version, content, ...(target !== undefined && { target }) }),
      );
      break;
    }
    case 'link':
      change(at(write.from), {});
      put(write.path, at(write.from));
      break;
    case 'remove':
      lose(take(write.path), write.time);
      break;
    case 'move':
      put(write.to, take(write.from));
      change(at(write.to), { meta: { ...at(write.to).meta, ctime: write.time } });
      break;
    case 'copy': {
      const { from, to, id, meta, time, keepTimes } = write;
      const times = { ctime: time, birthtime: time, ...(!keepTimes && { atime: time, mtime: time }) };
      copy(at(from), to, id, meta, times);
      break;
    }
    case 'write': {
      const content = writeContent(at(write.path).content, write.size, write.parts);
      change(at(write.path), { content, meta: write.meta });
      break;
    }
    case 'meta':
      change(at(write.path), { meta: write.meta });
      break;
    case 'touch':
      change(at(write.path), { meta: { ...at(write.path).meta, mtime: write.time, ctime: write.time } });
      break;
    case 'clear':
      change(root, { meta: write.meta, listing: version, names: new Map() });
  }
}
