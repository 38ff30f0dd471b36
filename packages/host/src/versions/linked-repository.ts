import type {
  GitObject,
  NamedObject,
  ObjectFormat,
  ObjectId,
  ObjectStore,
  RefValue,
  Repository,
  RepositoryCall,
} from '@scratchfs/history';

/** A repository that finds in others what it does not have itself. What is written goes into its own. */
export class LinkedRepository implements Repository {
  readonly format: ObjectFormat;
  readonly #others = new Map<string, ObjectStore>();

  constructor(readonly own: Repository) {
    this.format = own.format;
  }

  /** @param name the same for the same store, so that it is linked once */
  link(name: string, make: () => ObjectStore): ObjectStore {
    let store = this.#others.get(name);
    if (store === undefined) this.#others.set(name, (store = make()));
    return store;
  }

  async read(id: ObjectId, call?: RepositoryCall): Promise<GitObject | undefined> {
    let found = await this.own.read(id, call);
    for (const other of this.#others.values()) found ??= await other.read(id, call);
    return found;
  }

  async has(id: ObjectId, call?: RepositoryCall): Promise<boolean> {
    if (await this.own.has(id, call)) return true;
    for (const other of this.#others.values()) if (await other.has(id, call)) return true;
    return false;
  }

  write(objects: readonly NamedObject[], call?: RepositoryCall): Promise<void> {
    return this.own.write(objects, call);
  }

  readRef(name: string, call?: RepositoryCall): Promise<RefValue | undefined> {
    return this.own.readRef(name, call);
  }

  swapRef(
    name: string,
    expected: RefValue | undefined,
    next: RefValue | undefined,
    call?: RepositoryCall,
  ): Promise<boolean> {
    return this.own.swapRef(name, expected, next, call);
  }

  listRefs(prefix: string, call?: RepositoryCall): Promise<string[]> {
    return this.own.listRefs(prefix, call);
  }
}
