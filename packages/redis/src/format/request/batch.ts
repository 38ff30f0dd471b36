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
import type { Contents } from './chunk-arguments.js';
import type { Writer } from './writer.js';

/** An index has two bytes. */
const MAX_INDEX = 0xffff;

/** The paths of one request, each named once: as its parent's index, a name and its hash. Index 0 is the root. */
export class PathTable {
  readonly #indexes = new Map<string, number>([['/', 0]]);
  readonly #rows: { readonly parent: number; readonly name: string }[] = [];

  /** @throws RangeError where there is no room for it */
  index(path: string): number {
    const known = this.#indexes.get(path);
    if (known !== undefined) return known;
    const slash = path.lastIndexOf('/');
    const parent = this.index(parentPath(path));
    if (this.#rows.length >= MAX_INDEX) throw new RangeError(`A request names at most ${MAX_INDEX} paths`);
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

/** Chunks of a content that were sent ahead: the field that refers to them, and which they are. */
export interface Staged {
  readonly key: string;
  readonly from: number;
  readonly to: number;
}

/** What a request says of a batch beside what is in it. */
export interface Sent {
  /** Of the operation; 0 for one that changes nothing. */
  readonly sequence: number;
  /** Of all that it writes; 0 for a new one. */
  readonly version?: number | undefined;
  /** Contents that were sent ahead, by position among the writes. */
  readonly staged?: ReadonlyMap<Write, Staged> | undefined;
  /** How many names the whole batch makes in a directory, where this is a part of it. */
  readonly names?: ReadonlyMap<string, number> | undefined;
  /** All its writes were made already, in a state that is kept under a field. */
  readonly prepared?: { readonly key: string; readonly replacesAll: boolean } | undefined;
}

/**
 * A batch as the commit script reads it: number, length, limits, version, checks, how much it may grow, writes.
 * @throws TypeError for an id that the layout has no room for
 */
export function writeBatch(batch: Batch, sent: Sent, paths: PathTable, into: Writer, contents: Contents): void {
  const { maxFileSize, maxTotalSize, maxNodeCount } = batch.limits;
  into.double(sent.sequence);
  const start = into.length;
  into.u32(0);
  for (const limit of [maxFileSize, maxTotalSize, maxNodeCount]) into.double(limit ?? -1);
  into.double(sent.version ?? 0);
  const body = into.length;
  writeLook(batch, paths, into);
  into.u8(batch.writes.length === 0 ? 0 : sent.prepared === undefined ? 1 : 2);
  if (batch.writes.length > 0) writeWrites(batch, sent, paths, into, contents);
  into.patchU32(start, into.length - body);
}

/** What a batch checks: all that the confirm script reads of it. */
export function writeLook({ checks }: Batch, paths: PathTable, into: Writer): void {
  into.u16(checks.length);
  for (const check of checks) writeCheck(check, paths, into);
}

function writeCheck(check: Check, paths: PathTable, into: Writer): void {
  into.u8(CHECKS[check.kind]);
  into.u16(paths.index(check.path));
  into.short(check.id === null ? '' : String(check.id));
  const version = check.kind === 'empty' ? undefined : check.version;
  const [own, inodes] = check.kind === 'tree' ? treeVersion(check.version) : [numberOf(version), -1];
  into.double(own);
  into.double(inodes);
}

function numberOf(version: Version | undefined): number {
  return version === undefined ? -1 : typeof version === 'number' ? version : Number.NaN;
}

/** Beneath which files have several names, a subtree's version has that of their table behind it. */
function treeVersion(version: Version): readonly [number, number] {
  if (typeof version === 'number') return [version, -1];
  const [own, inodes] = version.split('+');
  return [Number(own), Number(inodes)];
}

function writeWrites(batch: Batch, sent: Sent, paths: PathTable, into: Writer, contents: Contents): void {
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
  if (sent.prepared !== undefined) {
    into.u8(sent.prepared.replacesAll ? 1 : 0);
    into.short(sent.prepared.key);
    return;
  }
  const crowds = crowdsOf(sent.names ?? namesMadeIn(batch.writes));
  const counted = into.reserve(2).at;
  let count = batch.writes.length;
  for (const write of batch.writes) {
    const parent = write.kind === 'create' && crowds !== undefined ? parentPath(write.path) : undefined;
    const more = parent === undefined ? undefined : crowds?.get(parent);
    if (parent !== undefined && more !== undefined) {
      into.u8(10);
      into.u16(paths.index(parent));
      into.u32(more);
      crowds?.delete(parent);
      count += 1;
    }
    writeWrite(write, sent.staged?.get(write), paths, into, contents);
  }
  into.patchU16(counted, count);
}

/** More names than one bucket has: the directory makes room for them before they come. */
const CROWD = 12;

const NONE: ReadonlyMap<string, number> = new Map();

/** Directories that get so many names that room is made for them first. */
function crowdsOf(names: ReadonlyMap<string, number>): Map<string, number> | undefined {
  if (names.size === 0) return undefined;
  const crowds = new Map([...names].filter(([, count]) => count > CROWD));
  return crowds.size === 0 ? undefined : crowds;
}

/** How many names writes make in each directory. */
export function namesMadeIn(writes: readonly Write[]): ReadonlyMap<string, number> {
  if (writes.length <= CROWD) return NONE;
  const names = new Map<string, number>();
  for (const write of writes) {
    if (write.kind !== 'create') continue;
    const parent = parentPath(write.path);
    names.set(parent, (names.get(parent) ?? 0) + 1);
  }
  return names;
}

/** At most how much a batch adds: whether a limit has to be looked at closely. */
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

function writeWrite(
  write: Write,
  staged: Staged | undefined,
  paths: PathTable,
  into: Writer,
  contents: Contents,
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
      into.latin(LETTERS[write.type]);
      meta(write.meta);
      into.short(idText(write.id));
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
      into.short(idText(write.id));
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

/** A content: its size, chunks that were staged, and the rest in pieces that each lie within one chunk and go beside it. */
export function writeContent(
  size: number,
  parts: readonly Part[],
  staged: Staged | undefined,
  into: Writer,
  contents: Contents,
): void {
  into.double(size);
  into.short(staged?.key ?? '');
  into.double(staged?.from ?? 0);
  into.double(staged?.to ?? 0);
  const counted = into.reserve(4).at;
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
  into.patchU32(counted, count);
}
