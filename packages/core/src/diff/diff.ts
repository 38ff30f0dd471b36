import { checkBoolean, checkInteger, checkOptions, signalIn } from '../engine/arguments.js';
import type { Cursor } from '../engine/cursor.js';
import { trustedApi, trustedSyncApi } from '../engine/internals.js';
import { runSteps, type Steps } from '../engine/scheduling/time-slice.js';
import { fileBytes, loadedIfPending, MAX_ARRAY_BYTES } from '../engine/view/contents.js';
import type { View } from '../engine/view.js';
import { type EntryKind, statMode } from '../entry.js';
import type { CallOptions, Checkpoint, FileSystem, SyncFileSystem } from '../file-system.js';
import { DIRECTORY, FILE, kindName, type Node, SYMLINK } from '../tree/node.js';
import { type Outer, type TreeChange, TreeDiff } from './tree-diff.js';
import {
  checkUnified,
  type DiffFile,
  UNIFIED_OPTIONS,
  type UnifiedFormat,
  type UnifiedOptions,
  unifiedSteps,
} from './unified.js';

/** The node under a name on one side of a diff. */
export interface DiffEntry {
  readonly kind: EntryKind;
  /**
   * Size in bytes; 0 for a directory. If a function returns the content of a file and the diff has not read it, the
   * given size or 0.
   */
  readonly size: number;
  /** Permission bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Target of a symlink. */
  readonly target?: string;
  /**
   * Copy of a file's content. Undefined without `contents: true`; may be undefined if a policy forbids reading the
   * file.
   */
  readonly data?: Uint8Array;
}

export interface AddedOrRemoved extends DiffEntry {
  /** Absolute path. */
  readonly path: string;
}

export interface Changed {
  /** Absolute path. */
  readonly path: string;
  readonly before: DiffEntry;
  readonly after: DiffEntry;
  /**
   * True if content, link target or kind differ; false if only mode or owner do. Contents too large to compare count as
   * different.
   */
  readonly content: boolean;
}

/**
 * Changes with parents first, siblings by UTF-8 bytes. Renames are not detected: the old path counts as removed, the
 * new one as added or changed.
 */
export interface FileSystemDiff {
  readonly added: readonly AddedOrRemoved[];
  readonly removed: readonly AddedOrRemoved[];
  readonly changed: readonly Changed[];
}

export interface DiffOptions {
  /**
   * Include the contents of the listed files, as `applyChanges` of `@scratchfs/host` needs them. They are in memory
   * together. Default false.
   */
  readonly contents?: boolean | undefined;
}

/** A point in a filesystem's history: a checkpoint, its id or name, or undefined for the current state. */
export type DiffPoint = Checkpoint | string | undefined;

/**
 * Returns the changes between two checkpoints, or from one to the current state: every name added, removed, or with
 * other content, target, kind, mode or owner. Differences in times alone do not count. Most unchanged directories are
 * skipped, so the cost mostly follows the changes, not the size of the tree.
 *
 * @throws FsError ENOENT for a checkpoint that this filesystem does not hold, ENOTSUP if the storage cannot compare;
 *   with `contents`, EFBIG for a file of 2 GiB or more
 */
export async function diff(
  fileSystem: FileSystem,
  from: DiffPoint,
  to?: DiffPoint,
  options?: DiffOptions & CallOptions,
): Promise<FileSystemDiff> {
  const contents = withContents(options);
  const steps = await trustedApi(fileSystem).compare(from, to, (a, b, outer) => new DiffCursor(a, b, contents, outer), {
    signal: signalIn(options),
  });
  return steps.at(-1) as FileSystemDiff;
}

/** Like {@link diff}, for synchronous storages. */
export function diffSync(
  fileSystem: SyncFileSystem,
  from: DiffPoint,
  to?: DiffPoint,
  options?: DiffOptions,
): FileSystemDiff {
  const contents = withContents(options);
  return trustedSyncApi(fileSystem, 'diffSync')
    .compareSync(from, to, (a, b, outer) => new DiffCursor(a, b, contents, outer))
    .at(-1) as FileSystemDiff;
}

export function withContents(options: DiffOptions | undefined): boolean {
  return checkBoolean(checkOptions(options, ['contents'], 'diff').contents, 'contents');
}

export interface FormatDiffOptions extends UnifiedOptions {
  /** Returns the name of a path in the text. Default: the path. */
  readonly nameOf?: ((path: string) => string) | undefined;
  /**
   * Maximum UTF-16 units of changes. A longer text is cut after a whole line, and one more line says so. Default: no
   * limit.
   */
  readonly maxLength?: number | undefined;
}

interface DiffFormat extends UnifiedFormat {
  readonly nameOf: (path: string) => string;
  readonly maxLength: number;
}

function itself(path: string): string {
  return path;
}

const FORMAT_OPTIONS = [...UNIFIED_OPTIONS, 'nameOf', 'maxLength'];

function checkFormat(options: FormatDiffOptions | undefined): DiffFormat {
  const { nameOf = itself, maxLength, ...unified } = checkOptions(options, FORMAT_OPTIONS, 'formatDiff');
  if (typeof nameOf !== 'function') throw new TypeError('nameOf must be a function');
  return {
    ...checkUnified(unified, 'formatDiff'),
    nameOf,
    maxLength: maxLength === undefined ? Number.POSITIVE_INFINITY : checkInteger(maxLength, 'maxLength'),
  };
}

/**
 * Returns the changes that {@link diff} finds as one unified text in the form of `git diff`, for people or for `git
 * apply`. As in git, it cannot express empty directories, owners, or modes beyond whether a file is executable. Files
 * that a policy forbids to read are left out.
 *
 * @throws FsError as {@link diff}; TypeError, RangeError for invalid options
 */
export async function formatDiff(
  fileSystem: FileSystem,
  from: DiffPoint,
  to?: DiffPoint,
  options?: FormatDiffOptions & CallOptions,
): Promise<string> {
  const format = checkFormat(options);
  const texts = await trustedApi(fileSystem).compare(from, to, (a, b, outer) => new DiffTexts(a, b, format, outer), {
    signal: signalIn(options),
  });
  return together(texts);
}

/** Concatenates without copying; `join` would copy, which takes a time slice of its own for large texts. */
function together(texts: readonly string[]): string {
  return texts.reduce((all, text) => all + text, '');
}

/** Like {@link formatDiff}, for synchronous storages. */
export function formatDiffSync(
  fileSystem: SyncFileSystem,
  from: DiffPoint,
  to?: DiffPoint,
  options?: FormatDiffOptions,
): string {
  const format = checkFormat(options);
  return trustedSyncApi(fileSystem, 'formatDiffSync')
    .compareSync(from, to, (a, b, outer) => new DiffTexts(a, b, format, outer))
    .join('');
}

/** Maximum number of changes examined between two pauses. */
const SLICE_CHANGES = 64;
/** UTF-16 units of text after which a pause is due even before `SLICE_CHANGES`. */
const SLICE_TEXT_LENGTH = 2 ** 16;

/** Bytes of content after which a pause is due even before `SLICE_CHANGES`. */
const SLICE_BYTES = 2 ** 20;

/** Collects the added, removed and changed names. Yields null for pauses, and the diff as its last item. */
export class DiffCursor implements Cursor<FileSystemDiff | null> {
  readonly #changes: TreeDiff;
  /** Change whose content may not be loaded yet. */
  #held: TreeChange | undefined;
  readonly #added: AddedOrRemoved[] = [];
  readonly #removed: AddedOrRemoved[] = [];
  readonly #changed: Changed[] = [];
  #done = false;

  constructor(
    readonly before: View,
    readonly after: View,
    readonly contents: boolean,
    outer?: Outer,
  ) {
    this.#changes = new TreeDiff(before, after, outer);
  }

  next(): FileSystemDiff | null | undefined {
    if (this.#done) return undefined;
    for (let i = 0, bytes = 0; i < SLICE_CHANGES && bytes < SLICE_BYTES; i++) {
      const change = this.#held ?? this.#changes.next();
      if (change === undefined) {
        this.#done = true;
        return { added: this.#added, removed: this.#removed, changed: this.#changed };
      }
      this.#held = change ?? undefined;
      if (change !== null) bytes += this.#add(change);
      this.#held = undefined;
    }
    return null;
  }

  /** Adds a change to the result. Returns the number of bytes of content that were copied for it. */
  #add(change: TreeChange): number {
    const { outer: path, content } = change;
    const before = change.before && this.#entry(this.before, change.before, change);
    const after = change.after && this.#entry(this.after, change.after, change);
    if (before === undefined) this.#added.push({ path, ...(after as DiffEntry) });
    else if (after === undefined) this.#removed.push({ path, ...before });
    else this.#changed.push({ path, before, after, content });
    return (before?.data?.length ?? 0) + (after?.data?.length ?? 0);
  }

  #entry(view: View, node: Node, { path, before, after, content }: TreeChange): DiffEntry {
    // The comparison of two files has loaded content that a function returns, so the sizes are known.
    const entry = entryOf(content && before?.kind === after?.kind ? loadedIfPending(view, node) : node);
    if (!this.contents || node.kind !== FILE) return entry;
    if (!mayRead(view, path, node)) return entry;
    const data = fileBytes(view, node, path);
    return { ...entry, size: data.length, data };
  }
}

function entryOf(node: Node): DiffEntry {
  const { mode, uid, gid } = node.meta;
  const base = { kind: kindName(node), size: node.kind === DIRECTORY ? 0 : node.size, mode, uid, gid };
  return node.kind === SYMLINK ? { ...base, target: node.target } : base;
}

/** Yields the changes of files and links as unified text, a few at a time. An empty text is a pause. */
class DiffTexts implements Cursor<string> {
  readonly #changes: TreeDiff;
  #held: TreeChange | undefined;
  /** Rest of a large file that is being printed. */
  #steps: Steps<string> | undefined;
  #text = '';
  #count = 0;
  /** UTF-16 units that may still be printed. */
  #room: number;
  /** Number of files and links omitted after the cut. */
  #left = 0;
  #isCut = false;

  constructor(
    readonly before: View,
    readonly after: View,
    readonly format: DiffFormat,
    outer?: Outer,
  ) {
    this.#room = format.maxLength;
    this.#changes = new TreeDiff(before, after, outer);
  }

  next(): string | undefined {
    for (let isLast = false; !isLast && this.#count < SLICE_CHANGES && this.#text.length < SLICE_TEXT_LENGTH; ) {
      if (this.#steps !== undefined) {
        const step = this.#steps.next();
        if (!step.done) return '';
        this.#steps = undefined;
        this.#add(step.value);
        continue;
      }
      // The change is held until all of its content is loaded.
      const change = this.#held ?? this.#changes.next();
      isLast = change === undefined;
      this.#held = change ?? undefined;
      if (change && this.#mayRead(change)) {
        if (this.#isCut) this.#left += isLeaf(change) ? 1 : 0;
        else this.#print(this.#filesOf(change));
      }
      if (isLast) this.#end();
      this.#held = undefined;
      this.#count += 1;
    }
    const text = this.#text;
    const isOver = this.#count < SLICE_CHANGES && text === '' && this.#steps === undefined;
    this.#text = '';
    this.#count = 0;
    return isOver ? undefined : text;
  }

  #add(text: string): void {
    this.#isCut ||= text.length > this.#room;
    const shown = this.#isCut ? text.slice(0, text.lastIndexOf('\n', this.#room - 1) + 1) : text;
    this.#room -= shown.length;
    this.#text += shown;
  }

  /** Prints that the text was cut, and the number of omitted files if there are any. Does so once. */
  #end(): void {
    if (!this.#isCut) return;
    const more =
      this.#left === 0 ? '' : `, and ${this.#left} more ${this.#left === 1 ? 'file has' : 'files have'} changed`;
    this.#text += `[Cut after ${this.format.maxLength} characters${more}]\n`;
    this.#isCut = false;
    this.#left = 0;
  }

  #mayRead({ path, before, after }: TreeChange): boolean {
    return mayRead(this.before, path, before) && mayRead(this.after, path, after);
  }

  #print(files: readonly DiffFile[]): void {
    const steps = printAll(files, this.format);
    const units = files.reduce((sum, { before, after }) => sum + (before?.length ?? 0) + (after?.length ?? 0), 0);
    if (units < SLICE_TEXT_LENGTH) this.#add(runSteps(steps));
    else this.#steps = steps;
  }

  /** Returns the files to print for a change. A change of kind is a deletion and a creation, as in git. */
  #filesOf(change: TreeChange): DiffFile[] {
    const { before, after, content } = change;
    const a = before?.kind === DIRECTORY ? undefined : before;
    const b = after?.kind === DIRECTORY ? undefined : after;
    if (a !== undefined && b !== undefined && a.kind !== b.kind)
      return [this.#file(change, a, undefined, true), this.#file(change, undefined, b, true)];
    return [this.#file(change, a, b, content)];
  }

  #file({ path, outer }: TreeChange, a: Leaf | undefined, b: Leaf | undefined, differs: boolean): DiffFile {
    const isWhole = !isTooLarge(a) && !isTooLarge(b);
    return {
      path: this.format.nameOf(outer),
      before: a && (isWhole ? contentOf(this.before, a, path) : BINARY),
      after: b && (isWhole ? contentOf(this.after, b, path) : differs ? OTHER_BINARY : BINARY),
      oldMode: a && gitMode(a),
      newMode: b && gitMode(b),
    };
  }
}

function mayRead({ context: { guard } }: View, path: string, node: Node | undefined): boolean {
  return node === undefined || guard === undefined || guard.allows(path, 'read', 'diff', node);
}

function* printAll(files: readonly DiffFile[], format: UnifiedFormat): Steps<string> {
  let text = '';
  for (const file of files) text += yield* unifiedSteps(file, format);
  return text;
}

/** Reports whether a change concerns a file or a link, which has a text. */
function isLeaf({ before, after }: TreeChange): boolean {
  return [before, after].some((node) => node !== undefined && node.kind !== DIRECTORY);
}

type Leaf = Exclude<Node, { kind: typeof DIRECTORY }>;

/**
 * Stand-ins for the contents of a change if one of them is too large for one array. Both count as binary, and they
 * differ from each other.
 */
const BINARY = new Uint8Array(1);
const OTHER_BINARY = new Uint8Array(2);

function isTooLarge(node: Leaf | undefined): boolean {
  return node?.kind === FILE && node.size > MAX_ARRAY_BYTES;
}

function contentOf(view: View, node: Leaf, path: string): Uint8Array | string {
  return node.kind === SYMLINK ? node.target : fileBytes(view, node, path);
}

/** Returns git's mode: of a file's mode, git only keeps the executable bit. */
function gitMode(node: Leaf): string {
  if (node.kind === SYMLINK) return '120000';
  return statMode('file', (node.meta.mode & 0o100) === 0 ? 0o644 : 0o755).toString(8);
}
