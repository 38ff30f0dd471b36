import type { Cursor } from '../engine/cursor.js';
import { present } from '../engine/operations/read.js';
import { Missing } from '../engine/source.js';
import type { View } from '../engine/view.js';
import { StorageError } from '../errors.js';
import type { ContentNode } from '../tree/content.js';
import { DIRECTORY, FILE, type FileNode, Unloaded } from '../tree/node.js';
import { type GlobPlan, GlobWalk } from './glob-walk.js';
import type { Query } from './line-matcher.js';
import { isBinary, type LineMatch, LineScanner } from './line-scanner.js';

/** A line that matches, and the file it is in. */
export interface GrepMatch extends LineMatch {
  /** Absolute. */
  readonly path: string;
}

export interface GrepPlan {
  readonly query: Query;
  readonly roots: readonly { readonly path: string; readonly glob: GlobPlan }[];
  readonly context: number;
  readonly maxMatches: number;
  readonly maxLineLength: number;
  readonly maxFileSize: number;
}

interface Candidate {
  readonly path: string;
  readonly node: FileNode;
}

/** What is asked for at once where contents have to be loaded. */
const BATCH_FILES = 256;
const BATCH_BYTES = 4 * 2 ** 20;
/** Loads of a content after which it is taken to change faster than it can be read. */
const MAX_LOADS = 4;
const PROBE = 8192;

/** The matches of a plan, with null wherever others should have a turn. */
export class GrepCursor implements Cursor<GrepMatch | null> {
  #root = 0;
  #walk: GlobWalk | undefined;
  readonly #queue: Candidate[] = [];
  #queuedBytes = 0;
  #isFull = false;
  #loads = 0;
  #scanner: { readonly path: string; readonly lines: LineScanner } | undefined;
  #found = 0;

  constructor(
    readonly view: View,
    readonly plan: GrepPlan,
  ) {}

  next(): GrepMatch | null | undefined {
    if (this.#scanner !== undefined) {
      const { path, lines } = this.#scanner;
      const match = lines.next();
      if (match === null) return null;
      if (match !== undefined) {
        this.#found++;
        return { path, ...match };
      }
      this.#scanner = undefined;
    }
    if (this.#found >= this.plan.maxMatches) return undefined;
    if (!this.#isFull && !this.#fill()) return null;
    return this.#open() ? null : undefined;
  }

  /** Queues files until enough are known to be loaded at once; says whether it is done. */
  #fill(): boolean {
    const most = this.view.source === undefined ? 1 : BATCH_FILES;
    while (this.#queue.length < most && this.#queuedBytes < BATCH_BYTES) {
      const root = this.plan.roots[this.#root];
      if (root === undefined) break;
      this.#walk ??= this.#enter(root.path, root.glob);
      const step = this.#walk?.next();
      if (step === null) return false;
      if (step === undefined) {
        this.#walk = undefined;
        this.#root++;
      } else if (step.node.kind === FILE) this.#add(step.path, step.node);
    }
    this.#isFull = this.#queue.length > 0;
    return true;
  }

  /** A directory is walked; a file is queued at once. */
  #enter(path: string, glob: GlobPlan): GlobWalk | undefined {
    const node = present(this.view.find(path, true, 'read', 'grep'), 'grep', path);
    if (node.kind === DIRECTORY) return new GlobWalk(this.view, glob);
    if (node.kind === FILE) this.#add(path, node);
    return undefined;
  }

  #add(path: string, node: FileNode): void {
    if (node.size === 0 || node.size > this.plan.maxFileSize) return;
    if (this.view.context.guard?.allows(path, 'read', 'grep', node) === false) return;
    this.#queue.push({ path, node });
    this.#queuedBytes += node.size;
  }

  /** Begins with the next file; false where there is none. */
  #open(): boolean {
    const first = this.#queue[0];
    if (first === undefined) return false;
    const bytes = this.#content(first);
    this.#loads = 0;
    this.#queue.shift();
    this.#queuedBytes -= first.node.size;
    if (this.#queue.length === 0) this.#isFull = false;
    if (bytes === undefined) return true;
    const { query, maxMatches } = this.plan;
    const lines = new LineScanner(bytes, query, this.plan, maxMatches - this.#found);
    this.#scanner = { path: first.path, lines };
    return true;
  }

  /** The content, or undefined for a binary file. Does not keep in the tree what had to be loaded. */
  #content({ node, path }: Candidate): Uint8Array | undefined {
    const { data } = node;
    if (data instanceof Unloaded) {
      const bytes = this.view.source?.content(data, node.size);
      if (bytes === undefined) throw this.#missing(path);
      return isBinary(bytes) ? undefined : bytes;
    }
    const { contents } = this.view.tree.family;
    const loaded = node as ContentNode;
    if (node.size > PROBE && isBinary(contents.slice(loaded, 0, PROBE))) return undefined;
    const bytes = contents.bytes(loaded);
    return node.size <= PROBE && isBinary(bytes) ? undefined : bytes;
  }

  #missing(path: string): Missing | StorageError {
    if (++this.#loads > MAX_LOADS) {
      return new StorageError('conflict', `A file changed each time it was to be searched: ${JSON.stringify(path)}`);
    }
    const wants = this.#queue.flatMap(({ node: { data, size } }) =>
      data instanceof Unloaded && this.view.source?.content(data, size) === undefined
        ? [{ kind: 'content' as const, at: data.place, offset: 0, length: size }]
        : [],
    );
    return new Missing(wants);
  }
}
