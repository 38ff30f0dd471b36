import type { Cursor } from '../engine/cursor.js';
import { keepOptimized } from '../engine/keep-optimized.js';
import { PREFETCH_BYTES, withContents } from '../engine/remote/prefetch.js';
import { loadedFile, loadedIfPending, MAX_ARRAY_BYTES } from '../engine/view/contents.js';
import type { View } from '../engine/view.js';
import { type Step, TreeWalk } from '../engine/walk.js';
import { FsError } from '../errors.js';
import { joinPath, parentPath } from '../paths.js';
import type { ContentNode, ContentStore } from '../tree/content.js';
import { DIRECTORY, FILE, type FileNode, kindName, LINKED, type Node, SYMLINK, Unloaded } from '../tree/node.js';
import type { Location } from '../tree/tree.js';
import { allocate } from './encode.js';
import type { ContentWriter, SourceEntry } from './snapshot-entry.js';

/** Maximum number of files whose contents are requested together. */
const MAX_BATCH_FILES = 1_000;

/**
 * Yields the entries of a filesystem for the encoder; under a guard, only those that may be read. The entries' writers
 * still work after the walk.
 */
export class SnapshotCursor implements Cursor<SourceEntry> {
  readonly #walk: TreeWalk;
  readonly #view: View;
  /** Entry number of the first name of each file or symlink with several names. */
  readonly #numbers = new Map<Node['id'], number>();
  #count = 0;
  #held: Step | undefined;
  readonly #maxHoles: number;
  #holes = 0;

  constructor(view: View, maxHoles: number) {
    this.#view = view;
    this.#maxHoles = maxHoles;
    this.#walk = new TreeWalk(view, view.tree.rootLocation);
  }

  next(): SourceEntry | undefined {
    if (this.#count === 0) {
      const { root } = this.#view.tree;
      this.#view.relyOnMeta(root);
      this.#count = 1;
      return { kind: 'directory', depth: 0, name: '', meta: root.meta, size: 0, body: undefined };
    }
    // The step is held until all of its data is loaded.
    this.#held ??= this.#step();
    if (this.#held === undefined) return undefined;
    const entry = this.#entry(this.#held);
    this.#held = undefined;
    this.#count += 1;
    return entry;
  }

  /** Advances. If something is not loaded, everything under it is requested together, contents too. */
  #step(): Step | undefined {
    const { guard } = this.#view.context;
    try {
      for (;;) {
        const step = this.#walk.next();
        if (step === undefined || step.node.kind === DIRECTORY || guard === undefined) return step;
        // Under a guard, a snapshot contains only what may be read.
        if (guard.allows(step.path, 'read', 'snapshot', step.node)) return step;
      }
    } catch (error) {
      throw withContents(error);
    }
  }

  #entry({ path, depth, name, entry, node: found }: Step): SourceEntry {
    if (entry.kind === LINKED) {
      const first = this.#numbers.get(found.id);
      if (first !== undefined) return { kind: 'link', depth, name, first };
    }
    const node = loadedIfPending(this.#view, found);
    if (node.kind === DIRECTORY) this.#view.relyOnMeta(node);
    else this.#rely(path, name, node);
    const body = node.kind === FILE && node.size > 0 ? this.#writer(node, path) : undefined;
    if (entry.kind === LINKED) this.#numbers.set(node.id, this.#count);
    const target = node.kind === SYMLINK ? node.target : undefined;
    return {
      kind: kindName(node),
      depth,
      name,
      meta: node.meta,
      size: node.kind === FILE ? node.size : 0,
      target,
      body,
    };
  }

  #writer(node: FileNode, path: string): ContentWriter {
    const { contents } = this.#view.tree.shared;
    // A file that is larger than any array of this platform is refused before it is loaded.
    if (node.size > MAX_ARRAY_BYTES) allocate(node.size, path);
    if (node.data instanceof Unloaded) this.#loadWithSiblings(node, path);
    const loaded = loadedFile(this.#view, node);
    this.#checkHoles(contents.holes(loaded), path);
    return writerOf(contents, loaded);
  }

  /** Counts holes, which take no space in memory but do in a snapshot, and refuses them before space is allocated. */
  #checkHoles(holes: number, path: string): void {
    this.#holes += holes;
    if (this.#holes <= this.#maxHoles) return;
    throw new FsError('EFBIG', {
      syscall: 'snapshot',
      path,
      requested: this.#holes,
      allowed: this.#maxHoles,
      hint: 'A snapshot has the holes of sparse files as zeros: raise maxHoles, or truncate or remove the file',
    });
  }

  /**
   * Adds a precondition on the node itself, because a listing only says which names exist, not that their nodes are
   * unchanged.
   */
  #rely(path: string, name: string, node: Node): void {
    this.#view.relyOnNode(node);
    const { recorder, source } = this.#view;
    if (recorder === undefined || source === undefined) return;
    const origin = this.#locationOf(path)?.directory.origin;
    if (origin === undefined) return;
    const record = source.entry(origin.address, name);
    if (record === undefined || record === null) return;
    recorder.checks.push({
      kind: 'entry',
      path: joinPath(origin.address.path, name),
      id: record.id,
      version: record.version,
    });
  }

  #locationOf(path: string): Location | undefined {
    const directory = parentPath(path);
    const { tree } = this.#view;
    return directory === '/' ? tree.rootLocation : tree.cachedLocation(directory);
  }

  /**
   * Requests the content of a file, which did not come with its directory, together with those of its next siblings.
   */
  #loadWithSiblings(node: FileNode, path: string): void {
    const files = [node];
    let size = node.size;
    const behind = this.#locationOf(path)?.directory.entries.cursor(path.slice(path.lastIndexOf('/') + 1));
    while (files.length < MAX_BATCH_FILES && behind?.next()) {
      const entry = behind.value;
      if (entry.kind !== FILE || !(entry.data instanceof Unloaded)) continue;
      size += entry.size;
      if (size > PREFETCH_BYTES) break;
      files.push(entry);
    }
    this.#view.all(files, (file) => loadedFile(this.#view, file));
  }
}

keepOptimized(new SnapshotCursor({ tree: {} } as View, 0));

/** A function of its own, so that writers, which are kept until the end, do not keep paths alive. */
function writerOf(contents: ContentStore, node: ContentNode): ContentWriter {
  return (into, from) => {
    contents.read(node, into, from);
  };
}
