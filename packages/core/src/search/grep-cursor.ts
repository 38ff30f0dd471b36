import { BINARY_PROBE_BYTES } from '../binary-probe.js';
import type { Cursor } from '../engine/cursor.js';
import { isPending } from '../engine/function-files.js';
import { present } from '../engine/operations/read.js';
import { withContents } from '../engine/remote/prefetch.js';
import { NotLoaded } from '../engine/source.js';
import { passingBytes } from '../engine/view/contents.js';
import type { View } from '../engine/view.js';
import { quote, StorageError } from '../errors.js';
import type { ContentNode } from '../tree/content.js';
import { DIRECTORY, FILE, type FileNode, Unloaded } from '../tree/node.js';
import { nodeFromRecord } from '../tree/stored-nodes.js';
import { type GlobPlan, type GlobStep, GlobWalk } from './glob-walk.js';
import type { Query } from './line-matcher.js';
import { isBinary, type LineMatch, LineScanner } from './line-scanner.js';

/** A matching line and its file. */
export interface GrepMatch extends LineMatch {
  /** Absolute path of the file. */
  readonly path: string;
}

export interface GrepPlan {
  readonly query: Query;
  readonly roots: readonly { readonly path: string; readonly glob: GlobPlan }[];
  /** True if no patterns were given, so that nearly every file in the searched directories is read. */
  readonly isWhole: boolean;
  readonly context: number;
  readonly maxMatches: number;
  readonly maxLineLength: number;
  readonly maxFileSize: number;
}

interface Candidate {
  readonly path: string;
  readonly node: FileNode;
}

/** Maximum number of files whose contents are loaded in one request. */
const BATCH_FILES = 256;
/** Bytes of contents from which on no more files are loaded in the same request. */
const BATCH_BYTES = 4 * 2 ** 20;
/** Number of loads of one content after which the file is assumed to change faster than it can be read. */
const MAX_LOADS = 4;

/** Yields the matches of a plan, and null to let other tasks run. */
export class GrepCursor implements Cursor<GrepMatch | null> {
  #root = 0;
  #walk: GlobWalk | undefined;
  readonly #queue: Candidate[] = [];
  /** Paths of the files that were queued, if there are several roots: one may lie within another. */
  readonly #seen = new Set<string>();
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

  /** Queues files until enough can be loaded together. Returns false if it stopped before, for a pause. */
  #fill(): boolean {
    const most = this.view.source === undefined ? 1 : BATCH_FILES;
    while (this.#queue.length < most && this.#queuedBytes < BATCH_BYTES) {
      const root = this.plan.roots[this.#root];
      if (root === undefined) break;
      this.#walk ??= this.#enter(root.path, root.glob);
      const step = this.#step();
      if (step === null) return false;
      if (step === undefined) {
        this.#walk = undefined;
        this.#root++;
      } else if (step.node.kind === FILE) this.#add(step.path, step.node);
    }
    this.#isFull = this.#queue.length > 0;
    return true;
  }

  /** If nearly every file is searched, contents are loaded with the listings. */
  #step(): GlobStep | undefined {
    try {
      return this.#walk?.next();
    } catch (error) {
      throw this.plan.isWhole ? withContents(error) : error;
    }
  }

  /** Starts a walk of a directory; queues a file directly. */
  #enter(path: string, glob: GlobPlan): GlobWalk | undefined {
    const node = present(this.view.find(path, true, 'read', 'grep'), 'grep', path);
    if (node.kind === DIRECTORY) return new GlobWalk(this.view, glob);
    if (node.kind === FILE) this.#add(path, node);
    return undefined;
  }

  #add(path: string, node: FileNode): void {
    this.view.relyOnNode(node);
    const isEmpty = node.size === 0 && !isPending(node.data);
    if (isEmpty || node.size > this.plan.maxFileSize) return;
    if (this.view.context.guard?.allows(path, 'read', 'grep', node) === false) return;
    if (this.plan.roots.length > 1) {
      if (this.#seen.has(path)) return;
      this.#seen.add(path);
    }
    this.#queue.push({ path, node });
    this.#queuedBytes += node.size;
  }

  /** Starts the next file; returns false if there is none. */
  #open(): boolean {
    const first = this.#queue[0];
    if (first === undefined) return false;
    const bytes = this.#content(first);
    this.#loads = 0;
    this.#queue.shift();
    // A content stays loaded while another name of the file is queued.
    if (!this.#queue.some(({ node }) => node.id === first.node.id)) this.view.source?.dropContent?.(first.node.id);
    this.#queuedBytes -= first.node.size;
    if (this.#queue.length === 0) this.#isFull = false;
    if (bytes === undefined) return true;
    const { query, maxMatches } = this.plan;
    const lines = new LineScanner(bytes, query, this.plan, maxMatches - this.#found);
    this.#scanner = { path: first.path, lines };
    return true;
  }

  /**
   * Returns the content; undefined for a file that was removed or grew too large by the time it is loaded, and for most
   * binary files. {@link LineScanner} skips the others.
   */
  #content(candidate: Candidate): Uint8Array | undefined {
    const { node } = candidate;
    const { contents } = this.view.tree.shared;
    const isLoaded = !(node.data instanceof Unloaded);
    if (
      isLoaded &&
      node.size > BINARY_PROBE_BYTES &&
      isBinary(contents.slice(node as ContentNode, 0, BINARY_PROBE_BYTES))
    )
      return undefined;
    const bytes = isLoaded ? passingBytes(this.view, node) : this.#loaded(candidate);
    if (bytes === undefined) return undefined;
    // The scanner of lines checks a file once it has found something in it: looking for NUL takes as long as looking for
    // a literal. A custom matcher may take long on binary content, so it never gets any.
    const isCheckedLate = this.plan.query.kind === 'literal' && bytes.length <= BINARY_PROBE_BYTES;
    return isCheckedLate || !isBinary(bytes) ? bytes : undefined;
  }

  /**
   * Loads the content, together with the queued files behind it. A file that changed since it was listed is read as it
   * is now.
   */
  #loaded({ node, path }: Candidate): Uint8Array | undefined {
    try {
      return passingBytes(this.view, node);
    } catch (error) {
      if (!(error instanceof NotLoaded)) throw error;
      if (++this.#loads > MAX_LOADS)
        throw new StorageError('conflict', `A file changed each time it was to be searched: ${quote(path)}`);
      if (this.#loads === 1) this.view.all(this.#queue, (each) => passingBytes(this.view, each.node));
      const now = this.#renewed(node, path);
      if (now === undefined || now.size > this.plan.maxFileSize) return undefined;
      const [first] = this.#queue;
      if (first !== undefined) {
        this.#queuedBytes += now.size - first.node.size;
        this.#queue[0] = { path, node: now };
      }
      return passingBytes(this.view, now);
    }
  }

  #renewed({ id }: FileNode, path: string): FileNode | undefined {
    const record = this.view.source?.current?.(id);
    return record?.kind === 'file' ? (nodeFromRecord(this.view.tree.owner, record, path) as FileNode) : undefined;
  }
}
