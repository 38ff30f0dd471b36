import type { ObjectStore, StoredHead } from '@scratchfs/core/object-tree';
import { MemoryObjectStore } from '@scratchfs/testkit';

const BLOCK = 65_536;

/** A block of an object. A number stands for a block in which every byte has that value. */
type Block = Uint8Array | number;

/** A store in memory in which blocks of one repeated byte take no space, so that very large files fit into it. */
export class SparseStore implements ObjectStore {
  readonly objects = new Map<string, { readonly length: number; readonly blocks: readonly Block[] }>();
  /** Number of bytes that the last `get` returned. */
  answered = 0;
  readonly #heads = new MemoryObjectStore();

  /** Returns the number of bytes that take memory: those of blocks whose bytes are not all equal. */
  get held(): number {
    let bytes = 0;
    for (const { blocks } of this.objects.values())
      for (const block of blocks) if (typeof block !== 'number') bytes += block.length;
    return bytes;
  }

  async get(name: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    const object = this.objects.get(name);
    if (object === undefined) return undefined;
    const end = Math.min(object.length, offset + length);
    const bytes = new Uint8Array(Math.max(0, end - offset));
    for (let at = offset; at < end; ) {
      const block = object.blocks[Math.floor(at / BLOCK)] as Block;
      const to = Math.min(end, (Math.floor(at / BLOCK) + 1) * BLOCK);
      if (typeof block === 'number') bytes.fill(block, at - offset, to - offset);
      else bytes.set(block.subarray(at % BLOCK, (at % BLOCK) + to - at), at - offset);
      at = to;
    }
    this.answered = bytes.length;
    return bytes;
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    const blocks: Block[] = [];
    for (let at = 0; at < bytes.length; at += BLOCK) {
      const block = bytes.slice(at, at + BLOCK);
      const [first = 0] = block;
      blocks.push(block.every((byte) => byte === first) ? first : block);
    }
    this.objects.set(name, { length: bytes.length, blocks });
  }

  async delete(names: readonly string[]): Promise<void> {
    for (const name of names) this.objects.delete(name);
  }

  async list(prefix: string) {
    return { names: [...this.objects.keys()].filter((name) => name.startsWith(prefix)), cursor: undefined };
  }

  readHead(known: string | undefined): Promise<StoredHead | 'unchanged' | undefined> {
    return this.#heads.readHead(known);
  }

  swapHead(bytes: Uint8Array, expected: string | undefined): Promise<string | undefined> {
    return this.#heads.swapHead(bytes, expected);
  }
}
