import type { Subject } from './subject.js';

const decoder = new TextDecoder();

const missing = (path: string): Error => new Error(`There is no ${path}`);

/** A Map from path to bytes, copied in and out: the minimum that stores files. It has no directories. */
export function flatMap(): Subject {
  const files = new Map<string, Uint8Array>();
  const get = (path: string): Uint8Array => {
    const bytes = files.get(path);
    if (bytes === undefined) throw missing(path);
    return bytes;
  };
  const beneath = (path: string) => [...files.keys()].filter((key) => key.startsWith(`${path}/`));
  return {
    isAsync: false,
    mkdir: () => undefined,
    write: (path, data) => files.set(path, data.slice()),
    read: (path) => get(path).slice(),
    readText: (path) => decoder.decode(get(path)),
    size: (path) => get(path).length,
    exists: (path) => files.has(path),
    list: (path) =>
      [...new Set(beneath(path).map((key) => key.slice(path.length + 1).split('/', 1)[0] as string))].sort(),
    append: (path, data) => {
      const old = files.get(path) ?? new Uint8Array(0);
      const bytes = new Uint8Array(old.length + data.length);
      bytes.set(old);
      bytes.set(data, old.length);
      files.set(path, bytes);
    },
    remove: (path) => {
      for (const key of beneath(path)) files.delete(key);
      files.delete(path);
    },
    copy: (from, to) => {
      for (const key of beneath(from)) files.set(to + key.slice(from.length), get(key).slice());
    },
    rename: (from, to) => {
      for (const key of beneath(from)) {
        files.set(to + key.slice(from.length), get(key));
        files.delete(key);
      }
    },
  };
}

type Tree = Map<string, Tree | Uint8Array>;

/**
 * Maps in Maps, one per directory, and one copy of the bytes in and out. No checks, no metadata, no order except in
 * listings. The lower bound of a path-keyed tree.
 */
export function treeFloor(root: Tree = new Map()): Subject {
  const walkTo = (path: string, end: number): Tree => {
    let at = root;
    let start = 1;
    while (start < end) {
      let next = path.indexOf('/', start);
      if (next === -1 || next > end) next = end;
      const child = at.get(path.slice(start, next));
      if (!(child instanceof Map)) throw missing(path);
      at = child;
      start = next + 1;
    }
    return at;
  };
  const parentOf = (path: string): Tree => walkTo(path, path.lastIndexOf('/'));
  const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
  const find = (path: string): Tree | Uint8Array | undefined => parentOf(path).get(nameOf(path));
  const bytesOf = (path: string): Uint8Array => {
    const bytes = find(path);
    if (!(bytes instanceof Uint8Array)) throw missing(path);
    return bytes;
  };
  const directory = (path: string): Tree => walkTo(path, path.length);
  const copied = (node: Tree | Uint8Array): Tree | Uint8Array =>
    node instanceof Map ? new Map([...node].map(([name, child]) => [name, copied(child)])) : node.slice();
  /** Returns a listing sorted by name, also with types. */
  const entriesOf = (tree: Tree) =>
    [...tree].map(([name, child]) => ({ name, child })).sort((a, b) => (a.name < b.name ? -1 : 1));
  const countAll = (tree: Tree): number => {
    let count = 0;
    for (const { child } of entriesOf(tree)) count += child instanceof Map ? 1 + countAll(child) : 1;
    return count;
  };
  return {
    isAsync: false,
    mkdir: (path) => {
      let at = root;
      for (const name of path.split('/').filter(Boolean)) {
        let child = at.get(name);
        if (child === undefined) at.set(name, (child = new Map()));
        at = child as Tree;
      }
    },
    write: (path, data) => parentOf(path).set(nameOf(path), data.slice()),
    read: (path) => bytesOf(path).slice(),
    readText: (path) => decoder.decode(bytesOf(path)),
    size: (path) => bytesOf(path).length,
    exists: (path) => find(path) !== undefined,
    list: (path) => [...directory(path).keys()].sort(),
    append: (path, data) => {
      const old = find(path);
      const before = old instanceof Uint8Array ? old : new Uint8Array(0);
      const bytes = new Uint8Array(before.length + data.length);
      bytes.set(before);
      bytes.set(data, before.length);
      parentOf(path).set(nameOf(path), bytes);
    },
    remove: (path) => parentOf(path).delete(nameOf(path)),
    copy: (from, to) => parentOf(to).set(nameOf(to), copied(find(from) as Tree)),
    rename: (from, to) => {
      parentOf(to).set(nameOf(to), find(from) as Tree);
      parentOf(from).delete(nameOf(from));
    },
    countFiles: (path) => entriesOf(directory(path)).filter(({ child }) => child instanceof Uint8Array).length,
    countAll: (path) => countAll(directory(path)),
    writer: (path) => {
      const bytes = bytesOf(path);
      return (data, position) => bytes.set(data, position);
    },
    save: () => saveTree(root),
    load: (saved) => loadTree(root, saved),
  };
}

/** Names and sizes as a tree. */
type Shape = { [name: string]: Shape | number };

/** Copies each content once, after names and sizes as JSON: no checksum, no metadata. */
function saveTree(root: Tree): Uint8Array {
  const contents: Uint8Array[] = [];
  let size = 0;
  const shapeOf = (tree: Tree): Shape => {
    const shape: Shape = {};
    for (const [name, child] of tree) {
      if (child instanceof Map) shape[name] = shapeOf(child);
      else {
        shape[name] = child.length;
        contents.push(child);
        size += child.length;
      }
    }
    return shape;
  };
  const head = new TextEncoder().encode(JSON.stringify(shapeOf(root)));
  const saved = new Uint8Array(4 + head.length + size);
  new DataView(saved.buffer).setUint32(0, head.length);
  saved.set(head, 4);
  let at = 4 + head.length;
  for (const content of contents) {
    saved.set(content, at);
    at += content.length;
  }
  return saved;
}

function loadTree(root: Tree, saved: Uint8Array): void {
  let at = 4 + new DataView(saved.buffer, saved.byteOffset).getUint32(0);
  const fill = (tree: Tree, shape: Shape): Tree => {
    for (const [name, child] of Object.entries(shape)) {
      if (typeof child === 'number') tree.set(name, saved.slice(at, (at += child)));
      else tree.set(name, fill(new Map(), child));
    }
    return tree;
  };
  fill(root, JSON.parse(decoder.decode(saved.subarray(4, at))) as Shape);
}
