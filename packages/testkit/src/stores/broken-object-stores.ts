import { StorageError } from '@scratchfs/core';
import type { NamePage, ObjectStore, StoredHead } from '@scratchfs/core/object-tree';
import { alteredStore } from './altered-store.js';

/** State that all clients of a broken store share. */
class Shared {
  readonly counts = new Map<string, number>();
  readonly bytes = new Map<string, Uint8Array>();
  first: ObjectStore | undefined;
}

type Spoil = (store: ObjectStore, shared: Shared) => ObjectStore;

function count({ counts }: Shared, what: string): number {
  const number = (counts.get(what) ?? 0) + 1;
  counts.set(what, number);
  return number;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** Returns the tag of the head some time after a swap. The head may be that of another client. */
async function laterTag(store: ObjectStore, tag: string | undefined): Promise<string | undefined> {
  if (tag === undefined) return undefined;
  await nextTurn();
  const head = await store.readHead(undefined);
  return typeof head === 'object' ? head.tag : tag;
}

const onGet = (
  store: ObjectStore,
  change: (bytes: Uint8Array, offset: number, length: number) => Uint8Array | undefined,
) =>
  alteredStore(store, {
    get: async (name, offset, length, call) => {
      const bytes = await store.get(name, offset, length, call);
      return bytes === undefined ? undefined : change(bytes, offset, length);
    },
  });

const onList = (
  store: ObjectStore,
  change: (page: NamePage, prefix: string, cursor: string | undefined) => NamePage | Promise<NamePage>,
) =>
  alteredStore(store, {
    list: async (prefix, cursor, call) => change(await store.list(prefix, cursor, call), prefix, cursor),
  });

const MISTAKES: Readonly<Record<string, Spoil>> = {
  'takes a dot in a name for a slash': (store) =>
    alteredStore(store, {
      list: async (...what) => {
        const page = await store.list(...what);
        return { ...page, names: page.names.map((name) => name.replaceAll('.', '/')) };
      },
    }),

  'is the same for all places': (store, shared) => {
    shared.first ??= store;
    return shared.first;
  },
  'loses some objects': (store, shared) =>
    alteredStore(store, {
      put: async (...what) => {
        if (count(shared, 'puts') % 25 !== 0) await store.put(...what);
      },
    }),
  'shows an object only some time after its put': (store) =>
    alteredStore(store, {
      put: async (...what) => {
        void nextTurn().then(() => store.put(...what));
      },
    }),
  'writes an object in two parts': (store) =>
    alteredStore(store, {
      put: async (name, bytes, call) => {
        if (name !== 'turn' && bytes.length > 1_000) {
          await store.put('turn', bytes.slice(0, 500));
          await nextTurn();
          await nextTurn();
        }
        await store.put(name, bytes, call);
      },
      get: async (name, offset, length, call) =>
        (await store.get(name, offset, length, call)) ??
        (length > 1_000 ? store.get('turn', offset, length, call) : undefined),
    }),
  'ignores offsets': (store) =>
    alteredStore(store, { get: (name, _offset, length, call) => store.get(name, 0, length, call) }),
  'ignores lengths': (store) =>
    alteredStore(store, { get: (name, offset, _length, call) => store.get(name, offset, 10 ** 9, call) }),
  'returns one byte too many': (store) =>
    alteredStore(store, { get: (name, offset, length, call) => store.get(name, offset, length + 1, call) }),
  'fails for a range past the end': (store) =>
    onGet(store, (bytes) => {
      if (bytes.length === 0) throw new StorageError('unavailable', 'HTTP 416', { retryable: false });
      return bytes;
    }),
  'knows no object for a range past its end': (store) =>
    onGet(store, (bytes) => (bytes.length === 0 ? undefined : bytes)),
  'fills a range past the end with zeros': (store) =>
    onGet(store, (bytes, _offset, length) => {
      const filled = new Uint8Array(Math.min(length, 10_000));
      filled.set(bytes.subarray(0, filled.length));
      return filled;
    }),
  'returns no bytes for an absent object': (store) =>
    alteredStore(store, { get: async (...what) => (await store.get(...what)) ?? new Uint8Array(0) }),
  'fails for an absent object': (store) =>
    alteredStore(store, {
      get: async (...what) => {
        const bytes = await store.get(...what);
        if (bytes === undefined) throw new StorageError('lost', 'HTTP 404');
        return bytes;
      },
    }),
  'reads names that begin like the object': (store) =>
    alteredStore(store, {
      get: async (name, ...range) => {
        const exact = await store.get(name, ...range);
        if (exact !== undefined) return exact;
        const [first] = (await store.list(name, undefined)).names;
        return first === undefined ? undefined : store.get(first, ...range);
      },
    }),
  'returns all objects in one buffer': (store) => {
    const buffer = new Uint8Array(16 * 2 ** 20);
    return onGet(store, (bytes) => {
      buffer.set(bytes);
      return buffer.subarray(0, bytes.length);
    });
  },
  "keeps the caller's buffer": (store, { bytes: kept }) =>
    alteredStore(store, {
      put: async (name, bytes, call) => {
        kept.set(name, bytes);
        await store.put(name, bytes, call);
      },
      get: async (name, offset, length, call) => {
        const found = await store.get(name, offset, length, call);
        return found === undefined ? undefined : kept.get(name)?.slice(offset, offset + length);
      },
    }),
  'stores the whole buffer of a view': (store) =>
    alteredStore(store, {
      put: (name, bytes, call) => store.put(name, new Uint8Array(bytes.buffer.slice(0)), call),
    }),
  'refuses an object that exists': (store) =>
    alteredStore(store, {
      put: async (name, bytes, call) => {
        if ((await store.get(name, 0, 1)) !== undefined) throw new StorageError('conflict', 'it exists');
        await store.put(name, bytes, call);
      },
    }),
  'cuts objects at 64 KiB': (store) =>
    alteredStore(store, { put: (name, bytes, call) => store.put(name, bytes.subarray(0, 65_536), call) }),
  'cuts names at 64 characters': (store) =>
    alteredStore(store, {
      put: (name, ...rest) => store.put(name.slice(0, 64), ...rest),
      get: (name, ...rest) => store.get(name, ...rest),
    }),
  'mixes up objects that are put concurrently': (store, shared) =>
    alteredStore(store, {
      put: async (name, bytes, call) => {
        shared.bytes.set('current', bytes);
        await nextTurn();
        await store.put(name, shared.bytes.get('current') as Uint8Array, call);
      },
    }),
  'lists all names': (store) => alteredStore(store, { list: (_prefix, cursor, call) => store.list('', cursor, call) }),
  'lists the head': (store) => onList(store, (page) => ({ ...page, names: [...page.names, 'objects/head'] })),
  'lists the head among all names': (store) =>
    onList(store, async (page, prefix) => {
      const isListed = prefix === '' && (await store.readHead(undefined)) !== undefined;
      return isListed ? { ...page, names: [...page.names, 'head'] } : page;
    }),
  'lists one page only': (store) => onList(store, (page) => ({ ...page, cursor: undefined })),
  'loses the first name of each further page': (store) =>
    onList(store, (page, _prefix, cursor) => (cursor === undefined ? page : { ...page, names: page.names.slice(1) })),
  'begins a listing again at each cursor': (store) =>
    alteredStore(store, { list: (prefix, _cursor, call) => store.list(prefix, undefined, call) }),
  'counts the names before a cursor': (store) =>
    alteredStore(store, {
      list: async (prefix, cursor) => {
        const all: string[] = [];
        for (let next: string | undefined; ; ) {
          const page = await store.list(prefix, next);
          all.push(...page.names);
          if (page.cursor === undefined) break;
          next = page.cursor;
        }
        const from = Number(cursor ?? 0);
        const to = from + 20;
        return { names: all.slice(from, to), cursor: to < all.length ? String(to) : undefined };
      },
    }),
  'takes a cursor only once': (store, shared) =>
    onList(store, (page, _prefix, cursor) => {
      if (cursor !== undefined && count(shared, cursor) > 1) throw new StorageError('unavailable', 'unknown cursor');
      return page;
    }),
  'ends a listing at a cursor that it has seen': (store, shared) =>
    onList(store, (page, _prefix, cursor) =>
      cursor !== undefined && count(shared, cursor) > 1 ? { names: [], cursor: undefined } : page,
    ),
  'lists what it has listed before': (store) => {
    const known = new Map<string, Promise<NamePage>>();
    return alteredStore(store, {
      list: (prefix, cursor, call) => {
        const key = `${prefix} ${cursor}`;
        const page = known.get(key) ?? store.list(prefix, cursor, call);
        known.set(key, page);
        return page;
      },
    });
  },
  'fails to delete missing objects': (store) =>
    alteredStore(store, {
      delete: async (names, call) => {
        for (const name of names)
          if ((await store.get(name, 0, 1)) === undefined) throw new StorageError('unavailable', 'HTTP 404');
        await store.delete(names, call);
      },
    }),
  'deletes only the first hundred': (store) =>
    alteredStore(store, { delete: (names, call) => store.delete(names.slice(0, 100), call) }),
  'deletes nothing': (store) => alteredStore(store, { delete: async () => {} }),
  'deletes all names that begin alike': (store) =>
    alteredStore(store, {
      delete: async (names) => {
        for (const name of names) await store.delete((await store.list(name, undefined)).names);
      },
    }),
  'replaces any head': (store) =>
    alteredStore(store, {
      swapHead: async (bytes, _expected, call) => {
        const head = await store.readHead(undefined);
        return store.swapHead(bytes, typeof head === 'object' ? head.tag : undefined, call);
      },
    }),
  'creates the first head twice': (store) =>
    alteredStore(store, {
      swapHead: async (bytes, expected, call) => {
        const head = await store.readHead(undefined);
        const isNew = expected === undefined && typeof head === 'object';
        return store.swapHead(bytes, isNew ? head.tag : expected, call);
      },
    }),
  'compares and replaces in two steps': (store) =>
    alteredStore(store, {
      swapHead: async (bytes, expected, call) => {
        const head = await store.readHead(undefined);
        if ((typeof head === 'object' ? head.tag : undefined) !== expected) return undefined;
        await nextTurn();
        const now = await store.readHead(undefined);
        return store.swapHead(bytes, typeof now === 'object' ? now.tag : undefined, call);
      },
    }),
  'reports a lost race as won': (store) =>
    alteredStore(store, { swapHead: async (...what) => (await store.swapHead(...what)) ?? 'won' }),
  'returns the tag of the replaced head': (store) =>
    alteredStore(store, {
      swapHead: async (bytes, expected, call) => {
        const tag = await store.swapHead(bytes, expected, call);
        return tag === undefined ? undefined : (expected ?? tag);
      },
    }),
  'reads the tag of a new head after the swap': (store) =>
    alteredStore(store, {
      swapHead: async (...what) => laterTag(store, await store.swapHead(...what)),
    }),
  'reads the tag of a new head after the commit': (store) =>
    alteredStore(store, {
      commit: async (...what) => laterTag(store, await store.commit?.(...what)),
    }),
  'fails for a lost race': (store) =>
    alteredStore(store, {
      swapHead: async (...what) => {
        const tag = await store.swapHead(...what);
        if (tag === undefined) throw new StorageError('conflict', 'HTTP 412');
        return tag;
      },
    }),
  'uses the length of a head as its tag': (store) => {
    const tagOf = (head: StoredHead): string => `${head.bytes.length}`;
    return alteredStore(store, {
      readHead: async () => {
        const head = await store.readHead(undefined);
        return typeof head === 'object' ? { ...head, tag: tagOf(head) } : head;
      },
      swapHead: async (bytes, expected, call) => {
        const head = await store.readHead(undefined);
        const isExpected = typeof head === 'object' ? tagOf(head) === expected : expected === undefined;
        if (!isExpected) return undefined;
        const tag = await store.swapHead(bytes, typeof head === 'object' ? head.tag : undefined, call);
        return tag === undefined ? undefined : `${bytes.length}`;
      },
    });
  },
  'counts the tags from one again after the head was deleted': (store, shared) => {
    const tagOf = (): string => `${shared.counts.get('tag') ?? 0}`;
    return alteredStore(store, {
      deleteHead: async (call) => {
        await store.deleteHead?.(call);
        shared.counts.delete('tag');
      },
      readHead: async () => {
        const head = await store.readHead(undefined);
        return typeof head === 'object' ? { ...head, tag: tagOf() } : head;
      },
      swapHead: async (bytes, expected, call) => {
        const head = await store.readHead(undefined);
        const tag = typeof head === 'object' ? tagOf() : undefined;
        if (tag !== expected) return undefined;
        const made = await store.swapHead(bytes, typeof head === 'object' ? head.tag : undefined, call);
        return made === undefined ? undefined : `${count(shared, 'tag')}`;
      },
    });
  },
  'calls a known head unchanged': (store) =>
    alteredStore(store, {
      readHead: async (known, call) => (known === undefined ? store.readHead(known, call) : 'unchanged'),
    }),
  'reads a head that it has read before': (store) => {
    let head: StoredHead | undefined;
    return alteredStore(store, {
      readHead: async () => {
        const found = head ?? (await store.readHead(undefined));
        if (typeof found === 'object') head = found;
        return head;
      },
    });
  },
  'reads the tag of a head, and then its bytes': (store) =>
    alteredStore(store, {
      readHead: async () => {
        const [first, second] = [await store.readHead(undefined), await store.readHead(undefined)];
        return typeof first === 'object' && typeof second === 'object' ? { ...second, tag: first.tag } : second;
      },
    }),
  'reads the bytes of a head, and then its tag': (store) =>
    alteredStore(store, {
      readHead: async () => {
        const [first, second] = [await store.readHead(undefined), await store.readHead(undefined)];
        return typeof first === 'object' && typeof second === 'object' ? { ...first, tag: second.tag } : second;
      },
    }),
  'cuts a head at 64 KiB': (store) =>
    alteredStore(store, { swapHead: (bytes, ...rest) => store.swapHead(bytes.subarray(0, 65_536), ...rest) }),
  'returns every head in one buffer': (store) => {
    const buffer = new Uint8Array(2 ** 20);
    return alteredStore(store, {
      readHead: async (known, call) => {
        const head = await store.readHead(known, call);
        if (typeof head !== 'object') return head;
        buffer.set(head.bytes);
        return { tag: head.tag, bytes: buffer.subarray(0, head.bytes.length) };
      },
    });
  },
  'commits to any head': (store) =>
    alteredStore(store, {
      commit: async (objects, head, _expected, call) => {
        const now = await store.readHead(undefined);
        return store.commit?.(objects, head, typeof now === 'object' ? now.tag : '', call);
      },
    }),
  'commits a head without its objects': (store) =>
    alteredStore(store, { commit: (_objects, head, expected, call) => store.swapHead(head, expected, call) }),
  'commits a head before its objects': (store) =>
    alteredStore(store, {
      commit: async (objects, head, expected, call) => {
        const tag = await store.swapHead(head, expected, call);
        await nextTurn();
        if (tag !== undefined) for (const { name, bytes } of objects) await store.put(name, bytes, call);
        return tag;
      },
    }),
  'tells of no head that a commit has made': (store, shared) =>
    alteredStore(store, {
      commit: async (...what) => {
        count(shared, 'commits');
        return store.commit?.(...what);
      },
      watch: (changed, fail) => {
        let told = 0;
        const notify = (): void => {
          const commits = shared.counts.get('commits') ?? 0;
          if (commits === told) changed();
          told = commits;
        };
        return store.watch?.(notify, fail) ?? (() => {});
      },
    }),
  'tells no other client of a new head': (store) => alteredStore(store, { watch: () => () => {} }),
  'tells of new heads without end': (store) =>
    alteredStore(store, {
      watch: (changed, fail) => {
        store.watch?.(changed, fail);
        return () => {};
      },
    }),
  'ends all watches with the same function together': (store) => {
    const stops = new Map<() => void, (() => void)[]>();
    return alteredStore(store, {
      watch: (changed, fail) => {
        const all = stops.get(changed) ?? [];
        stops.set(changed, all);
        all.push(store.watch?.(changed, fail) ?? (() => {}));
        return () => {
          for (const stop of all) stop();
        };
      },
    });
  },
  'does not delete its head': (store) => alteredStore(store, { deleteHead: async () => {} }),
  'deletes its objects with its head': (store) =>
    alteredStore(store, {
      deleteHead: async (call) => {
        await store.delete((await store.list('objects/', undefined)).names);
        await store.deleteHead?.(call);
      },
    }),
};

/**
 * Object stores with one mistake each, over a correct one: each fails `objectStoreSuite` if the correct one has the
 * method that it spoils. A function of this list starts a run; what it returns spoils each client that is opened.
 */
export const BROKEN_OBJECT_STORES: Readonly<Record<string, () => (store: ObjectStore) => ObjectStore>> =
  Object.fromEntries(
    Object.entries(MISTAKES).map(([mistake, spoil]) => [
      mistake,
      () => {
        const shared = new Shared();
        return (store: ObjectStore) => spoil(store, shared);
      },
    ]),
  );
