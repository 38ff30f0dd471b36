import {
  type Batch,
  type Check,
  type EntryKind,
  type Part,
  parentPath,
  type Version,
  type Write,
} from '@scratchfs/core';
import { CHUNK_BYTES, digestOf } from '../stored/chunk.js';
import { hashOfName } from '../stored/name-hash.js';
import { MAX_ID_BYTES, META_BYTES, writeMeta } from '../stored/record.js';
import { transformBytes } from '../stored/transform.js';
import type { ChunkArguments } from './chunk-arguments.js';
import type { Writer } from './writer.js';

/** Maximum number of paths in a request: an index has two bytes. */
const MAX_PATHS = 0xffff;

/**
 * The paths of one request. Each is encoded once, as its parent's index, a name and the name's hash. Index 0 is the
 * root.
 */
export class PathTable {
  readonly #indexes = new Map<string, number>([['/', 0]]);
  readonly #rows: { readonly parent: number; readonly name: string }[] = [];

  /** Returns a path's index, adding it if necessary. @throws RangeError if the table is full */
  index(path: string): number {
    const known = this.#indexes.get(path);
    if (known !== undefined) return known;
    const slash = path.lastIndexOf('/');
    const parent = this.index(parentPath(path));
    if (this.#rows.length >= MAX_PATHS) throw new RangeError(`A request names at most ${MAX_PATHS} paths`);
    this.#rows.push({ parent, name: path.slice(slash + 1) });
    this.#indexes.set(path, this.#rows.length);
    return this.#rows.length;
  }

  get size(): number {
    return this.#rows.length;
  }

  write(into: Writer): void {
    into.u16(this.#rows.length);
    for (const { parent, name } of this.#rows) {
      into.u16(parent);
      into.name(name);
      into.u32(hashOfName(name));
    }
  }
}

const CHECKS = { entry: 1, empty: 2, listing: 3, tree: 4 } as const;
const LETTERS: Readonly<Record<EntryKind, string>> = { file: 'f', directory: 'd', symlink: 's' };

/** Chunks of a content that were uploaded before the commit: chunks `from` to `to - 1` under a field of the head. */
export interface StagedContent {
  readonly key: string;
  readonly from: number;
  readonly to: number;
}

/** The context that a batch is encoded with. */
export interface BatchContext {
  /** Number of the operation; 0 for one that is not recorded. */
  readonly sequence: number;
  /** Version of everything that the batch writes; 0 draws a new one. */
  readonly version?: number | undefined;
  /** Contents that were uploaded before the commit. */
  readonly stagedContents?: ReadonlyMap<Write, StagedContent> | undefined;
  /** Number of names that the whole batch creates in each directory, if this is only a part of it. */
  readonly createdNames?: ReadonlyMap<string, number> | undefined;
  /** The state, under a field of the head, to which all writes have already been applied. */
  readonly stagedState?: { readonly key: string; readonly replacesAll: boolean } | undefined;
}

/**
 * Encodes a batch for the commit script: number, length, limits, version, checks, maximum growth, writes.
 * @throws TypeError for an id that does not fit into a record; RangeError for too many paths, or a text that is too
 * long
 */
export function writeBatch(
  batch: Batch,
  context: BatchContext,
  paths: PathTable,
  into: Writer,
  contents: ChunkArguments,
): void {
  const { maxFileSize, maxTotalSize, maxNodeCount } = batch.limits;
  into.double(context.sequence);
  const start = into.length;
  into.u32(0);
  for (const limit of [maxFileSize, maxTotalSize, maxNodeCount]) into.double(limit ?? -1);
  into.double(context.version ?? 0);
  const body = into.length;
  writeChecks(batch, paths, into);
  into.u8(batch.writes.length === 0 ? 0 : context.stagedState === undefined ? 1 : 2);
  if (batch.writes.length > 0) writeAllWrites(batch, context, paths, into, contents);
  into.patchU32(start, into.length - body);
}

/** Encodes the checks of a batch, which is all that the validation script reads. */
export function writeChecks({ checks }: Batch, paths: PathTable, into: Writer): void {
  into.u16(checks.length);
  for (const check of checks) writeCheck(check, paths, into);
}

function writeCheck(check: Check, paths: PathTable, into: Writer): void {
  into.u8(CHECKS[check.kind]);
  into.u16(paths.index(check.path));
  into.shortText(check.id === null ? '' : String(check.id));
  const version = check.kind === 'empty' ? undefined : check.version;
  const [own, inodes] = check.kind === 'tree' ? treeVersion(check.version) : [numberOf(version), -1];
  into.double(own);
  into.double(inodes);
}

function numberOf(version: Version | undefined): number {
  return version === undefined ? -1 : typeof version === 'number' ? version : Number.NaN;
}

/**
 * Splits a subtree's version. If files in the subtree have several names, it ends with the version of the table of
 * inodes.
 */
function treeVersion(version: Version): readonly [number, number] {
  if (typeof version === 'number') return [version, -1];
  const [own, inodes] = version.split('+');
  return [Number(own), Number(inodes)];
}

function writeAllWrites(
  batch: Batch,
  context: BatchContext,
  paths: PathTable,
  into: Writer,
  contents: ChunkArguments,
): void {
  const grown = growthOf(batch.writes);
  into.double(grown.growth);
  into.double(grown.names);
  const { maxFileSize } = batch.limits;
  const sizes = maxFileSize === undefined ? [] : batch.writes.flatMap(sizeOf).filter(([, size]) => size > maxFileSize);
  into.u16(sizes.length);
  for (const [path, size] of sizes) {
    into.u16(paths.index(path));
    into.double(size);
  }
  if (context.stagedState !== undefined) {
    into.u8(context.stagedState.replacesAll ? 1 : 0);
    into.shortText(context.stagedState.key);
    return;
  }
  const presplit = directoriesToPresplit(context.createdNames ?? countCreatedNames(batch.writes));
  const countAt = into.reserve(2).at;
  let count = batch.writes.length;
  for (const write of batch.writes) {
    const parent = write.kind === 'create' && presplit !== undefined ? parentPath(write.path) : undefined;
    const more = parent === undefined ? undefined : presplit?.get(parent);
    if (parent !== undefined && more !== undefined) {
      into.u8(10);
      into.u16(paths.index(parent));
      into.u32(more);
      presplit?.delete(parent);
      count += 1;
    }
    writeOneWrite(write, context.stagedContents?.get(write), paths, into, contents);
  }
  into.patchU16(countAt, count);
}

/** Number of names that a batch may add to a directory without splitting its buckets first. */
const MAX_NAMES_IN_ONE_BUCKET = 12;

const NO_NAMES: ReadonlyMap<string, number> = new Map();

/** Returns the directories that should split their buckets before the names arrive. */
function directoriesToPresplit(names: ReadonlyMap<string, number>): Map<string, number> | undefined {
  if (names.size === 0) return undefined;
  const presplit = new Map([...names].filter(([, count]) => count > MAX_NAMES_IN_ONE_BUCKET));
  return presplit.size === 0 ? undefined : presplit;
}

/**
 * Counts the names that writes create in each directory. Returns an empty map for up to {@link MAX_NAMES_IN_ONE_BUCKET}
 * writes.
 */
export function countCreatedNames(writes: readonly Write[]): ReadonlyMap<string, number> {
  if (writes.length <= MAX_NAMES_IN_ONE_BUCKET) return NO_NAMES;
  const names = new Map<string, number>();
  for (const write of writes) {
    if (write.kind !== 'create') continue;
    const parent = parentPath(write.path);
    names.set(parent, (names.get(parent) ?? 0) + 1);
  }
  return names;
}

/** Returns an upper bound of what a batch adds, which tells the script whether a limit may be exceeded. */
function growthOf(writes: readonly Write[]): { readonly growth: number; readonly names: number } {
  let growth = 0;
  let names = 0;
  for (const write of writes) {
    if (write.kind === 'create' || write.kind === 'link') names += 1;
    if (write.kind === 'create') growth += write.content?.byteLength ?? (write.target?.length ?? 0) * 3;
    else if (write.kind === 'write') growth += write.size;
    else if (write.kind === 'copy') growth = names = Number.POSITIVE_INFINITY;
  }
  return { growth, names };
}

function sizeOf(write: Write): [string, number][] {
  if (write.kind === 'create') return [[write.path, write.content?.byteLength ?? 0]];
  return write.kind === 'write' ? [[write.path, write.size]] : [];
}

function writeOneWrite(
  write: Write,
  staged: StagedContent | undefined,
  paths: PathTable,
  into: Writer,
  contents: ChunkArguments,
): void {
  const path = (text: string): void => into.u16(paths.index(text));
  const meta = (value: Parameters<typeof writeMeta>[0]): void => {
    const { bytes, at } = into.reserve(META_BYTES);
    writeMeta(value, bytes, at);
  };
  switch (write.kind) {
    case 'create': {
      into.u8(1);
      path(write.path);
      into.latin1(LETTERS[write.type]);
      meta(write.meta);
      into.shortText(idText(write.id));
      const bytes = write.target === undefined ? write.content : Buffer.from(write.target);
      writeContent(bytes?.byteLength ?? 0, bytes === undefined ? [] : [{ offset: 0, bytes }], staged, into, contents);
      return;
    }
    case 'link':
      into.u8(2);
      path(write.from);
      path(write.path);
      return;
    case 'remove':
      into.u8(3);
      path(write.path);
      into.double(write.time);
      return;
    case 'move':
      into.u8(4);
      path(write.from);
      path(write.to);
      into.double(write.time);
      return;
    case 'copy':
      into.u8(5);
      path(write.from);
      path(write.to);
      into.shortText(idText(write.id));
      meta(write.meta);
      into.bytes(transformBytes(digestOf(Buffer.from(idText(write.id))), write.time, write.keepTimes));
      return;
    case 'write':
      into.u8(6);
      path(write.path);
      meta(write.meta);
      writeContent(write.size, write.parts, staged, into, contents);
      return;
    case 'meta':
      into.u8(7);
      path(write.path);
      meta(write.meta);
      return;
    case 'touch':
      into.u8(8);
      path(write.path);
      into.double(write.time);
      return;
    case 'clear':
      into.u8(9);
      meta(write.meta);
  }
}

function idText(id: string | number): string {
  const text = String(id);
  if (Buffer.byteLength(text) > MAX_ID_BYTES || text === '' || text.includes('/') || text.includes('\0'))
    throw new TypeError(`An id must have 1 to ${MAX_ID_BYTES} bytes without / and NUL`);
  return text;
}

/**
 * Encodes a content: its size, its uploaded chunks, and the rest in pieces, each within one chunk and an argument of
 * its own.
 */
export function writeContent(
  size: number,
  parts: readonly Part[],
  staged: StagedContent | undefined,
  into: Writer,
  contents: ChunkArguments,
): void {
  into.double(size);
  into.shortText(staged?.key ?? '');
  into.double(staged?.from ?? 0);
  into.double(staged?.to ?? 0);
  const countAt = into.reserve(4).at;
  let count = 0;
  for (const { offset, bytes } of parts) {
    for (let from = 0; from < bytes.length; ) {
      const at = offset + from;
      const chunk = Math.floor(at / CHUNK_BYTES);
      const within = at % CHUNK_BYTES;
      const length = Math.min(CHUNK_BYTES - within, bytes.length - from);
      if (staged === undefined || chunk < staged.from || chunk >= staged.to) {
        into.u32(chunk);
        into.u32(within);
        into.u32(contents.add(within, bytes.subarray(from, from + length)));
        count += 1;
      }
      from += length;
    }
  }
  into.patchU32(countAt, count);
}
