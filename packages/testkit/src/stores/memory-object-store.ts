import type { NamePage, ObjectStore, StoredHead, StoredObject } from '@scratchfs/core/object-tree';

export interface MemoryObjectStoreOptions {
  /** Maximum number of names in a page of a listing. Default 1,000. */
  readonly namesPerPage?: number | undefined;
  /** Greatest size in bytes of an object and of the head; larger ones are refused. Default: any. */
  readonly maxObjectBytes?: number | undefined;
  /** Put objects and swap the head in one step. Default false. */
  readonly transactions?: boolean | undefined;
  /** Notify clients of new heads. Default false. */
  readonly watches?: boolean | undefined;
}

/** Name of the priority request, which is written repeatedly. */
const PRIORITY_REQUEST = 'turn';

/** An object store in memory, shared by all that hold it: a short example, and the base of other stores. */
export class MemoryObjectStore implements ObjectStore {
  readonly objects = new Map<string, Uint8Array>();
  #head: StoredHead | undefined;
  #tags = 0;
  readonly maxObjectBytes: number | undefined;
  readonly commit?: NonNullable<ObjectStore['commit']>;
  readonly watch?: NonNullable<ObjectStore['watch']>;
  readonly #namesPerPage: number;
  readonly #watchers = new Set<{ readonly changed: () => void }>();

  constructor(options: MemoryObjectStoreOptions = {}) {
    this.#namesPerPage = options.namesPerPage ?? 1_000;
    this.maxObjectBytes = options.maxObjectBytes;
    if (options.transactions === true) this.commit = (objects, head, expected) => this.#commit(objects, head, expected);
    if (options.watches === true) this.watch = (changed) => this.#watch(changed);
  }

  async get(name: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    return this.objects.get(name)?.slice(offset, offset + length);
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    this.#checkSize(bytes);
    // The same request may arrive twice; only a priority request is replaced by other bytes.
    const known = this.objects.get(name);
    if (name !== PRIORITY_REQUEST && known !== undefined && known.length !== bytes.length)
      throw new Error(`${name} was put with other bytes`);
    this.objects.set(name, new Uint8Array(bytes));
  }

  async delete(names: readonly string[]): Promise<void> {
    for (const name of names) this.objects.delete(name);
  }

  async list(prefix: string, cursor: string | undefined): Promise<NamePage> {
    const all = [...this.objects.keys()].filter((name) => name.startsWith(prefix)).sort();
    const left = cursor === undefined ? all : all.filter((name) => name > cursor);
    const names = left.slice(0, this.#namesPerPage);
    return { names, cursor: left.length > names.length ? names.at(-1) : undefined };
  }

  async readHead(known: string | undefined): Promise<StoredHead | 'unchanged' | undefined> {
    return known !== undefined && known === this.#head?.tag ? 'unchanged' : this.#head;
  }

  async swapHead(bytes: Uint8Array, expected: string | undefined): Promise<string | undefined> {
    this.#checkSize(bytes);
    if (this.#head?.tag !== expected) return undefined;
    this.#tags += 1;
    this.#head = { tag: `tag ${this.#tags}`, bytes: new Uint8Array(bytes) };
    for (const { changed } of [...this.#watchers]) queueMicrotask(changed);
    return this.#head.tag;
  }

  async deleteHead(): Promise<void> {
    this.#head = undefined;
  }

  async #commit(objects: readonly StoredObject[], head: Uint8Array, expected: string): Promise<string | undefined> {
    if (this.#head?.tag !== expected) return undefined;
    this.#checkSize(head);
    for (const { bytes } of objects) this.#checkSize(bytes);
    // Nothing fails or waits from here on, so that all of it is one step.
    for (const { name, bytes } of objects) this.objects.set(name, new Uint8Array(bytes));
    return this.swapHead(head, expected);
  }

  #watch(changed: () => void): () => void {
    const watcher = { changed };
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  #checkSize({ length }: Uint8Array): void {
    if (length > (this.maxObjectBytes ?? Infinity)) throw new Error(`${length} bytes are more than the store takes`);
  }
}
