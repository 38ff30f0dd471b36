import { Chunks } from './chunks.js';
import { detach } from './detach.js';
import type { Owner } from './owner.js';
import { sameBytes } from './same-bytes.js';
import { Slab, Slabs } from './slab.js';

/** Stored content. A string is ASCII, so one byte per unit; null is the empty file. */
export type Data = string | Uint8Array<ArrayBuffer> | Slab | Chunks | null;

/**
 * Location of a file's content: `size` bytes of `data`, in a slab from `start` on. Only the content store changes the
 * fields of loaded content.
 */
export interface ContentNode {
  /** A {@link Data} whenever a content store is called with it. */
  data: unknown;
  start: number;
  size: number;
}

/** Maximum bytes of a content in a slab. */
const MAX_SLAB_CONTENT_BYTES = 4 * 1024;
/** Maximum bytes of a content in one array. Content that is written at positions is in chunks unless it fits a slab. */
const MAX_UNCHUNKED_BYTES = 64 * 1024;
/**
 * Maximum length of ASCII text kept as a string. Longer strings cost more garbage collection than they save decoding.
 */
const MAX_KEPT_TEXT_LENGTH = 1024;
/** Below this length, copying a string with `detach` is cheaper than decoding its bytes again. */
const MAX_JOINED_TEXT_LENGTH = 64;

let scratch: Uint8Array<ArrayBuffer> | undefined;
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * The contents of files, immutable once shared: one store for a filesystem and its forks. Bytes are copied when they go
 * in and out, except by `adopt` and `toSend`.
 */
export class ContentStore {
  private readonly slabs = new Slabs();
  private isRepeated = false;

  /** Bytes allocated in slabs. A slab that is no longer referenced counts until the next compaction. */
  get slabBytes(): number {
    return this.slabs.allocated;
  }

  /**
   * Stores bytes. Large content may be changed in place by `owner`; without one its parts are copied on the first
   * write.
   */
  fromBytes(node: ContentNode, bytes: Uint8Array, owner: Owner | null = null): void {
    const size = bytes.length;
    if (size === 0) setContent(node, null, 0, 0);
    else if (size <= MAX_SLAB_CONTENT_BYTES) {
      const slab = this.slabs.withRoom(size);
      const start = slab.take(size);
      slab.bytes.set(bytes, start);
      setContent(node, slab, start, size);
    } else if (size <= MAX_UNCHUNKED_BYTES) setContent(node, new Uint8Array(bytes), 0, size);
    else setContent(node, Chunks.fromBytes(owner, bytes), 0, size);
  }

  /** Takes over an array that the caller must never change again. It is stored without a copy unless it is large. */
  adopt(node: ContentNode, bytes: Uint8Array, owner: Owner): void {
    if (bytes.length <= MAX_UNCHUNKED_BYTES && bytes.length > 0)
      setContent(node, bytes as Uint8Array<ArrayBuffer>, 0, bytes.length);
    else this.fromBytes(node, bytes, owner);
  }

  /** Returns the stored bytes without a copy if they are an array of their own. The caller must not change them. */
  toSend(node: ContentNode): Uint8Array {
    const { data, size } = node;
    return data instanceof Uint8Array && data.length === size ? data : this.bytes(node);
  }

  /** Stores text as UTF-8; a lone surrogate becomes U+FFFD. */
  fromText(node: ContentNode, text: string, owner: Owner | null = null): void {
    const { length } = text;
    if (length > MAX_UNCHUNKED_BYTES) {
      this.fromBytes(node, encoder.encode(text), owner);
      return;
    }
    scratch ??= new Uint8Array(MAX_UNCHUNKED_BYTES);
    const { read, written } = encoder.encodeInto(text, scratch);
    if (written === length && read === length && length <= MAX_KEPT_TEXT_LENGTH)
      setContent(node, ownText(text, scratch), 0, length);
    else this.fromBytes(node, read === length ? scratch.subarray(0, written) : encoder.encode(text), owner);
  }

  /** @throws RangeError if the engine cannot create an array of that size */
  bytes(node: ContentNode): Uint8Array<ArrayBuffer> {
    return this.slice(node, 0, node.size);
  }

  /** Returns the content decoded as UTF-8, malformed bytes as U+FFFD; a byte order mark is kept. */
  text(node: ContentNode): string {
    const { data } = node;
    if (data === null) return '';
    if (typeof data === 'string') return data;
    if (data instanceof Slab) return decoder.decode(data.bytes.subarray(node.start, node.start + node.size));
    if (data instanceof Uint8Array) return decoder.decode(data.subarray(0, node.size));
    return decoder.decode(this.bytes(node));
  }

  /** Copies content from `position` on and returns the number of bytes. */
  read(node: ContentNode, into: Uint8Array, position: number): number {
    const length = Math.min(into.length, node.size - position);
    if (length <= 0) return 0;
    copyOut(node, into, 0, position, length);
    return length;
  }

  /** Returns a copy of the bytes from `start` to `end`, which may lie beyond the content. */
  slice(node: ContentNode, start: number, end: number): Uint8Array<ArrayBuffer> {
    const length = Math.max(0, Math.min(end, node.size) - start);
    if (node.data instanceof Slab && length > 0) {
      return node.data.bytes.slice(node.start + start, node.start + start + length);
    }
    const bytes = new Uint8Array(length);
    if (length > 0) copyOut(node, bytes, 0, start, length);
    return bytes;
  }

  /**
   * Gives `target` the content of `source` with `bytes` at `position`, zeros in a gap. Parts of `source` that `owner`
   * owns are changed in place, so the content of `source` must not be used afterwards, unless it is `target` itself.
   */
  patch(target: ContentNode, source: ContentNode, owner: Owner, position: number, bytes: Uint8Array): void {
    const length = bytes.length;
    if (length === 0) {
      this.share(target, source);
      return;
    }
    const size = Math.max(source.size, position + length);
    if (size > MAX_SLAB_CONTENT_BYTES) {
      const before = source.size;
      const chunks = toChunks(source, owner);
      chunks.write(before, position, bytes);
      setContent(target, chunks, 0, size);
      return;
    }
    if (this.appendInPlace(target, source, position, bytes)) return;
    const slab = this.copySmall(target, source, size);
    slab.bytes.set(bytes, target.start + position);
  }

  /**
   * Gives `target` the content of `source`, cut or extended by zeros, which take no space unless the result fits a
   * slab. For `source` see `patch`.
   */
  resize(target: ContentNode, source: ContentNode, owner: Owner, size: number): void {
    const oldSize = source.size;
    if (size === oldSize) this.share(target, source);
    else if (size === 0) setContent(target, null, 0, 0);
    else if (size < oldSize) this.cut(target, source, owner, size);
    else if (size <= MAX_SLAB_CONTENT_BYTES) this.copySmall(target, source, size);
    else {
      const chunks = toChunks(source, owner);
      chunks.extend(oldSize, size);
      setContent(target, chunks, 0, size);
    }
  }

  /** Gives `target` the content of `source`, which keeps it. */
  share(target: ContentNode, source: ContentNode): void {
    const data = source.data as Data;
    if (data instanceof Chunks) data.disown();
    else if (data instanceof Slab && target !== source) this.slabs.live += source.size;
    setContent(target, data, source.start, source.size);
  }

  /** Returns how many bytes are zeros in chunks that are not stored. */
  holes({ data, size }: ContentNode): number {
    return data instanceof Chunks ? data.holes(size) : 0;
  }

  equal(a: ContentNode, b: ContentNode): boolean {
    if (a.size !== b.size) return false;
    if (a.data === b.data && a.start === b.start) return true;
    if (typeof a.data === 'string' && typeof b.data === 'string') return a.data === b.data;
    if (a.data instanceof Chunks || b.data instanceof Chunks) return toChunks(a).equals(toChunks(b), a.size);
    return sameBytes(this.bytes(a), this.bytes(b), a.size);
  }

  /** Subtracts a node's content from the estimate of live bytes. Checkpoints may still hold the content. */
  noteReleased(node: ContentNode): void {
    if (node.data instanceof Slab && !this.isRepeated) this.slabs.live = Math.max(0, this.slabs.live - node.size);
  }

  /** Runs `work` without counting releases, which were counted in an earlier run of it. */
  repeat(work: () => void): void {
    this.isRepeated = true;
    try {
      work();
    } finally {
      this.isRepeated = false;
    }
  }

  /** Reports whether slabs hold so much more than live content that compacting is worth the walk. */
  shouldCompact(): boolean {
    return this.slabs.shouldCompact();
  }

  /**
   * Compacts thinly used slabs. `nodes`: those whose contents may be moved. Other nodes, such as those of forks, keep
   * their slabs, which no longer count as allocated unless `nodes` use them too.
   */
  compact(nodes: Iterable<ContentNode>): void {
    this.slabs.compact(nodes);
  }

  /** Gives `target` a copy of the content of `source` in a slab, extended by zeros. */
  private copySmall(target: ContentNode, source: ContentNode, size: number): Slab {
    const slab = this.slabs.withRoom(size);
    const start = slab.take(size);
    if (source.size > 0) copyOut(source, slab.bytes, start, 0, source.size);
    if (target === source) this.noteReleased(source);
    setContent(target, slab, start, size);
    return slab;
  }

  /**
   * Appends in place to content that ends where the used part of its slab ends; other nodes that share the content end
   * there or earlier. Returns false if that is not possible.
   */
  private appendInPlace(target: ContentNode, source: ContentNode, position: number, bytes: Uint8Array): boolean {
    const slab = source.data;
    const { start, size } = source;
    if (!(slab instanceof Slab) || position !== size || start + size !== slab.used || slab.free < bytes.length)
      return false;
    slab.bytes.set(bytes, slab.take(bytes.length));
    setContent(target, slab, start, size + bytes.length);
    this.slabs.live += bytes.length;
    return true;
  }

  private cut(target: ContentNode, source: ContentNode, owner: Owner, size: number): void {
    const { data, start } = source;
    if (data instanceof Slab) {
      this.slabs.live += size;
      setContent(target, data, start, size);
    } else if (typeof data === 'string') setContent(target, detach(data.slice(0, size)), 0, size);
    else if (data instanceof Chunks && size > MAX_SLAB_CONTENT_BYTES) {
      const chunks = data.own(owner);
      chunks.cut(size);
      setContent(target, chunks, 0, size);
    } else this.fromBytes(target, this.slice(source, 0, size));
  }
}

function setContent(node: ContentNode, data: Data, start: number, size: number): void {
  node.data = data;
  node.start = start;
  node.size = size;
}

function copyOut(node: ContentNode, into: Uint8Array, at: number, position: number, length: number): void {
  const data = node.data as Data;
  if (data instanceof Slab) into.set(data.bytes.subarray(node.start + position, node.start + position + length), at);
  else if (typeof data === 'string') {
    encoder.encodeInto(
      length === data.length ? data : data.slice(position, position + length),
      into.subarray(at, at + length),
    );
  } else if (data instanceof Uint8Array) into.set(data.subarray(position, position + length), at);
  else if (data instanceof Chunks) data.read(into, at, position, length);
  else throw new Error('The content is not loaded');
}

/** Returns the content in chunks, which `owner` may change in place. Without an owner, they must not be changed. */
function toChunks(node: ContentNode, owner?: Owner): Chunks {
  const data = node.data as Data;
  if (data instanceof Chunks) return owner ? data.own(owner) : data;
  if (node.size === 0) return Chunks.empty(owner ?? null);
  if (data instanceof Uint8Array) return Chunks.fromBytes(owner ?? null, data.subarray(0, node.size));
  const bytes = new Uint8Array(node.size);
  copyOut(node, bytes, 0, 0, node.size);
  return Chunks.fromBytes(owner ?? null, bytes);
}

/**
 * Returns ASCII text, which is the start of `bytes`, as a string that keeps nothing else alive and uses one byte per
 * unit.
 */
function ownText(text: string, bytes: Uint8Array): string | null {
  if (text === '') return null;
  return text.length < MAX_JOINED_TEXT_LENGTH ? detach(text) : decoder.decode(bytes.subarray(0, text.length));
}
