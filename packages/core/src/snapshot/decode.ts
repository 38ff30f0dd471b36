import type { Metadata } from '../backend.js';
import { keepOptimized } from '../engine/keep-optimized.js';
import { checkTarget } from '../engine/operations/names.js';
import { runSteps, type Steps } from '../engine/scheduling/time-slice.js';
import type { EntryKind } from '../entry.js';
import { checkName, compareNames, utf8Length } from '../paths.js';
import { ColumnReader } from './columns.js';
import { corrupt } from './corrupt.js';
import { contentStart, HEADER_BYTES, readHeader } from './format.js';
import { NumberTable } from './number-table.js';
import { COLUMNS, type Columns, unpackIndex } from './packed-index.js';
import { PathMeter } from './path-meter.js';
import type { DecodedEntry, FurtherName, NodeEntry } from './snapshot-entry.js';
import { Xxh32, xxh32 } from './xxh32.js';

/** Bytes of content checked between two yields. */
const SLICE_BYTES = 2 ** 20;
/** Entries read between two yields. */
const SLICE_ENTRIES = 512;

const MAX_OWNER = 2 ** 32 - 1;
const NO_BYTES = new Uint8Array(0);
const KINDS: readonly EntryKind[] = ['file', 'directory', 'symlink'];

/** A checked snapshot. The contents of its entries are views of the given bytes. */
export class Snapshot {
  readonly #open: () => EntryReader;
  constructor(
    /** Number of names, the root included. */
    readonly count: number,
    /** Bytes of all contents and link targets; a file with several names counts once. */
    readonly size: number,
    /** Bytes of the largest content or link target. */
    readonly largest: number,
    /** Number of names of each entry with several names, by entry number. */
    readonly names: ReadonlyMap<number, number>,
    open: () => EntryReader,
  ) {
    this.#open = open;
  }

  /** Yields its entries, from the root on. Can be called repeatedly. */
  *entries(): Generator<DecodedEntry, void> {
    const reader = this.#open();
    for (let number = 0; number < this.count; number++) yield reader.next();
  }
}

/**
 * Checks a complete snapshot: checksums, lengths, names, order, kinds, numbers. It yields regularly, so that a caller
 * can let other tasks run; the bytes must not change until it has ended, nor while the contents are in use. It needs a
 * small multiple of the index's length in memory, whatever the bytes claim.
 * @throws StorageError `corrupt` with the reason, `version` for a snapshot of a newer release
 */
export function* decodeSteps(bytes: Uint8Array<ArrayBuffer>): Steps<Snapshot> {
  const header = readHeader(bytes);
  const index = bytes.subarray(HEADER_BYTES, HEADER_BYTES + header.indexLength);
  if (xxh32(index) !== header.indexHash) throw corrupt('the checksum of its index is wrong');
  yield;
  const start = contentStart(header.indexLength);
  if (bytes.subarray(HEADER_BYTES + header.indexLength, start).some((byte) => byte !== 0)) {
    throw corrupt('the gap after its index is not empty');
  }
  const content = bytes.subarray(start);
  const hash = new Xxh32();
  for (let at = 0; at < content.length; at += SLICE_BYTES) {
    hash.update(content, at, Math.min(at + SLICE_BYTES, content.length));
    yield;
  }
  if (hash.digest() !== header.contentHash) throw corrupt('the checksum of its contents is wrong');

  const { count, columns } = unpackIndex(index);
  if (count < 1) throw corrupt('it has no root');
  // Each entry takes at least one byte, so the allocated memory is bounded by the input's size, not by the claimed
  // count.
  if (columns.rights.length < count) throw corrupt(`it has fewer than the ${count} entries it claims`);
  const shared = {
    names: readText('the names', columns.names),
    targets: readText('the targets', columns.targets),
    times: readTimes(columns.times),
  };
  yield;
  const open = (withBodies: boolean) => new EntryReader(count, columns, shared, content, withBodies);
  const reader = open(false);
  const order = new OrderCheck();
  for (let checked = 0; checked < count; yield)
    checked = order.checkUpTo(Math.min(checked + SLICE_ENTRIES, count), reader);
  reader.end();
  return new Snapshot(count, content.length + reader.targetBytes, reader.largest, order.names, () => open(true));
}

/** Like {@link decodeSteps}, without pauses. */
export function decodeSnapshot(bytes: Uint8Array<ArrayBuffer>): Snapshot {
  return runSteps(decodeSteps(bytes));
}

/** Checks that entries form a tree: parents are directories and come first, siblings are in order, hence distinct. */
class OrderCheck {
  /** Number of names of each entry with several names, by entry number. */
  readonly names = new Map<number, number>();
  #checked = 0;
  /** Names from the root to the previous entry, which lies at depth `#last`; the rest is unused. */
  readonly #path: string[] = [''];
  #last = 0;
  readonly #meter = new PathMeter();
  #mayHold = 1;

  /** Checks the next entries, up to the one numbered `end`. Returns `end`. */
  checkUpTo(end: number, reader: EntryReader): number {
    for (; this.#checked < end; this.#checked++) {
      const entry = reader.next();
      this.#check(entry, this.#checked);
      if (entry.kind === 'link') this.names.set(entry.first, (this.names.get(entry.first) ?? 1) + 1);
    }
    return end;
  }

  #check(entry: DecodedEntry, number: number): void {
    const { depth, name, kind } = entry;
    if (number === 0) {
      if (kind !== 'directory') throw corrupt('its root is not a directory');
    } else {
      this.#checkName(name, number);
      if (depth < 1 || depth > this.#mayHold) throw corrupt(`entry ${number} does not lie in a directory`);
      const before = depth <= this.#last ? this.#path[depth] : undefined;
      if (before !== undefined && compareNames(before, name) >= 0) {
        throw corrupt(`entry ${number} is a duplicate or out of order`);
      }
      if (this.#meter.exceeded(depth, name)) throw corrupt(`entry ${number} has a path that is too long`);
      this.#path[depth] = name;
      this.#last = depth;
    }
    this.#mayHold = kind === 'directory' ? depth + 1 : depth;
  }

  #checkName(name: string, number: number): void {
    try {
      checkName(name);
    } catch (cause) {
      throw corrupt(`entry ${number} has a name that is not allowed`, cause);
    }
  }
}

/** Columns that all readers of a snapshot share. */
interface Shared {
  readonly names: string;
  readonly targets: string;
  readonly times: Float64Array;
}

/** Reads entries one by one from the columns. */
class EntryReader {
  readonly #depths: ColumnReader;
  readonly #rights: ColumnReader;
  readonly #links: ColumnReader;
  readonly #owners: ColumnReader;
  readonly #stamps: ColumnReader;
  readonly #sizes: ColumnReader;
  readonly #names: TextReader;
  readonly #targets: TextReader;
  readonly #times: Float64Array;
  readonly #content: Uint8Array<ArrayBuffer>;
  /** By entry number: 1 for the first name of a file or symlink. */
  readonly #linkable: Uint8Array;
  targetBytes = 0;
  largest = 0;
  #number = 0;
  #timesUsed = 0;
  #offset = 0;
  #recent: Metadata = { mode: -1, uid: 0, gid: 0, atime: 0, mtime: 0, ctime: 0, birthtime: 0 };

  constructor(
    count: number,
    columns: Columns,
    shared: Shared,
    content: Uint8Array<ArrayBuffer>,
    readonly withBodies: boolean,
  ) {
    this.#depths = new ColumnReader('the depths', columns.depths);
    this.#rights = new ColumnReader('the rights', columns.rights);
    this.#links = new ColumnReader('the links', columns.links);
    this.#owners = new ColumnReader('the owners', columns.owners);
    this.#stamps = new ColumnReader('the stamps', columns.stamps);
    this.#sizes = new ColumnReader('the sizes', columns.sizes);
    this.#names = new TextReader('the names', shared.names);
    this.#targets = new TextReader('the targets', shared.targets);
    this.#times = shared.times;
    this.#content = content;
    this.#linkable = new Uint8Array(count);
  }

  next(): DecodedEntry {
    const number = this.#number++;
    const depth = number === 0 ? 0 : this.#depths.next();
    const name = number === 0 ? '' : this.#names.next();
    const rights = this.#rights.next();
    return rights === 0 ? this.#further(depth, name) : this.#node(depth, name, rights - 1, number);
  }

  /** Checks that nothing is left over. */
  end(): void {
    for (const column of [this.#depths, this.#rights, this.#links, this.#owners, this.#stamps, this.#sizes]) {
      column.end();
    }
    this.#names.end();
    this.#targets.end();
    if (this.#timesUsed !== this.#times.length) throw corrupt('the times are too many');
    if (this.#offset !== this.#content.length) throw corrupt('the contents are too many');
  }

  #further(depth: number, name: string): FurtherName {
    const first = this.#links.next();
    if (this.#linkable[first] !== 1) throw corrupt('a link does not lead to a file that came before');
    return { kind: 'link', depth, name, first };
  }

  #node(depth: number, name: string, rights: number, number: number): NodeEntry<Uint8Array<ArrayBuffer>> {
    const kind = KINDS[Math.floor(rights / 4096)];
    if (kind === undefined) throw corrupt(`entry ${number} is of no known kind`);
    if (kind !== 'directory') this.#linkable[number] = 1;
    const meta = this.#meta(rights % 4096);
    if (kind === 'symlink') {
      const target = this.#targets.next();
      this.#checkTarget(target, number);
      return { kind, depth, name, meta, size: 0, target, body: NO_BYTES };
    }
    const size = kind === 'file' ? this.#sizes.next() : 0;
    if (size > this.#content.length - this.#offset) throw corrupt(`the content of entry ${number} is too short`);
    if (size > this.largest) this.largest = size;
    const start = this.#offset;
    this.#offset += size;
    const body = this.withBodies ? this.#content.subarray(start, this.#offset) : NO_BYTES;
    return { kind, depth, name, meta, size, body };
  }

  #checkTarget(target: string, number: number): void {
    try {
      checkTarget(target, '');
    } catch (cause) {
      throw corrupt(`entry ${number} has a target that is not allowed`, cause);
    }
    const bytes = utf8Length(target);
    this.targetBytes += bytes;
    if (bytes > this.largest) this.largest = bytes;
  }

  /** Returns metadata. Neighbours are often alike and then share one object. */
  #meta(mode: number): Metadata {
    const uid = this.#owner();
    const gid = this.#owner();
    const stamp = this.#stamps.next();
    const mtime = this.#time(Math.floor(stamp / 2));
    const alike = stamp % 2 === 0;
    const ctime = alike ? mtime : this.#time(this.#stamps.next());
    const atime = alike ? mtime : this.#time(this.#stamps.next());
    const birthtime = alike ? mtime : this.#time(this.#stamps.next());
    if (!alike && ctime === mtime && atime === mtime && birthtime === mtime) {
      throw corrupt('the stamps have a number in a wrong form');
    }
    const recent = this.#recent;
    if (
      recent.mtime !== mtime ||
      recent.mode !== mode ||
      recent.ctime !== ctime ||
      recent.atime !== atime ||
      recent.birthtime !== birthtime ||
      recent.uid !== uid ||
      recent.gid !== gid
    ) {
      this.#recent = { mode, uid, gid, atime, mtime, ctime, birthtime };
    }
    return this.#recent;
  }

  #owner(): number {
    const owner = this.#owners.next();
    if (owner > MAX_OWNER) throw corrupt('an owner is out of range');
    return owner;
  }

  #time(position: number): number {
    if (position > this.#timesUsed) throw corrupt('the times are not in the order of their use');
    const time = this.#times[position];
    if (time === undefined) throw corrupt('the times are too few');
    if (position === this.#timesUsed) this.#timesUsed++;
    return time;
  }
}

/** Reads texts that end with NUL. */
class TextReader {
  readonly #text: string;
  #at = 0;

  constructor(
    readonly name: string,
    text: string,
  ) {
    this.#text = text;
  }

  next(): string {
    const end = this.#text.indexOf('\0', this.#at);
    if (end === -1) throw corrupt(`${this.name} are too few`);
    const text = this.#text.slice(this.#at, end);
    this.#at = end + 1;
    return text;
  }

  end(): void {
    if (this.#at !== this.#text.length) throw corrupt(`${this.name} are too many`);
  }
}

/** Decodes UTF-8. Malformed bytes are refused, a byte order mark is an ordinary character. */
function readText(name: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw corrupt(`${name} are not UTF-8`, cause);
  }
}

/** Reads the times; each must be finite and distinct. */
function readTimes(bytes: Uint8Array): Float64Array {
  if (bytes.length % 8 !== 0) throw corrupt('the times are cut');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const table = new NumberTable();
  for (let at = 0; at < bytes.length; at += 8) {
    const time = view.getFloat64(at, true);
    if (!Number.isFinite(time) || Object.is(time, -0)) throw corrupt('a time is not a number');
    if (table.add(time) !== at / 8) throw corrupt('a time is there twice');
  }
  return table.values();
}

const NO_COLUMNS = Object.fromEntries(COLUMNS.map((name) => [name, NO_BYTES])) as Columns;
keepOptimized(new EntryReader(0, NO_COLUMNS, { names: '', targets: '', times: new Float64Array(0) }, NO_BYTES, false));
keepOptimized(new OrderCheck());
