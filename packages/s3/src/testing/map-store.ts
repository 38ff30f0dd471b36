import type { NamePage, ObjectStore, StoredHead } from '@scratchfs/core/object-tree';

const PAGE = 1_000;
/** Name of the priority request, which is written repeatedly. */
const PRIORITY_REQUEST = 'turn';

/** An object tree's store in memory, shared by all that hold it. */
export class MapStore implements ObjectStore {
  readonly objects = new Map<string, Uint8Array>();
  #head: StoredHead | undefined;
  #tags = 0;

  async get(name: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    return this.objects.get(name)?.slice(offset, offset + length);
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    // The same request may arrive twice; a name never gets other bytes.
    const known = this.objects.get(name);
    if (name !== PRIORITY_REQUEST && known !== undefined && known.length !== bytes.length)
      throw new Error(`${name} was put with other bytes`);
    this.objects.set(name, bytes.slice());
  }

  async delete(names: readonly string[]): Promise<void> {
    for (const name of names) this.objects.delete(name);
  }

  async list(prefix: string, cursor: string | undefined): Promise<NamePage> {
    const all = [...this.objects.keys()].filter((name) => name.startsWith(prefix)).sort();
    const left = cursor === undefined ? all : all.filter((name) => name > cursor);
    const names = left.slice(0, PAGE);
    return { names, cursor: left.length > PAGE ? names.at(-1) : undefined };
  }

  async deleteHead(): Promise<void> {
    this.#head = undefined;
  }

  async readHead(known: string | undefined): Promise<StoredHead | 'unchanged' | undefined> {
    return known !== undefined && known === this.#head?.tag ? 'unchanged' : this.#head;
  }

  async swapHead(bytes: Uint8Array, expected: string | undefined): Promise<string | undefined> {
    if (this.#head?.tag !== expected) return undefined;
    this.#tags += 1;
    this.#head = { tag: `tag ${this.#tags}`, bytes: bytes.slice() };
    return this.#head.tag;
  }
}
