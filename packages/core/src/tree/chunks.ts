import { Owner } from './owner.js';
import { sameBytes } from './same-bytes.js';

/** Bytes per chunk. A write may copy each shared chunk that it changes. */
const CHUNK_BYTES = 16 * 1024;

const MAX_CHILDREN = 64;
const MIN_CAPACITY_BYTES = 4096;
const HOLE = new Uint8Array(0);

/**
 * The bytes of one chunk. A shorter file that shares this chunk uses only a prefix of it. Bytes from `used` on belong
 * to no file and are zero; `bytes` may end before them. A file that ends at `used` may therefore write after it in
 * place: the other files end there or earlier and are not affected.
 */
class Chunk {
  constructor(
    readonly owner: Owner,
    public bytes: Uint8Array<ArrayBuffer>,
    public used: number,
  ) {}

  reserve(capacity: number): void {
    if (capacity <= this.bytes.length) return;
    const grown = new Uint8Array(roundCapacity(capacity));
    grown.set(this.bytes);
    this.bytes = grown;
  }
}

class Branch {
  constructor(
    readonly owner: Owner,
    readonly slots: Slot[],
  ) {}
}

/** Part of a content; undefined if all of its bytes are zeros that are not stored. */
type Slot = Branch | Chunk | undefined;

/**
 * Large content: a persistent tree of chunks in which chunks that were never written take no space, so that the cost
 * follows the bytes written and not the size. The file's node keeps the size; no chunk lies completely beyond it.
 */
export class Chunks {
  // Only this object may overwrite chunks and branches with this mark.
  private readonly mark = new Owner();

  private constructor(
    private owner: Owner | null,
    private root: Slot,
    private height: number,
  ) {}

  static empty(owner: Owner | null): Chunks {
    return new Chunks(owner, undefined, 0);
  }

  static fromBytes(owner: Owner | null, bytes: Uint8Array): Chunks {
    const chunks = Chunks.empty(owner);
    const size = bytes.length;
    for (let start = 0; start < size; start += CHUNK_BYTES) {
      const part = new Uint8Array(bytes.subarray(start, start + CHUNK_BYTES));
      chunks.put(start / CHUNK_BYTES, new Chunk(chunks.mark, part, part.length));
    }
    return chunks;
  }

  /** Returns this object if `owner` may change it in place; otherwise a new one that shares all chunks. */
  own(owner: Owner): Chunks {
    return this.owner === owner ? this : new Chunks(owner, this.root, this.height);
  }

  /** Freezes this object: from now on `own` returns another object to every owner. */
  disown(): void {
    this.owner = null;
  }

  /** Copies a range that lies within the content. */
  read(into: Uint8Array, at: number, position: number, length: number): void {
    for (let done = 0; done < length; ) {
      const index = Math.floor((position + done) / CHUNK_BYTES);
      const from = position + done - index * CHUNK_BYTES;
      const count = Math.min(length - done, CHUNK_BYTES - from);
      const chunk = this.chunkAt(index);
      const known = chunk ? Math.max(0, Math.min(count, chunk.bytes.length - from)) : 0;
      if (known > 0) into.set(chunk!.bytes.subarray(from, from + known), at + done);
      if (known < count) into.fill(0, at + done + known, at + done + count);
      done += count;
    }
  }

  /** Writes into content of `size` bytes; a gap is filled with zeros. The caller must own this object, see `own`. */
  write(size: number, position: number, bytes: Uint8Array): void {
    if (position > size) this.extend(size, position);
    const isSparse = position > size;
    const before = Math.max(size, position);
    const length = bytes.length;
    for (let done = 0; done < length; ) {
      const index = Math.floor((position + done) / CHUNK_BYTES);
      const from = position + done - index * CHUNK_BYTES;
      const count = Math.min(length - done, CHUNK_BYTES - from);
      const part = count === length ? bytes : bytes.subarray(done, done + count);
      this.writeChunk(index, localEnd(before, index), from, part, isSparse);
      done += count;
    }
  }

  /** Appends zeros without storing them. The caller must own this object, see `own`. */
  extend(size: number, newSize: number): void {
    const index = Math.floor(size / CHUNK_BYTES);
    const end = localEnd(size, index);
    const chunk = end > 0 ? this.chunkAt(index) : undefined;
    if (!chunk) return;
    const newEnd = localEnd(newSize, index);
    if (chunk.used === end) chunk.used = newEnd;
    else if (chunk.owner === this.mark) {
      chunk.bytes.fill(0, end, chunk.used);
      chunk.used = Math.max(chunk.used, newEnd);
    } else this.put(index, this.copyOf(chunk, end, end, newEnd));
  }

  /** Truncates the content. The caller must own this object, see `own`. */
  cut(newSize: number): void {
    const count = Math.ceil(newSize / CHUNK_BYTES);
    this.root = cutSlot(this.root, this.height, count, this.mark);
  }

  /** Reports whether both hold the same first `size` bytes. */
  equals(other: Chunks, size: number): boolean {
    const count = Math.ceil(size / CHUNK_BYTES);
    for (let index = 0; ; index++) {
      index = Math.min(this.nextIndex(index), other.nextIndex(index));
      if (index >= count) return true;
      const a = this.chunkAt(index);
      const b = other.chunkAt(index);
      if (a !== b && !sameBytes(a?.bytes ?? HOLE, b?.bytes ?? HOLE, localEnd(size, index))) return false;
    }
  }

  /** Returns the index of the first chunk from `index` on that is not a hole, or Infinity. */
  nextIndex(index: number): number {
    return nextIn(this.root, this.height, index);
  }

  /** Returns how many of `size` bytes are in chunks that are not stored. */
  holes(size: number): number {
    let holes = size;
    for (let at = this.nextIndex(0); at < Math.ceil(size / CHUNK_BYTES); at = this.nextIndex(at + 1))
      holes -= localEnd(size, at);
    return holes;
  }

  private writeChunk(index: number, end: number, from: number, part: Uint8Array, isSparse: boolean): void {
    const to = from + part.length;
    let chunk = this.chunkAt(index);
    if (!chunk) {
      // Zeros before the end of the content belong to it, so they count as used. Content that was appended to will
      // probably be appended to again, so it gets room for a whole chunk.
      const isAppended = !isSparse && from === 0 && end === 0 && index > 0 && this.chunkAt(index - 1) !== undefined;
      const capacity = isAppended ? CHUNK_BYTES : roundCapacity(to);
      chunk = new Chunk(this.mark, new Uint8Array(capacity), Math.max(end, to));
      this.put(index, chunk);
    } else if (chunk.owner === this.mark) {
      chunk.used = Math.max(chunk.used, to);
    } else if (from === end && chunk.used === end) {
      chunk.used = to;
    } else {
      chunk = this.copyOf(chunk, end, to, Math.max(end, to));
      this.put(index, chunk);
    }
    chunk.reserve(to);
    chunk.bytes.set(part, from);
  }

  /** Returns a new chunk that belongs to this object, with the first `end` bytes of another chunk. */
  private copyOf(chunk: Chunk, end: number, capacity: number, used: number): Chunk {
    const copy = new Uint8Array(roundCapacity(Math.max(capacity, Math.min(end, chunk.bytes.length))));
    copy.set(chunk.bytes.length <= end ? chunk.bytes : chunk.bytes.subarray(0, end));
    return new Chunk(this.mark, copy, used);
  }

  private chunkAt(index: number): Chunk | undefined {
    let slot = this.root;
    let span = MAX_CHILDREN ** this.height;
    if (index >= span) return undefined;
    let rest = index;
    for (let height = this.height; height > 0; height--) {
      if (!slot) return undefined;
      span /= MAX_CHILDREN;
      const at = Math.floor(rest / span);
      rest -= at * span;
      slot = (slot as Branch).slots[at];
    }
    return slot as Chunk | undefined;
  }

  private put(index: number, chunk: Chunk): void {
    while (index >= MAX_CHILDREN ** this.height) {
      if (this.root) this.root = new Branch(this.mark, [this.root]);
      this.height++;
    }
    this.root = putIn(this.root, this.height, index, chunk, this.mark);
  }
}

function putIn(slot: Slot, height: number, index: number, chunk: Chunk, mark: Owner): Slot {
  if (height === 0) return chunk;
  const branch = ownBranch(slot as Branch | undefined, mark);
  const span = MAX_CHILDREN ** (height - 1);
  const at = Math.floor(index / span);
  while (branch.slots.length < at) branch.slots.push(undefined);
  branch.slots[at] = putIn(branch.slots[at], height - 1, index - at * span, chunk, mark);
  return branch;
}

function ownBranch(branch: Branch | undefined, mark: Owner): Branch {
  if (!branch) return new Branch(mark, []);
  return branch.owner === mark ? branch : new Branch(mark, branch.slots.slice());
}

/** Keeps the first `count` chunks. */
function cutSlot(slot: Slot, height: number, count: number, mark: Owner): Slot {
  if (!slot || count <= 0) return undefined;
  if (height === 0) return slot;
  const span = MAX_CHILDREN ** (height - 1);
  const kept = Math.ceil(count / span);
  const branch = slot as Branch;
  const last = branch.slots[kept - 1];
  const cutLast = cutSlot(last, height - 1, count - (kept - 1) * span, mark);
  if (branch.slots.length <= kept && cutLast === last) return branch;
  const own = new Branch(mark, branch.slots.slice(0, kept));
  if (own.slots.length === kept) own.slots[kept - 1] = cutLast;
  return own;
}

function nextIn(slot: Slot, height: number, from: number): number {
  if (!slot) return Infinity;
  if (height === 0) return from <= 0 ? 0 : Infinity;
  const span = MAX_CHILDREN ** (height - 1);
  const { slots } = slot as Branch;
  for (let at = Math.max(0, Math.floor(from / span)); at < slots.length; at++) {
    const found = nextIn(slots[at], height - 1, from - at * span);
    if (found !== Infinity) return at * span + found;
  }
  return Infinity;
}

/** Returns the offset in the chunk at `index` at which content of `size` bytes ends. */
function localEnd(size: number, index: number): number {
  return Math.max(0, Math.min(CHUNK_BYTES, size - index * CHUNK_BYTES));
}

function roundCapacity(bytes: number): number {
  let capacity = MIN_CAPACITY_BYTES;
  while (capacity < bytes) capacity *= 2;
  return capacity;
}
