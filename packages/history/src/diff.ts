import { compareNames } from '@scratchfs/core';
import { diffLines, formatUnified } from '@scratchfs/core/diff';
import { binaryPatch, type PatchSide } from './binary-patch.js';
import type { ObjectId } from './object-id.js';
import type { ObjectReader } from './object-reader.js';
import type { TreeEntry, TreeMode } from './objects/tree.js';
import { findRenames, type RenameOptions } from './renames.js';
import type { RepositoryCall } from './repository.js';
import { isBinary } from './text/is-binary.js';
import { changesBetween } from './tree-walk.js';

/** Object id and mode of a path in a version. */
export interface VersionEntry {
  readonly id: ObjectId;
  readonly mode: TreeMode;
}

/** A path that only one of two versions has. */
export interface AddedOrRemovedPath extends VersionEntry {
  readonly path: string;
}

/** A path in both versions with different content, mode or kind. */
export interface ChangedPath {
  readonly path: string;
  readonly before: VersionEntry;
  readonly after: VersionEntry;
}

/** An entry that the first version has at `oldPath` and the second at `path`. */
export interface RenamedPath extends ChangedPath {
  readonly oldPath: string;
  /** Percentage of the content that is the same. */
  readonly similarity: number;
}

/** The differences between two versions. Paths have no leading `/`; each list is in the order of UTF-8 bytes. */
export interface VersionDiff {
  readonly added: readonly AddedOrRemovedPath[];
  readonly removed: readonly AddedOrRemovedPath[];
  readonly changed: readonly ChangedPath[];
  /** Empty unless renames were requested. */
  readonly renamed: readonly RenamedPath[];
}

/** A diff to format, for example one read from JSON. */
export interface FormattableDiff extends Omit<VersionDiff, 'renamed'> {
  /** Default: no path counts as renamed. */
  readonly renamed?: readonly RenamedPath[] | undefined;
}

export interface VersionDiffOptions extends RepositoryCall {
  /** Pairs removed files with added ones. Default false. */
  readonly renames?: boolean | Omit<RenameOptions, 'signal'> | undefined;
}

export interface FormatVersionDiffOptions extends RepositoryCall {
  /** Adds git's colors (ANSI). Default false. */
  readonly color?: boolean | undefined;
  /** Unchanged lines to show around a change. Default 3. */
  readonly context?: number | undefined;
  /**
   * Includes contents that are binary or not UTF-8, as `git diff --binary` does, so that `git apply` accepts the patch.
   * Otherwise the text only says that such files differ, and `git apply` refuses the patch. Default false.
   */
  readonly binary?: boolean | undefined;
}

/** A line of a changed file, for user interfaces. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  /** The line without its `\n`. */
  readonly text: string;
  /** Line number, from 1. Undefined on the side that does not have the line. */
  readonly before: number | undefined;
  readonly after: number | undefined;
}

/** One changed file with its lines. */
export interface FileDiff {
  readonly path: string;
  readonly oldPath: string | undefined;
  readonly before: VersionEntry | undefined;
  readonly after: VersionEntry | undefined;
  /** True if the content is not text. There are no hunks then. */
  readonly binary: boolean;
  readonly hunks: readonly (readonly DiffLine[])[];
}

export async function diffTrees(
  reader: ObjectReader,
  before: ObjectId | undefined,
  after: ObjectId | undefined,
  { renames = false, signal }: VersionDiffOptions = {},
): Promise<VersionDiff> {
  let added: AddedOrRemovedPath[] = [];
  let removed: AddedOrRemovedPath[] = [];
  const changed: ChangedPath[] = [];
  const renamed: RenamedPath[] = [];
  for await (const { path, before: a, after: b } of changesBetween(reader, before, after, { signal })) {
    if (a === undefined) added.push({ path, ...entryOf(b as TreeEntry) });
    else if (b === undefined) removed.push({ path, ...entryOf(a) });
    else changed.push({ path, before: entryOf(a), after: entryOf(b) });
  }
  if (renames !== false) {
    const side = ({ path, id, mode }: AddedOrRemovedPath) => ({ path, entry: { id, mode, name: '' } });
    const options = { ...(renames === true ? {} : renames), signal };
    for (const { from, to, similarity } of await findRenames(reader, removed.map(side), added.map(side), options)) {
      renamed.push({
        path: to.path,
        oldPath: from.path,
        before: entryOf(from.entry),
        after: entryOf(to.entry),
        similarity,
      });
    }
    const gone = new Set(renamed.map(({ oldPath }) => oldPath));
    const come = new Set(renamed.map(({ path }) => path));
    removed = removed.filter(({ path }) => !gone.has(path));
    added = added.filter(({ path }) => !come.has(path));
  }
  for (const list of [added, removed, changed, renamed]) list.sort((a, b) => compareNames(a.path, b.path));
  return { added, removed, changed, renamed };
}

function entryOf({ id, mode }: VersionEntry): VersionEntry {
  return { id, mode };
}

interface Pair {
  readonly path: string;
  readonly oldPath: string | undefined;
  readonly before: VersionEntry | undefined;
  readonly after: VersionEntry | undefined;
}

/** Returns the files of a diff, sorted by path. */
function pairsOf({ added, removed, changed, renamed = [] }: FormattableDiff): Pair[] {
  const pairs: Pair[] = [
    ...added.map(({ path, ...after }) => ({ path, oldPath: undefined, before: undefined, after })),
    ...removed.map(({ path, ...before }) => ({ path, oldPath: undefined, before, after: undefined })),
    ...changed.map((change) => ({ ...change, oldPath: undefined })),
    ...renamed,
  ];
  return pairs.sort((a, b) => compareNames(a.path, b.path));
}

/**
 * Formats a diff as unified text, one file at a time. `git apply` accepts it without `color`, if all contents are text
 * or `binary` is set.
 */
export async function* formatDiffParts(
  reader: ObjectReader,
  diff: FormattableDiff,
  options: FormatVersionDiffOptions = {},
): AsyncGenerator<string> {
  for (const pair of pairsOf(diff)) {
    const { before, after } = pair;
    if (before !== undefined && after !== undefined && before.mode.slice(0, 3) !== after.mode.slice(0, 3)) {
      yield await formatPair(reader, { ...pair, after: undefined }, options);
      yield await formatPair(reader, { ...pair, before: undefined }, options);
    } else yield await formatPair(reader, pair, options);
  }
}

async function formatPair(
  reader: ObjectReader,
  { path, oldPath, before, after }: Pair,
  { color, context, binary, signal }: FormatVersionDiffOptions,
): Promise<string> {
  const [a, b] = await Promise.all([contentOf(reader, before, { signal }), contentOf(reader, after, { signal })]);
  const modes = { oldMode: before?.mode, newMode: after?.mode };
  const text = formatUnified({ path, oldPath, before: a, after: b, ...modes }, { color, context });
  if (binary !== true || before?.id === after?.id || (textOf(a) !== undefined && textOf(b) !== undefined)) return text;
  // The last line says that the files differ; it is replaced by the binary patch.
  const lastLine = text.lastIndexOf('\n', text.length - 2) + 1;
  const side = (entry: VersionEntry | undefined, content: Uint8Array = NOTHING): PatchSide => ({
    id: entry?.id,
    content,
  });
  const mode = before?.mode === after?.mode ? after?.mode : undefined;
  const patch = await binaryPatch(side(before, a), side(after, b), mode, reader.primitives, signal);
  return text.slice(0, lastLine) + patch;
}

const NOTHING = new Uint8Array();

/** Converts a diff to data, one file at a time. */
export async function* fileDiffs(
  reader: ObjectReader,
  diff: FormattableDiff,
  { context = 3, signal }: FormatVersionDiffOptions = {},
): AsyncGenerator<FileDiff> {
  for (const pair of pairsOf(diff)) {
    const [a, b] = await Promise.all([
      contentOf(reader, pair.before, { signal }),
      contentOf(reader, pair.after, { signal }),
    ]);
    const [before, after] = [textOf(a), textOf(b)];
    const binary = before === undefined || after === undefined;
    yield { ...pair, binary, hunks: binary ? [] : hunksOf(before.split('\n'), after.split('\n'), context) };
  }
}

function hunksOf(before: string[], after: string[], context: number): DiffLine[][] {
  for (const lines of [before, after]) if (lines.at(-1) === '') lines.pop();
  const hunks: DiffLine[][] = [];
  let hunk: DiffLine[] | undefined;
  let shown = 0;
  const same = (from: number, to: number, shift: number): void => {
    for (let i = from; i < to; i++)
      hunk?.push({ kind: 'same', text: before[i] as string, before: i + 1, after: i + 1 + shift });
  };
  let shift = 0;
  for (const { aStart, aEnd, bStart, bEnd } of diffLines(before, after)) {
    shift = bStart - aStart;
    if (hunk !== undefined && aStart - shown <= 2 * context) same(shown, aStart, shift);
    else {
      if (hunk !== undefined) same(shown, Math.min(before.length, shown + context), shift);
      hunks.push((hunk = []));
      same(Math.max(0, aStart - context), aStart, shift);
    }
    for (let i = aStart; i < aEnd; i++)
      hunk.push({ kind: 'removed', text: before[i] as string, before: i + 1, after: undefined });
    for (let i = bStart; i < bEnd; i++)
      hunk.push({ kind: 'added', text: after[i] as string, before: undefined, after: i + 1 });
    shown = aEnd;
    shift = bEnd - aEnd;
  }
  same(shown, Math.min(before.length, shown + context), shift);
  return hunks;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOf(content: Uint8Array | undefined): string | undefined {
  if (content === undefined) return '';
  if (isBinary(content)) return undefined;
  try {
    return decoder.decode(content);
  } catch {
    return undefined;
  }
}

/** Returns the content to show for a side. For a submodule it is a line with the commit, as git shows it. */
async function contentOf(
  reader: ObjectReader,
  entry: VersionEntry | undefined,
  call: RepositoryCall,
): Promise<Uint8Array | undefined> {
  if (entry === undefined) return undefined;
  if (entry.mode === '160000') return new TextEncoder().encode(`Subproject commit ${entry.id}\n`);
  return reader.blob(entry.id, call);
}
