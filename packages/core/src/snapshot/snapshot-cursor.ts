import type { Cursor } from '../engine/cursor.js';
import type { View } from '../engine/view.js';
import { type Step, TreeWalk } from '../engine/walk.js';
import type { ContentNode } from '../tree/content.js';
import { FILE, type FileNode, kindName, LINKED, type Node, SYMLINK } from '../tree/node.js';
import type { ContentWriter, SourceEntry } from './snapshot-entry.js';

/** Everything in a filesystem, as the encoder takes it. What is yielded can still be written when the walk is over. */
export class SnapshotCursor implements Cursor<SourceEntry> {
  readonly #walk: TreeWalk;
  readonly #view: View;
  /** Numbers of the first names of files that have several. */
  readonly #numbers = new Map<Node['id'], number>();
  #count = 0;
  #held: Step | undefined;

  constructor(view: View) {
    view.context.guard?.checkTree('/', 'read', 'snapshot', '/');
    this.#view = view;
    this.#walk = new TreeWalk(view, view.tree.rootLocation);
  }

  next(): SourceEntry | undefined {
    if (this.#count === 0) {
      this.#count = 1;
      return { kind: 'directory', depth: 0, name: '', meta: this.#view.tree.root.meta, size: 0, body: undefined };
    }
    // Held until all of it is loaded.
    this.#held ??= this.#walk.next();
    if (this.#held === undefined) return undefined;
    const entry = this.#entry(this.#held);
    this.#held = undefined;
    this.#count += 1;
    return entry;
  }

  #entry({ depth, name, entry, node }: Step): SourceEntry {
    if (entry.kind === LINKED) {
      const first = this.#numbers.get(node.id);
      if (first !== undefined) return { kind: 'link', depth, name, first };
    }
    const body = node.kind === FILE && node.size > 0 ? this.#writer(node) : undefined;
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

  #writer(node: FileNode): ContentWriter {
    const { contents } = this.#view.tree.family;
    const loaded: ContentNode = this.#view.loaded(node);
    return (into, at) => {
      contents.read(loaded, into.subarray(at, at + loaded.size), 0);
    };
  }
}
