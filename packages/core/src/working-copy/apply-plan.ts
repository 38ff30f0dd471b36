import type { Metadata, NodeId, Part, Write } from '../backend.js';
import type { Steps } from '../engine/scheduling/time-slice.js';
import type { View } from '../engine/view.js';
import { FsError } from '../errors.js';
import { baseName, joinPath, MAX_DEPTH, MAX_PATH_BYTES, parentPath, pathSegments, utf8Length } from '../paths.js';
import type { ContentNode } from '../tree/content.js';
import {
  DIRECTORY,
  DirectoryNode,
  FILE,
  type FileNode,
  type Node,
  type SymlinkNode,
  type TreeNode,
} from '../tree/node.js';
import { sameBytes } from '../tree/same-bytes.js';
import type { Location } from '../tree/tree.js';
import { type Addition, type Alteration, isMove, type Move, type Plan, type Removal } from './plan.js';
import { isSameOwner, sameMeta } from './same-state.js';

/** Bytes of a part: contents are compared part by part, and parts that differ are sent whole. */
const PART_BYTES = 64 * 1024;

/** An existing name in the view's tree with its node. */
interface At {
  readonly parent: Location;
  readonly name: string;
  readonly entry: TreeNode;
  readonly node: Node;
}

/**
 * Applies a plan, whose entries were checked and loaded before.
 * @throws FsError ENAMETOOLONG before anything is changed, if the path of an added or moved entry is too long or too deep;
 *   what is in a moved directory is not looked at
 */
export function* applyPlanSteps(view: View, plan: Plan): Steps<void> {
  for (const step of plan.leaving) if (isMove(step)) checkPath(step.to);
  for (const step of plan.coming) if (!isMove(step)) checkPath(step.path);
  yield* new Worker(view, plan).run();
}

class Worker {
  readonly #temporary = new Map<Move, string>();
  /** Metadata of directories that are created here. */
  readonly #made = new Map<string, Metadata>();
  /** Metadata of directories before their names are changed here. */
  readonly #before = new Map<NodeId, Metadata>();
  /** New ctimes of the nodes that are changed here. */
  readonly #times = new Map<NodeId, number>();

  constructor(
    readonly view: View,
    readonly plan: Plan,
  ) {}

  *run(): Steps<void> {
    const { view, plan } = this;
    const writes = view.recorder?.writes;
    const from = writes?.length ?? 0;
    const before = this.#before;
    for (const { path, id } of plan.touched) before.set(id, this.#directory(path).directory.meta);
    before.set(view.tree.root.id, view.tree.root.meta);
    for (const { before: old, after } of plan.altered) this.#times.set(old.id, after.meta.ctime);
    for (const step of plan.leaving) {
      this.#leave(step);
      yield;
    }
    for (const step of plan.coming) {
      this.#come(step);
      yield;
    }
    // The times of directories are set once, at the end.
    if (writes !== undefined) for (const write of writes.splice(from)) if (write.kind !== 'touch') writes.push(write);
    const { root } = view.tree;
    const wanted = new Map<string, { before: Metadata; after: Metadata }>();
    for (const [path, meta] of this.#made) wanted.set(path, { before: meta, after: meta });
    for (const { to, id } of [...plan.touched, { to: '/', id: root.id }]) {
      const meta = before.get(id) as Metadata;
      wanted.set(to, { before: meta, after: meta });
    }
    for (const alteration of plan.altered) {
      const { before: old, after, to } = alteration;
      if (old.kind === DIRECTORY)
        wanted.set(to, { before: wanted.get(to)?.before ?? this.#directory(to).directory.meta, after: after.meta });
      else this.#alter(alteration);
      yield;
    }
    for (const [path, { before: old, after }] of wanted) {
      this.#setDirectoryMeta(path, old, after);
      yield;
    }
  }

  #leave(step: Removal | Move): void {
    const { parent, name, node } = this.#at(step.path);
    if (!isMove(step)) this.view.remove(parent, name);
    else if (step.isDirect) this.#move(step.path, step.to, node);
    else {
      const to = this.#freeName();
      this.#temporary.set(step, to);
      this.#move(step.path, to, node);
    }
  }

  #come(step: Addition | Move): void {
    if (isMove(step)) {
      const from = this.#temporary.get(step) as string;
      this.#move(from, step.to, this.#at(from).node);
      return;
    }
    const { path, node, linkTo } = step;
    if (linkTo === undefined) this.#create(path, node);
    else {
      const from = this.#at(linkTo);
      this.view.addLink(
        from.parent,
        from.name,
        this.#directory(parentPath(path)),
        baseName(path),
        from.node as FileNode,
      );
      this.#setMeta(path, node.meta);
    }
  }

  #create(path: string, node: Node): void {
    const { view } = this;
    const parent = this.#directory(parentPath(path));
    if (node.kind !== DIRECTORY) {
      view.create(parent, baseName(path), node);
      return;
    }
    view.create(parent, baseName(path), DirectoryNode.empty(view.tree.owner, node.id, node.meta));
    this.#made.set(path, node.meta);
  }

  /** Moves a name. The times come from the plan: they are not those that a rename would set. */
  #move(from: string, to: string, node: Node): void {
    const old = this.#before.get(node.id) ?? node.meta;
    const meta = { ...old, ctime: this.#times.get(node.id) ?? old.ctime };
    const { parent, name } = this.#at(from);
    this.view.move(parent, name, this.#directory(parentPath(to)), baseName(to));
    const writes = this.view.recorder?.writes;
    const last = writes?.findLastIndex(({ kind }) => kind === 'move') ?? -1;
    if (writes !== undefined && last >= 0)
      writes[last] = { ...(writes[last] as Extract<Write, { kind: 'move' }>), time: meta.ctime };
    this.#setQuietly(to, meta);
  }

  #freeName(): string {
    const { view } = this;
    for (;;) {
      const name = `.moving-${String(view.context.newId())}`;
      if (view.tree.root.entries.get(name) === undefined) return joinPath('/', name);
    }
  }

  #alter({ to, before, after }: Alteration): void {
    const { parent, name, node } = this.#at(to);
    if (before.kind === FILE && after.kind === FILE && node.kind === FILE && !this.#isSameContent(before, after)) {
      this.view.setContent(parent, name, node, after, this.#parts(before, after));
      return;
    }
    if (!sameMeta(node.meta, after.meta)) this.#setMeta(to, after.meta);
  }

  #isSameContent(before: FileNode, after: FileNode): boolean {
    return this.view.tree.shared.contents.equal(before as ContentNode, after as ContentNode);
  }

  /** Returns the parts of a file's new content that differ, for the recorder; none without a recorder. */
  #parts(before: FileNode, after: FileNode): Part[] {
    const { contents } = this.view.tree.shared;
    const parts: Part[] = [];
    if (this.view.recorder === undefined) return parts;
    for (let offset = 0; offset < after.size; offset += PART_BYTES) {
      const bytes = contents.slice(after as ContentNode, offset, offset + PART_BYTES);
      const old = contents.slice(before as ContentNode, offset, offset + PART_BYTES);
      if (old.length < bytes.length || !sameBytes(old, bytes, bytes.length)) parts.push({ offset, bytes });
    }
    return parts;
  }

  #setMeta(path: string, meta: Metadata): void {
    const { parent, name, node } = this.#at(path);
    this.view.setMeta(parent, name, node, meta);
  }

  /** Sets metadata in the tree without recording a write: a recorded write contains it already. */
  #setQuietly(path: string, meta: Metadata): void {
    const { tree } = this.view;
    const { parent, name, entry, node } = this.#at(path);
    if (node.kind === DIRECTORY) tree.setDirectoryMeta(this.#directory(path), meta);
    else tree.replace(parent, name, entry, tree.withMeta(node as SymlinkNode, meta));
  }

  #setDirectoryMeta(path: string, before: Metadata, after: Metadata): void {
    const { view } = this;
    const location = this.#directory(path);
    if (sameMeta(location.directory.meta, after) && sameMeta(before, after)) return;
    const isTouch = isSameOwner(before, after) && after.mtime === after.ctime && before.atime === after.atime;
    if (!isTouch) view.relyOnMeta(location.directory);
    view.tree.setDirectoryMeta(location, after);
    if (sameMeta(before, after)) return;
    view.changes?.push({ type: 'modify', path, kind: 'directory' });
    view.recorder?.writes.push(
      isTouch ? { kind: 'touch', path, time: after.mtime } : { kind: 'meta', path, meta: after },
    );
  }

  #directory(path: string): Location {
    const { view } = this;
    let location = view.tree.rootLocation;
    for (const name of pathSegments(path)) {
      const node = view.lookup(location, name);
      if (node?.kind !== DIRECTORY) throw new Error('A directory that was checked is there');
      location = view.tree.childLocation(location, name, node);
    }
    return location;
  }

  #at(path: string): At {
    const parent = this.#directory(parentPath(path));
    const name = baseName(path);
    const entry = this.view.lookup(parent, name);
    const node = this.view.tree.resolve(entry);
    if (entry === undefined || node === undefined) throw new Error('A name that was checked is there');
    return { parent, name, entry, node };
  }
}

/**
 * @throws FsError ENAMETOOLONG if a path is too long or too deep, for example because the other side has renamed a
 *   directory above it
 */
function checkPath(path: string): void {
  const depth = pathSegments(path).length;
  if (depth > MAX_DEPTH)
    throw new FsError('ENAMETOOLONG', { syscall: 'merge', path, limit: 'depth', requested: depth, allowed: MAX_DEPTH });
  const bytes = utf8Length(path);
  if (bytes > MAX_PATH_BYTES)
    throw new FsError('ENAMETOOLONG', {
      syscall: 'merge',
      path,
      limit: 'path',
      requested: bytes,
      allowed: MAX_PATH_BYTES,
    });
}
