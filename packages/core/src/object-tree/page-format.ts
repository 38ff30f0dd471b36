import type { Metadata, NodeId, Version } from '../backend.js';
import type { Versions } from '../engine/tree-backend/tree-reader.js';
import type { ContentNode } from '../tree/content.js';
import { Entries } from '../tree/entries.js';
import { type EntriesNode, Inner, Leaf } from '../tree/entries-node.js';
import {
  DIRECTORY,
  DirectoryNode,
  FILE,
  FileNode,
  type Inode,
  LINKED,
  LinkedNode,
  SYMLINK,
  type SymlinkNode,
  type TreeNode,
} from '../tree/node.js';
import { Owner } from '../tree/owner.js';
import { symlinkNode } from '../tree/tree.js';
import { ByteReader, ByteWriter } from './bytes.js';
import { CopiedNodes, type Copying, isCopyingId, seenThrough } from './copies.js';
import { corrupt } from './corrupt.js';
import { type Extent, Extents, Piece } from './extents.js';
import { parseObjectName } from './object-name.js';
import type { Ref } from './ref.js';

// Kinds of pages, in their first byte.

const LEAF_PAGE = 1;
const INNER_PAGE = 2;
const INODE_PAGE = 3;
/** An inner node of a copied directory: children may be pages of the copy's source. */
const COPIED_INNER_PAGE = 4;
/** Added to the number of levels of a copied directory whose top page is that of the copy's source. */
const COPIED_LEVELS = 64;
// Encodings of a copy's atime and mtime: the source's, the copy's ctime, or explicit values.

const TIMES_OF_SOURCE = 0;
const TIMES_AS_CTIME = 1;
const TIMES_EXPLICIT = 2;

const IS_NUMBER = 0x80;
const SAME_CTIME = 1;
const SAME_ATIME = 2;
const SAME_BIRTHTIME = 4;

/** Owner of stored parts, which no tree has: they are copied before a change. */
const STORED = new Owner();

/** Location of bytes in an object. */
export interface ByteLocation {
  /** Name of the object; undefined for the one being written. */
  readonly object: string | undefined;
  /** First byte. For contents it counts from the end of the object's pages. */
  readonly offset: number;
  readonly length: number;
  readonly hash: number;
}

/** Location of a page; if it is shared with the source of a copy, also the copying that changes its ids and times. */
export interface PageLocation extends ByteLocation {
  readonly copying?: Copying | undefined;
}

/** Versions of nodes, and locations of the parts that a written page refers to. */
export interface PageContext {
  versionOf(key: object): Version;
  /** Returns the location of a part of a directory. Writes the part first if necessary. */
  pageOf(entries: EntriesNode<TreeNode>, height: number): PageLocation;
  pieceOf(piece: Piece): ByteLocation;
  extentsOf(file: FileNode): readonly Extent[];
}

/** Encodes a part of a directory as a page. */
export function encodePage(node: EntriesNode<TreeNode>, height: number, context: PageContext): Uint8Array<ArrayBuffer> {
  const page = new PageWriter(context);
  if (height === 0) {
    const { names, values } = node as Leaf<TreeNode>;
    page.body.number(names.length);
    names.forEach((name, i) => {
      page.body.text(name);
      page.node(values[i] as TreeNode);
    });
    return page.done(LEAF_PAGE);
  }
  const { keys, children } = node as Inner<TreeNode>;
  const places = children.map((child) => context.pageOf(child, height - 1));
  const isCopied = places.some(({ copying }) => copying !== undefined);
  page.body.number(keys.length);
  keys.forEach((key, i) => {
    const place = places[i] as PageLocation;
    page.body.text(key);
    page.place(place);
    if (isCopied) {
      page.body.byte(place.copying === undefined ? 0 : 1);
      page.copying(place.copying);
    }
  });
  return page.done(isCopied ? COPIED_INNER_PAGE : INNER_PAGE);
}

/** Encodes the page of all files and symlinks with several names. */
export function encodeInodes(inodes: ReadonlyMap<NodeId, Inode>, context: PageContext): Uint8Array<ArrayBuffer> {
  const page = new PageWriter(context);
  page.body.number(inodes.size);
  for (const { node, links } of inodes.values()) {
    page.body.number(links);
    page.node(node);
  }
  return page.done(INODE_PAGE);
}

class PageWriter {
  readonly body = new ByteWriter();
  readonly #context: PageContext;
  readonly #objects = new Map<string, number>();

  constructor(context: PageContext) {
    this.#context = context;
  }

  node(node: TreeNode): void {
    const { body } = this;
    body.byte(node.kind | (typeof node === 'object' && 'id' in node && typeof node.id === 'number' ? IS_NUMBER : 0));
    if (!('id' in node)) throw new Error('An absent name is never stored');
    if (typeof node.id === 'number') body.number(node.id);
    else body.text(node.id);
    if (node.kind === LINKED) return;
    body.number(this.#context.versionOf(node.kind === DIRECTORY ? node.meta : node) as number);
    this.#meta(node.meta);
    if (node.kind === SYMLINK) body.text(node.target);
    else if (node.kind === FILE) {
      body.number(node.size);
      this.#extents(this.#context.extentsOf(node));
    } else this.#directory(node as DirectoryNode);
  }

  place({ object, offset, length, hash }: ByteLocation): void {
    const { body } = this;
    body.number(this.#objectIndex(object));
    body.number(offset);
    body.number(length);
    body.word(hash);
  }

  copying(copying: Copying | undefined): void {
    if (copying === undefined) return;
    const { id, commit, time, touched } = copying;
    this.body.text(id);
    this.body.number(commit);
    this.body.double(time);
    this.body.byte(touched === undefined ? TIMES_OF_SOURCE : touched === time ? TIMES_AS_CTIME : TIMES_EXPLICIT);
    if (touched !== undefined && touched !== time) this.body.double(touched);
  }

  /** Returns the page, with the names of the objects that it refers to at its start. */
  done(kind: number): Uint8Array<ArrayBuffer> {
    const page = new ByteWriter();
    page.byte(kind);
    page.number(this.#objects.size);
    for (const name of this.#objects.keys()) page.text(name);
    page.raw(this.body.done());
    return page.done();
  }

  #directory(node: DirectoryNode): void {
    const { body } = this;
    const { root, height, count } = node.entries.parts;
    const { size, files, directories, linked } = node;
    const numbers = [node.listing, node.version, size, files, directories, linked, node.height, node.reach, count];
    for (const number of numbers) body.number(number as number);
    if (count === 0) return;
    const place = this.#context.pageOf(root, height);
    body.number(height + (place.copying === undefined ? 0 : COPIED_LEVELS));
    this.place(place);
    this.copying(place.copying);
  }

  #extents(extents: readonly Extent[]): void {
    this.body.number(extents.length);
    for (const { size, from, piece } of extents) {
      this.body.number(size);
      this.body.byte(piece === null ? 0 : 1);
      if (piece === null) continue;
      this.body.number(from);
      this.place(this.#context.pieceOf(piece));
    }
  }

  #meta({ mode, uid, gid, mtime, ctime, atime, birthtime }: Metadata): void {
    const { body } = this;
    body.byte(
      (ctime === mtime ? SAME_CTIME : 0) |
        (atime === mtime ? SAME_ATIME : 0) |
        (birthtime === mtime ? SAME_BIRTHTIME : 0),
    );
    body.number(mode);
    body.number(uid);
    body.number(gid);
    body.double(mtime);
    if (ctime !== mtime) body.double(ctime);
    if (atime !== mtime) body.double(atime);
    if (birthtime !== mtime) body.double(birthtime);
  }

  /** Returns the index of an object; 0 is the one being written. */
  #objectIndex(object: string | undefined): number {
    if (object === undefined) return 0;
    const known = this.#objects.get(object);
    if (known !== undefined) return known;
    this.#objects.set(object, this.#objects.size + 1);
    return this.#objects.size;
  }
}

/** Context in which decoded pages become nodes of a tree. */
export interface DecodeContext {
  readonly versions: Versions;
  /** Returns a stand-in for a page that is loaded on demand. */
  page(ref: Ref, copying: Copying | undefined): EntriesNode<TreeNode>;
}

/** @throws StorageError `corrupt` */
export function decodePage(
  ref: Ref,
  bytes: Uint8Array,
  context: DecodeContext,
  copying?: Copying,
): EntriesNode<TreeNode> {
  const page = new PageReader(ref, bytes, context, copying);
  const count = page.body.count();
  if (page.kind === LEAF_PAGE) {
    const names: string[] = [];
    const values: TreeNode[] = [];
    for (let i = 0; i < count; i++) {
      names.push(page.body.text());
      values.push(page.node());
    }
    page.body.end();
    return new Leaf<TreeNode>(null, names, values);
  }
  if (page.kind !== INNER_PAGE && page.kind !== COPIED_INNER_PAGE)
    throw corrupt('a page is of another kind than was expected');
  const keys: string[] = [];
  const children: EntriesNode<TreeNode>[] = [];
  for (let i = 0; i < count; i++) {
    keys.push(page.body.text());
    const child = page.pageRef();
    children.push(context.page(child, page.copying(page.kind === COPIED_INNER_PAGE ? page.body.byte() : 0)));
  }
  page.body.end();
  const inner = new Inner<TreeNode>(STORED, keys, children);
  inner.prefix = 0;
  return inner;
}

/** @throws StorageError `corrupt` */
export function decodeInodes(ref: Ref, bytes: Uint8Array, context: DecodeContext): Map<NodeId, Inode> {
  const page = new PageReader(ref, bytes, context);
  if (page.kind !== INODE_PAGE) throw corrupt('a page is of another kind than was expected');
  const inodes = new Map<NodeId, Inode>();
  for (let count = page.body.count(); count > 0; count--) {
    const links = page.body.number();
    const node = page.node();
    if (node.kind !== FILE && node.kind !== SYMLINK) throw corrupt('a directory has several names');
    inodes.set(node.id, { node, links });
  }
  page.body.end();
  return inodes;
}

class PageReader {
  readonly body: ByteReader;
  readonly kind: number;
  readonly #objects: string[];
  readonly #context: DecodeContext;
  readonly #copying: Copying | undefined;
  readonly #copied: CopiedNodes | undefined;

  constructor(ref: Ref, bytes: Uint8Array, context: DecodeContext, copying?: Copying) {
    this.body = new ByteReader(bytes);
    this.kind = this.body.byte();
    this.#context = context;
    this.#copying = copying;
    this.#copied = copying === undefined ? undefined : new CopiedNodes(ref, copying);
    this.#objects = [ref.object];
    for (let count = this.body.count(); count > 0; count--) this.#objects.push(this.body.text());
  }

  node(): TreeNode {
    const { body } = this;
    const first = body.byte();
    const kind = first & ~IS_NUMBER;
    const stored: NodeId = first === kind ? body.text() : body.number();
    if (kind === LINKED) return new LinkedNode(stored);
    const ofStored = body.number();
    const version = this.#copying?.commit ?? ofStored;
    const id = this.#copied?.nextId() ?? stored;
    const own = this.#meta();
    const meta = this.#copied?.meta(own) ?? own;
    const { versions } = this.#context;
    if (kind === DIRECTORY) {
      versions.set(meta, version);
      return this.#directory(id, meta);
    }
    let node: FileNode | SymlinkNode;
    if (kind === SYMLINK) node = symlinkNode(id, meta, body.text());
    else if (kind === FILE) node = this.#file(id, meta);
    else throw corrupt('a node is of an unknown kind');
    versions.set(node, version);
    return node;
  }

  pageRef(): Ref {
    const { body } = this;
    const object = this.#object(body.number());
    return { object, offset: body.number(), length: body.number(), hash: body.word() };
  }

  /**
   * Reads the copying of a location, if it has one, combined with that of the page itself.
   * @throws StorageError `corrupt`
   */
  copying(count: number): Copying | undefined {
    if (count === 0) return this.#copying;
    if (count !== 1) throw corrupt('a page is seen through several copyings');
    const { body } = this;
    const id = body.text();
    if (!isCopyingId(id)) throw corrupt('a copying has no id');
    const commit = body.number();
    const time = body.double();
    const times = body.byte();
    if (times > TIMES_EXPLICIT) throw corrupt('the times of a copying are unknown');
    const touched = times === TIMES_OF_SOURCE ? undefined : times === TIMES_AS_CTIME ? time : body.double();
    return seenThrough({ id, commit, time, touched }, this.#copying);
  }

  #file(id: NodeId, meta: Metadata): FileNode {
    const { body } = this;
    const file = new FileNode(id, meta);
    const size = body.number();
    const list: Extent[] = [];
    let end = 0;
    for (let count = body.count(); count > 0; count--) {
      const extent = this.#extent();
      list.push(extent);
      end += extent.size;
    }
    if (end !== size) throw corrupt('the parts of a file are not its size');
    (file as ContentNode).data = list.length === 0 ? null : new Extents(list);
    file.size = size;
    return file;
  }

  #extent(): Extent {
    const { body } = this;
    const size = body.number();
    if (body.byte() === 0) return { size, from: 0, piece: null };
    const from = body.number();
    const relative = this.pageRef();
    const { pages } = parseObjectName(relative.object);
    const stored = { ...relative, offset: pages + relative.offset };
    if (from + size > stored.length) throw corrupt('a part of a file is longer than what it is taken from');
    return { size, from, piece: new Piece(stored.length, undefined, stored) };
  }

  #directory(id: NodeId, meta: Metadata): DirectoryNode {
    const { body } = this;
    const directory = DirectoryNode.empty(STORED, id, meta);
    directory.listing = body.number();
    directory.version = body.number();
    if (this.#copying !== undefined) directory.listing = directory.version = this.#copying.commit;
    directory.size = body.number();
    directory.files = body.number();
    directory.directories = body.number();
    directory.linked = body.number();
    directory.height = body.number();
    directory.reach = body.number();
    const count = body.number();
    if (count === 0) return directory;
    const levels = body.number();
    const page = this.pageRef();
    const copying = this.copying(Math.floor(levels / COPIED_LEVELS));
    directory.entries = Entries.fromParts({
      root: this.#context.page(page, copying),
      height: levels % COPIED_LEVELS,
      count,
    });
    return directory;
  }

  #meta(): Metadata {
    const { body } = this;
    const same = body.byte();
    const mode = body.number();
    const uid = body.number();
    const gid = body.number();
    const mtime = body.double();
    const ctime = (same & SAME_CTIME) !== 0 ? mtime : body.double();
    const atime = (same & SAME_ATIME) !== 0 ? mtime : body.double();
    const birthtime = (same & SAME_BIRTHTIME) !== 0 ? mtime : body.double();
    return { mode, uid, gid, atime, mtime, ctime, birthtime };
  }

  #object(index: number): string {
    const object = this.#objects[index];
    if (object === undefined) throw corrupt('a page points to an object that it does not name');
    return object;
  }
}
