import type { Metadata } from '../backend.js';
import { keepOptimized } from '../engine/keep-optimized.js';
import { runSteps, type Steps } from '../engine/scheduling/time-slice.js';
import { FsError } from '../errors.js';
import { MAX_DEPTH, MAX_PATH_BYTES } from '../paths.js';
import { ColumnWriter } from './columns.js';
import { contentStart, HEADER_BYTES, writeHeader } from './format.js';
import { NumberTable } from './number-table.js';
import { packIndex } from './packed-index.js';
import { PathMeter } from './path-meter.js';
import type { ContentWriter, NodeEntry, SourceEntry } from './snapshot-entry.js';
import { Xxh32, xxh32 } from './xxh32.js';

/** Bytes of content written between two yields. A multiple of the checksum's stripe. */
const SLICE_BYTES = 2 ** 20;
/** Entries added, or contents written, between two yields. */
const SLICE_ENTRIES = 512;

/** Names or targets encoded between two yields. */
const SLICE_NAMES = 8192;

const KIND_BITS = { file: 0, directory: 4096, symlink: 8192 } as const;
const encoder = new TextEncoder();

/**
 * Builds a snapshot: first all entries are added in order, then {@link SnapshotEncoder.finish} is called. The result
 * depends only on the entries, not on ids or on the storage's history.
 */
export class SnapshotEncoder {
  readonly #names: string[] = [];
  readonly #targets: string[] = [];
  readonly #depths = new ColumnWriter();
  readonly #rights = new ColumnWriter();
  readonly #links = new ColumnWriter();
  readonly #owners = new ColumnWriter();
  readonly #stamps = new ColumnWriter();
  readonly #sizes = new ColumnWriter();
  readonly #times = new NumberTable();
  readonly #meter = new PathMeter();
  readonly #writers: ContentWriter[] = [];
  readonly #lengths: number[] = [];
  #contentLength = 0;
  #count = 0;
  /** The file whose content is written next, and how much of it is written. */
  #file = 0;
  #written = 0;

  /**
   * Adds the next entry and returns its number.
   * @throws FsError ENAMETOOLONG for a path that could not be restored
   * @throws RangeError for a time that is not finite
   */
  add(entry: SourceEntry): number {
    if (this.#count > 0) {
      this.#checkPath(entry);
      this.#depths.push(entry.depth);
      this.#names.push(entry.name);
    }
    if (entry.kind === 'link') {
      this.#rights.push(0);
      this.#links.push(entry.first);
    } else {
      this.#addNode(entry);
    }
    return this.#count++;
  }

  /**
   * Writes the snapshot. Yields regularly, so that a caller can let other tasks run.
   * @throws FsError EFBIG if the platform has no array of that size
   */
  *finish(): Steps<Uint8Array<ArrayBuffer>> {
    const index = yield* this.#packIndex();
    yield;
    const start = contentStart(index.length);
    const snapshot = allocate(start + this.#contentLength);
    snapshot.set(index, HEADER_BYTES);
    const hash = new Xxh32();
    for (let at = start; at < snapshot.length; at += SLICE_BYTES) {
      const end = Math.min(at + SLICE_BYTES, snapshot.length);
      for (let written = at; written < end; yield) written = this.#writeSome(snapshot, written, end);
      hash.update(snapshot, at, end);
    }
    writeHeader(snapshot, {
      indexLength: index.length,
      indexHash: xxh32(index),
      contentLength: this.#contentLength,
      contentHash: hash.digest(),
    });
    return snapshot;
  }

  /** Writes the next contents, of some files and not beyond `end`. Returns the position reached. */
  #writeSome(snapshot: Uint8Array, from: number, end: number): number {
    const last = Math.min(this.#file + SLICE_ENTRIES, this.#writers.length);
    let at = from;
    while (at < end && this.#file < last) {
      const length = this.#lengths[this.#file] as number;
      const part = Math.min(end - at, length - this.#written);
      (this.#writers[this.#file] as ContentWriter)(snapshot.subarray(at, at + part), this.#written);
      at += part;
      this.#written += part;
      if (this.#written < length) break;
      this.#file += 1;
      this.#written = 0;
    }
    return at;
  }

  #checkPath({ depth, name }: SourceEntry): void {
    const limit = this.#meter.exceeded(depth, name);
    if (limit === undefined) return;
    const allowed = limit === 'path' ? MAX_PATH_BYTES : MAX_DEPTH;
    const hint = `A snapshot cannot hold a ${limit === 'path' ? 'longer path' : 'deeper tree'} than ${allowed}`;
    throw new FsError('ENAMETOOLONG', { syscall: 'snapshot', path: name, limit, allowed, hint });
  }

  #addNode(entry: NodeEntry<ContentWriter | undefined>): void {
    const { meta } = entry;
    this.#rights.push(1 + meta.mode + KIND_BITS[entry.kind]);
    this.#owners.push(meta.uid);
    this.#owners.push(meta.gid);
    this.#addStamps(meta);
    if (entry.kind === 'symlink') this.#targets.push(entry.target as string);
    if (entry.kind !== 'file') return;
    this.#sizes.push(entry.size);
    if (entry.size === 0) return;
    this.#writers.push(entry.body as ContentWriter);
    this.#lengths.push(entry.size);
    this.#contentLength += entry.size;
  }

  #addStamps({ mtime, ctime, atime, birthtime }: Metadata): void {
    const position = this.#time(mtime);
    if (ctime === mtime && atime === mtime && birthtime === mtime) {
      this.#stamps.push(position * 2);
      return;
    }
    this.#stamps.push(position * 2 + 1);
    this.#stamps.push(this.#time(ctime));
    this.#stamps.push(this.#time(atime));
    this.#stamps.push(this.#time(birthtime));
  }

  #time(time: number): number {
    if (Number.isFinite(time)) return this.#times.add(time);
    throw new RangeError(`${time} is not a time that a snapshot can store: check the clock`);
  }

  *#packIndex(): Steps<Uint8Array> {
    const names = yield* packText(this.#names);
    const targets = yield* packText(this.#targets);
    return packIndex(this.#count, {
      depths: this.#depths.finish(),
      names,
      rights: this.#rights.finish(),
      links: this.#links.finish(),
      owners: this.#owners.finish(),
      stamps: this.#stamps.finish(),
      times: packTimes(this.#times.values()),
      sizes: this.#sizes.finish(),
      targets,
    });
  }
}

keepOptimized(new SnapshotEncoder());

/** Returns the snapshot of entries, given in order. */
export function* encodeSteps(entries: Iterable<SourceEntry>): Steps<Uint8Array<ArrayBuffer>> {
  const snapshot = new SnapshotEncoder();
  for (const entry of entries) if (snapshot.add(entry) % SLICE_ENTRIES === 0) yield;
  return yield* snapshot.finish();
}

/** Like {@link encodeSteps}, without pauses. */
export function encodeSnapshot(entries: Iterable<SourceEntry>): Uint8Array<ArrayBuffer> {
  return runSteps(encodeSteps(entries));
}

function* packText(texts: readonly string[]): Steps<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let at = 0; at < texts.length; at += SLICE_NAMES) {
    const part = encoder.encode(`${texts.slice(at, at + SLICE_NAMES).join('\0')}\0`);
    parts.push(part);
    length += part.length;
    yield;
  }
  const packed = allocate(length);
  let end = 0;
  for (const part of parts) {
    packed.set(part, end);
    end += part.length;
  }
  return packed;
}

function packTimes(times: Float64Array): Uint8Array {
  const view = new DataView(new ArrayBuffer(times.length * 8));
  for (let at = 0; at < times.length; at++) view.setFloat64(at * 8, times[at] as number, true);
  return new Uint8Array(view.buffer);
}

/** @throws FsError EFBIG if the platform has no array of that size */
export function allocate(length: number, path?: string): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(length);
  } catch (cause) {
    throw new FsError('EFBIG', {
      syscall: 'snapshot',
      path,
      requested: length,
      hint: `A snapshot of ${length} bytes is more than this platform can hold in one piece`,
      cause,
    });
  }
}
