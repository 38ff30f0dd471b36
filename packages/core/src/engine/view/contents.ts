import { FsError } from '../../errors.js';
import type { ContentNode } from '../../tree/content.js';
import { type FileNode, Unloaded } from '../../tree/node.js';
import { NotLoaded, type Source } from '../source.js';
import { INLINE_CONTENT, LoadingView } from './loading.js';

/** The maximum content size in bytes of one array. */
export const MAX_ARRAY = 2 ** 31 - 1;

/** The contents of files, loaded when they are read. */
export abstract class ContentView extends LoadingView {
  /** Returns the node with its content loaded. */
  loaded(node: FileNode): ContentNode {
    if (this.recorder !== undefined) this.relyOnNode(node);
    if (node.data instanceof Unloaded) {
      const bytes = new Uint8Array(node.size);
      this.#readUnloaded(node.data, bytes, 0);
      this.tree.shared.contents.fromBytes(node as ContentNode, bytes);
    }
    return node as ContentNode;
  }

  /** Copies a range of the content that is not loaded. */
  #readUnloaded(data: Unloaded, range: Uint8Array, start: number): void {
    const length = Math.max(0, Math.min(data.kept - start, range.length));
    if (length > 0) range.set(this.#stored(data, start, length));
    data.replay(range, start);
  }

  #stored(data: Unloaded, offset: number, length: number): Uint8Array {
    // Content that is not loaded comes from a source.
    const source = this.source as Source;
    const bytes = source.range(data, offset, length);
    if (bytes !== undefined) return bytes;
    const ahead = Math.min(data.size - offset, Math.max(length, INLINE_CONTENT));
    throw new NotLoaded([{ kind: 'content', at: data.address, offset, length: ahead }], source);
  }

  /** Returns the content without keeping loaded parts in the tree. It must not be changed. */
  passing(node: FileNode): Uint8Array {
    const { data } = node;
    if (!(data instanceof Unloaded)) return this.tree.shared.contents.bytes(node as ContentNode);
    if (data.edits.length === 0) return this.#stored(data, 0, data.size);
    const bytes = new Uint8Array(node.size);
    this.#readUnloaded(data, bytes, 0);
    return bytes;
  }

  /** Returns a copy of the content. @throws FsError EFBIG past 2 GiB - 1 */
  bytes(node: FileNode, path: string): Uint8Array<ArrayBuffer> {
    this.checkArray(node.size, path);
    if (!(node.data instanceof Unloaded)) return this.tree.shared.contents.bytes(this.loaded(node));
    const bytes = new Uint8Array(node.size);
    this.read(node, bytes, 0);
    return bytes;
  }

  text(node: FileNode, path: string): string {
    this.checkArray(node.size, path);
    return this.tree.shared.contents.text(this.loaded(node));
  }

  /** Copies the content from a position on and returns the number of bytes copied. */
  read(node: FileNode, into: Uint8Array, position: number): number {
    if (node.data instanceof Unloaded) {
      this.relyOnNode(node);
      const length = Math.max(0, Math.min(into.length, node.size - position));
      if (length > 0) this.#readUnloaded(node.data, into.subarray(0, length), position);
      return length;
    }
    return this.tree.shared.contents.read(this.loaded(node), into, position);
  }

  /** @throws FsError EFBIG if no array can be that long */
  checkArray(size: number, path: string): void {
    if (size > MAX_ARRAY) {
      const hint = 'The file is too large for one array: read ranges of it through a handle or a stream';
      throw new FsError('EFBIG', { syscall: 'read', path, requested: size, allowed: MAX_ARRAY, hint });
    }
  }
}
