import type {
  GitObject,
  GitObjectStore,
  NamedObject,
  ObjectFormat,
  ObjectId,
  RefValue,
  Repository,
  RepositoryCall,
  StoredObject,
  SwapRefCall,
} from '@scratchfs/history';

/** An object store that is closed when it is no longer needed. */
interface Source extends GitObjectStore {
  close(): void;
}

type Ends = ReadonlySet<ObjectId>;

const NO_ENDS: Ends = new Set();

/** A repository that reads objects missing from it in linked stores. Writes go into its own store. */
export class LinkedRepository implements Repository {
  readonly format: ObjectFormat;
  /** Cached result of `shallow`. Valid as long as the stores return the same sets. */
  #shallow: { readonly of: readonly (Ends | undefined)[]; readonly found: Ends } | undefined;
  readonly #sources = new Map<string, { readonly identity: string; readonly store: Source }>();

  constructor(readonly own: Repository) {
    this.format = own.format;
  }

  /**
   * Links another store, in which objects are looked up from now on.
   * @param place key of the store: a place has one store at a time
   * @param identity identifies the store at that place; if it differs from the previous one, that one is closed
   */
  link(place: string, identity: string, make: () => Source): void {
    const before = this.#sources.get(place);
    if (before?.identity === identity) return;
    before?.store.close();
    this.#sources.set(place, { identity, store: make() });
  }

  close(): void {
    for (const { store } of this.#sources.values()) store.close();
    this.#sources.clear();
  }

  read(id: ObjectId, call?: RepositoryCall): Promise<GitObject | undefined> {
    return this.#first((store) => store.read(id, call), call);
  }

  async has(id: ObjectId, call?: RepositoryCall): Promise<boolean> {
    const found = await this.#first(async (store) => (await store.has(id, call)) || undefined, call);
    return found ?? false;
  }

  async *list(prefix: string, call?: RepositoryCall): AsyncGenerator<StoredObject> {
    for (const store of [this.own, ...[...this.#sources.values()].map(({ store }) => store)])
      yield* store.list?.(prefix, call) ?? [];
  }

  async pruneCount(call?: RepositoryCall): Promise<number> {
    return (await this.own.pruneCount?.(call)) ?? 0;
  }

  /** Returns the shallow commits: those that are shallow in every store that has them. */
  async shallow(call?: RepositoryCall): Promise<Ends> {
    const sources = [...this.#sources.values()].map(({ store }) => store);
    // A source that cannot be read any more does not keep the others from being used.
    const asked = sources.map((store) => store.shallow?.(call).catch(unlessAborted(call, NO_ENDS)));
    const ends = await Promise.all([this.own.shallow?.(call), ...asked]);
    const last = this.#shallow;
    if (last?.of.length === ends.length && last.of.every((ids, i) => ids === ends[i])) return last.found;
    const found = await endsOfAll([this.own, ...sources], ends, call);
    this.#shallow = { of: ends, found };
    return found;
  }

  /**
   * Returns the first result that is not undefined. A source that cannot be read any more does not keep the others from
   * being used; its error is thrown only if no store has a result.
   */
  async #first<T>(
    ask: (store: GitObjectStore) => Promise<T | undefined>,
    call?: RepositoryCall,
  ): Promise<T | undefined> {
    let found = await ask(this.own);
    let failure: { readonly error: unknown } | undefined;
    for (const { store } of this.#sources.values()) {
      if (found !== undefined) break;
      try {
        found = await ask(store);
      } catch (error) {
        call?.signal?.throwIfAborted();
        failure ??= { error };
      }
    }
    if (found === undefined && failure !== undefined) throw failure.error;
    return found;
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
    call?: SwapRefCall,
  ): Promise<boolean> {
    return this.own.swapRef(name, expected, next, call);
  }

  listRefs(prefix: string, call?: RepositoryCall): Promise<string[]> {
    return this.own.listRefs(prefix, call);
  }
}

async function endsOfAll(
  stores: readonly GitObjectStore[],
  ends: readonly (Ends | undefined)[],
  call?: RepositoryCall,
): Promise<Ends> {
  const found = new Set(ends.flatMap((ids) => [...(ids ?? [])]));
  for (const id of found)
    for (const [i, store] of stores.entries())
      if (ends[i]?.has(id) !== true && (await store.has(id, call).catch(unlessAborted(call, false)))) found.delete(id);
  return found;
}

function unlessAborted<T>(call: RepositoryCall | undefined, answer: T): () => T {
  return () => {
    call?.signal?.throwIfAborted();
    return answer;
  };
}
