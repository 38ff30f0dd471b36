import { openFileSystem, StorageError } from '@scratchfs/core';
import {
  type NamePage,
  type ObjectStore,
  objectTreeStorage,
  type StoredHead,
  type StoredObject,
} from '@scratchfs/core/object-tree';
import { Random } from '../random.js';
import { alteredStore } from '../stores/altered-store.js';
import { equal, fail, ok } from './assert.js';
import type { TestRunner } from './runner.js';

export interface ObjectStoreSuiteOptions {
  /** `describe` and `it` of any test runner. */
  readonly test: TestRunner;
  /**
   * Opens a client of the place with this name, which is empty at first: a bucket with a prefix, a table, a directory.
   * A test opens several clients of one place. The suite closes all of them. Make the store as the storage's class does,
   * with the place as the name and one bucket for all places, so that the class's own naming is tested.
   */
  readonly open: (place: string) => ObjectStore | Promise<ObjectStore>;
  /**
   * Optional methods that the store has. Their cases are tested; those of other methods are left out. A store that has
   * other optional methods than these fails. Default: none.
   */
  readonly methods?: readonly OptionalMethod[] | undefined;
  /**
   * Number of objects in the test of long listings. Choose more than the store lists in one page. Default 1,100.
   */
  readonly listedObjects?: number | undefined;
  /** Milliseconds within which a watcher must be notified of a new head. Default 5,000. */
  readonly watchTimeoutMs?: number | undefined;
  /** Name of the group of tests. Default `ObjectStore`. */
  readonly name?: string | undefined;
}

/** A method of an object store that `objectStoreSuite` tests if the store has it. */
export type OptionalMethod = (typeof OPTIONAL_METHODS)[number];

/** A place in the store under test. */
interface Place {
  /** Opens a client. `beside`: of another place whose name begins with that of the first one. */
  open(beside?: boolean): Promise<ObjectStore>;
}

type AddStore = (title: string, run: (store: ObjectStore, place: Place) => Promise<void>) => void;

const OPTIONAL_METHODS = ['commit', 'watch', 'deleteHead'] as const;
const KIB = 1024;
/** Greatest size in bytes of an object, if the store declares none. */
const MAX_OBJECT_BYTES = 8 * KIB * KIB;
/** Size in bytes of a large head, with hundreds of checkpoints, forks and clients. */
const LARGE_HEAD_BYTES = 256 * KIB;
const RACERS = 6;
const ROUNDS = 5;
/** Greatest number of names of one deletion, if the store declares none. */
const MAX_DELETE_NAMES = 1_000;
const ID = '0123456789abcdefghij';

let places = 0;

/**
 * Tests that every object store must pass: what its methods return, what other clients see, races for the head, sizes,
 * listings, and a filesystem over it whose garbage is collected while others write.
 */
export function objectStoreSuite(options: ObjectStoreSuiteOptions): void {
  const { test, open, methods = [], listedObjects = 1_100, watchTimeoutMs = 5_000, name = 'ObjectStore' } = options;
  const has = (method: OptionalMethod): boolean => methods.includes(method);
  const add: AddStore = (title, run) => {
    test.it(title, async () => {
      places += 1;
      const first = `suite-${places}-${new Random(places).below(10 ** 9).toString(36)}`;
      const opened: Set<ObjectStore> = new Set();
      const place: Place = {
        open: async (beside = false) => {
          const store = await open(beside ? `${first}0` : first);
          opened.add(store);
          // A storage over it may have closed it already.
          return alteredStore(store, {
            close: async () => {
              if (opened.delete(store)) await store.close?.();
            },
          });
        },
      };
      try {
        await run(await place.open(), place);
      } finally {
        for (const store of opened) await store.close?.();
      }
    });
  };
  test.describe(name, () => {
    add(`has of the optional methods: ${methods.join(', ') || 'none'}`, async (store) => {
      const found = OPTIONAL_METHODS.filter((method) => store[method] !== undefined);
      equal(
        found,
        OPTIONAL_METHODS.filter(has),
        'optional methods of the store, and the option `methods` of the suite',
      );
    });
    test.describe('objects', () => objectCases(add));
    test.describe('listings', () => listingCases(add, listedObjects));
    test.describe('deletions', () => deletionCases(add));
    test.describe('the head', () => headCases(add));
    if (has('deleteHead')) test.describe('the deleted head', () => deletedHeadCases(add));
    if (has('commit')) test.describe('a commit', () => commitCases(add));
    if (has('watch')) test.describe('watching', () => watchCases(add, has('commit'), watchTimeoutMs));
    test.describe('races', () => raceCases(add, has('commit')));
    test.describe('a filesystem over it', () => fileSystemCases(add));
    if (has('deleteHead')) test.describe('a deleted filesystem', () => deletedFileSystemCases(add));
  });
}

function objectCases(add: AddStore): void {
  add('are read as they were put, by every client', async (store, place) => {
    const bytes = Uint8Array.from({ length: 1_000 }, (_, i) => i);
    await store.put(objectName(1), bytes);
    equal(await store.get(objectName(1), 0, 1_000), bytes);
    equal(await (await place.open()).get(objectName(1), 0, 1_000), bytes);
  });
  add('may be parts of one, whose names have a dot', async (store) => {
    const [first, second] = [`${objectName(1)}.1`, `${objectName(1)}.2`] as const;
    for (const [i, name] of [objectName(1), first, second].entries()) await store.put(name, bytesOf(10 + i));
    equal(await store.get(second, 0, 100), bytesOf(12));
    equal(await listAll(store, `${objectName(1)}.`), [first, second]);
    await store.delete([first]);
    equal(await store.get(first, 0, 100), undefined);
    equal(await store.get(objectName(1), 0, 100), bytesOf(10));
  });
  add('are read in ranges', async (store) => {
    await store.put(objectName(1), bytesOf(100));
    const all = bytesOf(100);
    for (const [offset, length] of [
      [0, 1],
      [0, 100],
      [37, 20],
      [99, 1],
    ] as const)
      equal(
        await store.get(objectName(1), offset, length),
        all.subarray(offset, offset + length),
        `${offset}+${length}`,
      );
  });
  add('are read up to their end, and past it there are no bytes', async (store) => {
    await store.put(objectName(1), bytesOf(100));
    equal(await store.get(objectName(1), 90, 1_000), bytesOf(100).subarray(90));
    for (const offset of [0, 50, 100])
      equal(await store.get(objectName(1), offset, 0), new Uint8Array(0), `${offset}+0`);
    for (const offset of [100, 101, 5_000_000])
      equal(await store.get(objectName(1), offset, 10), new Uint8Array(0), `at ${offset}`);
  });
  add('that were never put are undefined', async (store) => {
    await store.put(objectName(1), bytesOf(10));
    for (const name of [
      objectName(2),
      `${objectName(1)}0`,
      objectName(1).slice(0, -1),
      `forks/${ID}/1-1-0-${ID}`,
      'turn',
    ])
      equal(await store.get(name, 0, 10), undefined, name);
  });
  add('may be put twice with the same bytes, and turn with others', async (store) => {
    for (let i = 0; i < 2; i++) await store.put(objectName(1), bytesOf(100));
    equal(await store.get(objectName(1), 0, 200), bytesOf(100));
    await store.put('turn', bytesOf(50));
    await store.put('turn', bytesOf(7));
    equal((await store.get('turn', 0, 1_000))?.length, 7, 'length of turn');
  });
  add('have long names', async (store) => {
    const most = Number.MAX_SAFE_INTEGER;
    const name = `forks/${ID}/${most}-${most}-${most}-${ID}`;
    await store.put(name, bytesOf(3));
    equal(await store.get(name, 0, 3), bytesOf(3));
  });
  add('do not change when the caller reuses its buffer', async (store) => {
    const buffer = bytesOf(300);
    await store.put(objectName(1), buffer.subarray(100, 200));
    buffer.fill(0);
    equal(await store.get(objectName(1), 0, 1_000), bytesOf(300).subarray(100, 200));
  });
  add('keep the bytes that were read', async (store) => {
    for (const i of [1, 2]) await store.put(objectName(i), bytesOf(100, i));
    const first = await store.get(objectName(1), 0, 100);
    const second = await store.get(objectName(2), 0, 100);
    await store.get(objectName(2), 10, 20);
    equal([first, second], [bytesOf(100, 1), bytesOf(100, 2)]);
  });
  add('may be as large as the store says', async (store) => {
    const length = store.maxObjectBytes ?? MAX_OBJECT_BYTES;
    const bytes = bytesOf(length);
    await store.put(objectName(1), bytes);
    const read = await store.get(objectName(1), 0, length + 1);
    ok(read !== undefined && read.length === length, `all of ${length} bytes are read, not ${read?.length}`);
    ok(isSame(read, bytes), 'a large object has the bytes that were put');
    equal(await store.get(objectName(1), length - 5, 10), bytes.subarray(-5));
  });
  add('appear completely or not at all', async (store, place) => {
    const reader = await place.open();
    const length = Math.min(store.maxObjectBytes ?? MAX_OBJECT_BYTES, KIB * KIB);
    let isPut = false;
    const put = store.put(objectName(1), bytesOf(length)).finally(() => {
      isPut = true;
    });
    while (!isPut) {
      const read = await reader.get(objectName(1), 0, length);
      ok(read === undefined || read.length === length, `${read?.length} of ${length} bytes are seen during the put`);
      await nextTurn();
    }
    await put;
  });
  add('are put concurrently', async (store) => {
    const numbers = Array.from({ length: 40 }, (_, i) => i + 1);
    await Promise.all(numbers.map((i) => store.put(objectName(i), bytesOf(50, i))));
    equal(
      await Promise.all(numbers.map((i) => store.get(objectName(i), 0, 50))),
      numbers.map((i) => bytesOf(50, i)),
    );
  });
  add('of a place whose name begins alike are others', async (store, place) => {
    const other = await place.open(true);
    await store.put(objectName(1), bytesOf(10));
    await store.swapHead(bytesOf(20), undefined);
    equal(await other.get(objectName(1), 0, 10), undefined, 'object of the other place');
    equal(await other.readHead(undefined), undefined, 'head of the other place');
    await other.put(objectName(2), bytesOf(10));
    await other.swapHead(bytesOf(30), undefined);
    equal(await listAll(store, 'objects/'), [objectName(1)], 'names of the first place');
    equal(await listAll(other, 'objects/'), [objectName(2)], 'names of the other place');
    await store.delete([objectName(2)]);
    equal(await other.get(objectName(2), 0, 10), bytesOf(10));
  });
  add('are still read after a request that was aborted', async (store) => {
    await store.put(objectName(1), bytesOf(10));
    const controller = new AbortController();
    const calls = [
      store.get(objectName(1), 0, 10, { signal: controller.signal }),
      store.put(objectName(2), bytesOf(10), { signal: controller.signal }),
      store.list('objects/', undefined, { signal: controller.signal }),
    ];
    controller.abort(new Error('given up'));
    await Promise.allSettled(calls);
    equal(await store.get(objectName(1), 0, 10), bytesOf(10));
    const late = await store.get(objectName(2), 0, 10);
    ok(late === undefined || late.length === 10, 'an aborted put leaves nothing or everything');
  });
}

function listingCases(add: AddStore, count: number): void {
  add('contain every name with the prefix once or more, and no others', async (store) => {
    const fork = `forks/${ID}/1-1-0-${ID}`;
    const names = [objectName(1), objectName(2), fork, `trash/${ID}`, 'turn', 'objects', 'objectsx', 'object'];
    await swap(store, bytesOf(20), await swap(store, bytesOf(10), undefined));
    equal(await listAll(store, ''), [], 'names in a place that has only a head');
    for (const name of names) await store.put(name, bytesOf(5));
    equal(await listAll(store, ''), names.sort(), 'all names');
    equal(await listAll(store, 'objects/'), [objectName(1), objectName(2)]);
    equal(await listAll(store, 'forks/'), [fork]);
    equal(await listAll(store, 'trash/'), [`trash/${ID}`]);
    equal(await listAll(store, 'none/'), []);
  });
  add('contain objects that were put after an earlier listing, and none that were deleted', async (store) => {
    await store.put(objectName(1), bytesOf(5));
    equal(await listAll(store, 'objects/'), [objectName(1)]);
    await store.put(objectName(2), bytesOf(5));
    await store.delete([objectName(1)]);
    equal(await listAll(store, 'objects/'), [objectName(2)]);
  });
  add(`of ${count} objects are complete, and so are those that begin again at a cursor`, async (store) => {
    const names = await putMany(store, count);
    const pages = await pagesOf(store, 'objects/', undefined);
    equal(namesOf(pages), names);
    // After the first page, and after one in the middle; twice, because the caller may send a cursor again.
    for (const from of [1, 1, pages.length >> 1, pages.length >> 1]) {
      const cursor = pages[from - 1]?.cursor;
      if (cursor === undefined) continue;
      const rest = await pagesOf(store, 'objects/', cursor);
      equal(namesOf([...pages.slice(0, from), ...rest]), names, 'names up to a cursor, and from it on');
    }
  });
  add(`of ${count} objects contain all that stay, while others are deleted and put`, async (store, place) => {
    const other = await place.open();
    const names = await putMany(store, count);
    const isDeleted = (name: string): boolean => names.indexOf(name) % 3 === 1;
    const found = new Set<string>();
    let cursor: string | undefined;
    for (let page = 0; ; page++) {
      const { names: listed, cursor: next } = await store.list('objects/', cursor);
      for (const name of listed) found.add(name);
      if (page === 0) {
        await other.delete(names.filter(isDeleted));
        for (let i = 0; i < 5; i++) await other.put(`objects/1-1-0-a${i}`, bytesOf(1));
      }
      if (next === undefined) break;
      if (page > count + 1_000) fail('a listing has no end');
      cursor = next;
    }
    const missing = names.filter((name) => !isDeleted(name) && !found.has(name));
    equal(missing, [], 'objects that stayed and were not listed');
  });
}

function deletionCases(add: AddStore): void {
  add('concern the named objects, and ignore missing ones', async (store) => {
    for (const name of [objectName(1), objectName(2), `${objectName(1)}0`, 'turn']) await store.put(name, bytesOf(5));
    await store.delete([objectName(7), objectName(1), objectName(8), 'turn']);
    equal(await store.get(objectName(1), 0, 5), undefined, 'the deleted object');
    equal(await store.get('turn', 0, 5), undefined, 'the deleted turn');
    equal(await listAll(store, 'objects/'), [objectName(2), `${objectName(1)}0`].sort());
    await store.delete([objectName(1)]);
    await store.delete([objectName(9)]);
  });
  add('may name as many objects as the store says', async (store) => {
    const most = store.maxDeleteNames ?? MAX_DELETE_NAMES;
    const names = await putMany(store, Math.min(300, most));
    const missing = Array.from({ length: most - names.length }, (_, i) => objectName(10_000 + i));
    const half = missing.length >> 1;
    await store.delete([...missing.slice(0, half), ...names, ...missing.slice(half)]);
    equal(await listAll(store, 'objects/'), []);
    equal(await store.get(names.at(-1) as string, 0, 5), undefined);
  });
}

function headCases(add: AddStore): void {
  add('does not exist at first, and is created once', async (store, place) => {
    equal(await store.readHead(undefined), undefined, 'the head of an empty place');
    const tag = await swap(store, bytesOf(30, 1), undefined);
    equal(await (await place.open()).swapHead(bytesOf(30, 2), undefined), undefined, 'a second creation');
    equal(await headOf(store), { tag, bytes: bytesOf(30, 1) });
    equal(await headOf(await place.open()), { tag, bytes: bytesOf(30, 1) });
  });
  add('is replaced only if it has the expected tag', async (store, place) => {
    const other = await place.open();
    const first = await swap(store, bytesOf(30, 1), undefined);
    const second = await swap(other, bytesOf(31, 2), first);
    for (const [client, tag] of [
      [store, first],
      [other, first],
      [store, undefined],
    ] as const)
      equal(await client.swapHead(bytesOf(32, 3), tag), undefined, `a swap that expects ${tag}`);
    equal(await headOf(store), { tag: second, bytes: bytesOf(31, 2) });
  });
  add('is unchanged only as long as it has the known tag', async (store, place) => {
    const other = await place.open();
    const first = await swap(store, bytesOf(30, 1), undefined);
    const known = await store.readHead(first);
    ok(known === 'unchanged' || (typeof known === 'object' && known.tag === first), 'the head still has the known tag');
    const second = await swap(other, bytesOf(30, 2), first);
    equal(await store.readHead(first), { tag: second, bytes: bytesOf(30, 2) }, 'a changed head');
    equal(await other.readHead(first), { tag: second, bytes: bytesOf(30, 2) }, 'a changed head');
  });
  add('never has a tag for a second time', async (store) => {
    const tags: string[] = [];
    for (let i = 0; i < 12; i++) tags.push(await swap(store, bytesOf(30, i), tags.at(-1)));
    equal(new Set(tags).size, tags.length, 'number of different tags');
  });
  add('may be large', async (store) => {
    const length = Math.min(LARGE_HEAD_BYTES, store.maxObjectBytes ?? Infinity);
    const first = await swap(store, bytesOf(30), undefined);
    const tag = await swap(store, bytesOf(length), first);
    const head = await headOf(store);
    equal([head.tag, head.bytes.length], [tag, length]);
    ok(isSame(head.bytes, bytesOf(length)), 'a large head has the bytes that were put');
  });
  add('does not change when buffers are reused', async (store) => {
    const buffer = bytesOf(30, 1);
    const tag = await swap(store, buffer, undefined);
    buffer.fill(0);
    const first = await headOf(store);
    await swap(store, bytesOf(30, 2), tag);
    await headOf(store);
    equal(first.bytes, bytesOf(30, 1));
  });
  add('is read with the tag of its bytes, while another client replaces it', async (store, place) => {
    const readers = await Promise.all(Array.from({ length: RACERS }, () => place.open()));
    let tag = await swap(store, bytesOf(40), undefined);
    const written = new Map([[tag, bytesOf(40)]]);
    for (let round = 1; round <= 2 * ROUNDS; round++) {
      let isSwapped = false;
      // The readers begin one after the other, so that the swap may fall between two requests of one of them.
      const reading = readers.map(async (reader, i) => {
        const heads: StoredHead[] = [];
        await steps(i);
        do {
          heads.push(await headOf(reader));
          if (!isSwapped) await nextTurn();
        } while (!isSwapped);
        return heads;
      });
      const swapping = steps(round)
        .then(() => swap(store, bytesOf(40, round), tag))
        .finally(() => {
          isSwapped = true;
        });
      const [next, heads] = await Promise.all([swapping, Promise.all(reading)]);
      tag = next;
      written.set(tag, bytesOf(40, round));
      for (const head of heads.flat())
        equal(head.bytes, written.get(head.tag), `bytes of the head that was read with the tag ${head.tag}`);
    }
  });
  add('is the new one or an error if the same swap is sent again', async (store) => {
    const first = await swap(store, bytesOf(30, 1), undefined);
    const second = await swap(store, bytesOf(30, 2), first);
    const again = await store.swapHead(bytesOf(30, 2), first).catch(() => undefined);
    const head = await headOf(store);
    equal(head.bytes, bytesOf(30, 2));
    ok(again === undefined || again === head.tag, 'a swap that is sent again has lost, or names the head that it made');
    await swap(store, bytesOf(30, 3), head.tag);
    ok(second !== first, 'the tags differ');
  });
}

function deletedHeadCases(add: AddStore): void {
  add('leaves the objects, and is deleted again without an error', async (store) => {
    await store.put(objectName(1), bytesOf(5));
    await deleteHead(store);
    await swap(store, bytesOf(20), undefined);
    for (let i = 0; i < 2; i++) await deleteHead(store);
    equal(await store.readHead(undefined), undefined, 'the deleted head');
    equal(await store.get(objectName(1), 0, 5), bytesOf(5));
  });
  add('is not replaced, and its tag never returns', async (store) => {
    const tags = [await swap(store, bytesOf(30), undefined)];
    for (let i = 1; i < 4; i++) {
      await deleteHead(store);
      equal(await store.swapHead(bytesOf(30, 99), tags.at(-1)), undefined, 'a swap of a deleted head');
      tags.push(await swap(store, bytesOf(30, i), undefined));
      equal(await store.swapHead(bytesOf(30, 99), tags.at(-2)), undefined, 'a swap that expects a deleted head');
      tags.push(await swap(store, bytesOf(30, i + 10), tags.at(-1)));
    }
    equal(new Set(tags).size, tags.length, 'number of different tags');
  });
}

function commitCases(add: AddStore): void {
  add('puts objects and swaps the head, or does neither to the head', async (store, place) => {
    const other = await place.open();
    const first = await swap(store, bytesOf(30, 1), undefined);
    const objects = [1, 2].map((i) => ({ name: objectName(i), bytes: bytesOf(50, i) }));
    const tag = await commit(store, objects, bytesOf(30, 2), first);
    equal(await headOf(other), { tag, bytes: bytesOf(30, 2) });
    equal(await Promise.all([1, 2].map((i) => other.get(objectName(i), 0, 50))), [bytesOf(50, 1), bytesOf(50, 2)]);
    const late = [{ name: objectName(3), bytes: bytesOf(50, 3) }];
    equal(await commit(store, late, bytesOf(30, 3), first), undefined, 'a commit that expects an old head');
    equal(await headOf(store), { tag, bytes: bytesOf(30, 2) });
  });
  add('shows a head only with its objects', async (store, place) => {
    const reader = await place.open();
    let tag = await swap(store, bytesOf(40), undefined);
    for (let round = 1; round <= ROUNDS; round++) {
      const object = { name: objectName(round), bytes: bytesOf(50, round) };
      let isDone = false;
      const committing = commit(store, [object], bytesOf(40, round), tag).finally(() => {
        isDone = true;
      });
      const reading = async (): Promise<void> => {
        for (;;) {
          const wasDone = isDone;
          if ((await headOf(reader)).tag !== tag) {
            equal(await reader.get(object.name, 0, 50), object.bytes, 'an object of the head that was read');
            return;
          }
          ok(!wasDone, 'the head is there once the commit has resolved');
          await nextTurn();
        }
      };
      const [next] = await Promise.all([committing, reading()]);
      tag = next ?? fail('a commit that expects the head that is there has won');
    }
  });
  add(`has one winner among ${RACERS}, whose objects are read`, async (store, place) => {
    let expected = await swap(store, bytesOf(30, 250), undefined);
    for (let round = 0; round < ROUNDS; round++) {
      const tags = await Promise.all(
        Array.from({ length: RACERS }, async (_, i) => {
          const number = round * RACERS + i;
          const object = { name: objectName(number), bytes: bytesOf(50, number) };
          return commit(await place.open(), [object], bytesOf(40, number), expected);
        }),
      );
      const won = tags.flatMap((tag, i) => (tag === undefined ? [] : [i]));
      equal(won.length, 1, `number of winners in round ${round}`);
      const number = round * RACERS + (won[0] as number);
      equal((await headOf(store)).bytes, bytesOf(40, number));
      equal(await store.get(objectName(number), 0, 50), bytesOf(50, number));
      expected = tags[won[0] as number] as string;
    }
  });
}

function watchCases(add: AddStore, hasCommit: boolean, timeoutMs: number): void {
  add('tells of new heads, until it is ended', async (store, place) => {
    const other = await place.open();
    let changes = 0;
    const failures: unknown[] = [];
    const stop = store.watch?.(
      () => {
        changes += 1;
      },
      (error) => failures.push(error),
    );
    ok(typeof stop === 'function', 'watch returns a function');
    try {
      const first = await swap(other, bytesOf(30, 1), undefined);
      await until(() => changes > 0, timeoutMs);
      let before = changes;
      let tag = await swap(other, bytesOf(30, 2), first);
      await until(() => changes > before, timeoutMs);
      if (hasCommit) {
        before = changes;
        tag = (await commit(other, [], bytesOf(30, 3), tag)) ?? fail('the commit has won');
        await until(() => changes > before, timeoutMs);
      }
      stop();
      const ended = changes;
      await swap(other, bytesOf(30, 4), tag);
      await nextTurn();
      equal(changes, ended, 'number of calls after the end');
      equal(failures, [], 'failures');
    } finally {
      stop();
    }
  });
  add('goes on if one of two watches with the same function is ended', async (store, place) => {
    const other = await place.open();
    let changes = 0;
    const changed = (): void => {
      changes += 1;
    };
    const failures: unknown[] = [];
    const failed = (error: unknown): void => void failures.push(error);
    const stops = [store.watch?.(changed, failed), store.watch?.(changed, failed)];
    try {
      stops[0]?.();
      const first = await swap(other, bytesOf(30, 1), undefined);
      await until(() => changes > 0, timeoutMs);
      const before = changes;
      await swap(other, bytesOf(30, 2), first);
      await until(() => changes > before, timeoutMs);
      equal(failures, [], 'failures');
    } finally {
      for (const stop of stops) stop?.();
    }
  });
}

function raceCases(add: AddStore, hasCommit: boolean): void {
  add(`for the first head and for every later one have one winner among ${RACERS}`, async (store, place) => {
    const clients = [store];
    while (clients.length < RACERS) clients.push(await place.open());
    let expected: string | undefined;
    for (let round = 0; round < ROUNDS; round++) {
      const tags = await Promise.all(
        clients.map((client, i) => client.swapHead(bytesOf(40, round * RACERS + i), expected)),
      );
      const won = tags.flatMap((tag, i) => (tag === undefined ? [] : [i]));
      equal(won.length, 1, `number of winners in round ${round}`);
      const winner = won[0] as number;
      equal(await headOf(clients[(winner + 1) % RACERS] as ObjectStore), {
        tag: tags[winner],
        bytes: bytesOf(40, round * RACERS + winner),
      });
      expected = tags[winner];
    }
  });
  add('lose no change, and no two winners get the same tag', async (store, place) => {
    const made = new Map([[await swap(store, Uint8Array.of(0), undefined), Uint8Array.of(0)]]);
    // Each client adds to the head that it has read.
    const client = async (number: number): Promise<void> => {
      const own = await place.open();
      for (let done = 0; done < 5; ) {
        const { tag, bytes } = await headOf(own);
        const head = made.get(tag);
        if (head !== undefined) equal(bytes, head, `bytes of the head that was made with the tag ${tag}`);
        const next = Uint8Array.of((bytes[0] as number) + 1, number, done);
        const object = { name: objectName(10 * number + done), bytes: bytesOf(5) };
        const isCommit = hasCommit && done % 2 === 1;
        const won = await (isCommit ? commit(own, [object], next, tag) : own.swapHead(next, tag));
        if (won === undefined) continue;
        ok(!made.has(won), `the tag ${won} is that of the own head, not of one that another client has made`);
        made.set(won, next);
        done += 1;
      }
    };
    await Promise.all([1, 2, 3, 4].map(client));
    equal((await headOf(store)).bytes[0], 20, 'number of changes');
  });
}

function fileSystemCases(add: AddStore): void {
  add('keeps what was written, for other clients too', async (store, place) => {
    const { fs, storage } = await openTree(store);
    await fs.mkdir('/a/b', { recursive: true });
    await fs.writeFile('/a/b/large', bytesOf(2_500_000));
    await fs.writeFile('/a/text', 'old');
    await fs.checkpoint('before');
    await fs.writeFile('/a/text', 'new');
    const other = await openTree(await place.open());
    equal(await other.fs.readText('/a/text'), 'new');
    const large = await other.fs.readFile('/a/b/large');
    ok(isSame(large, bytesOf(2_500_000)), 'a large file has its bytes');
    await other.fs.rollback('before');
    equal(await fs.readText('/a/text'), 'old');
    await other.storage.close();
    await storage.close();
  });
  add('applies a write once if the reply to its swap is lost', async (store, place) => {
    for (const isApplied of [true, false]) {
      const own = await place.open();
      let left = 0;
      const losing = async (swap: () => Promise<string | undefined>): Promise<string | undefined> => {
        left -= 1;
        if (left !== 0) return swap();
        if (isApplied) await swap();
        throw new StorageError('unavailable', 'The reply was lost');
      };
      const commit = own.commit?.bind(own);
      const { fs, storage } = await openTree(
        alteredStore(own, {
          swapHead: (...what) => losing(() => own.swapHead(...what)),
          ...(commit === undefined ? {} : { commit: (...what) => losing(() => commit(...what)) }),
        }),
      );
      await fs.writeFile('/log', '');
      left = 1;
      await fs.appendFile('/log', 'once');
      equal(await (await openTree(store)).fs.readText('/log'), 'once');
      await storage.close();
    }
  });
  add('loses nothing while garbage is collected, and frees what is replaced', async (store, place) => {
    const writers = 2;
    const { fs, storage } = await openTree(store);
    for (let w = 0; w < writers; w++) await fs.writeFile(`/log${w}`, '');
    let isDone = false;
    let deleted = 0;
    const collect = async (): Promise<void> => {
      const collector = await openTree(await place.open());
      while (!isDone) deleted += (await collector.storage.collectGarbage()).deleted;
      deleted += (await collector.storage.collectGarbage()).deleted;
      await collector.storage.close();
    };
    const write = async (w: number): Promise<void> => {
      const own = await openTree(await place.open());
      for (let i = 0; i < 8; i++) await own.fs.appendFile(`/log${w}`, `${i},`);
      await own.storage.close();
    };
    const collecting = collect();
    await Promise.all(Array.from({ length: writers }, (_, w) => write(w))).finally(() => {
      isDone = true;
    });
    await collecting;
    for (let w = 0; w < writers; w++) equal(await fs.readText(`/log${w}`), '0,1,2,3,4,5,6,7,');
    ok(deleted > 0, 'something was deleted');
    await storage.close();
  });
}

function deletedFileSystemCases(add: AddStore): void {
  add('has no objects left, and the one beside it is there', async (store, place) => {
    const beside = await openTree(await place.open(true));
    await beside.fs.writeFile('/f', 'stays');
    const { fs, storage } = await openTree(await place.open());
    await fs.writeFile('/f', 'x');
    await storage.destroy();
    const left: string[] = [];
    for (const prefix of ['objects/', 'forks/', 'trash/', 'turn']) left.push(...(await listAll(store, prefix)));
    equal([await store.readHead(undefined), left], [undefined, []]);
    equal(await beside.fs.readText('/f'), 'stays');
    await storage.close();
    await beside.storage.close();
  });
}

/** Opens a filesystem on a storage that caches no bytes of objects. */
async function openTree(store: ObjectStore) {
  const storage = objectTreeStorage(store, { maxCacheBytes: 0 });
  return { storage, fs: await openFileSystem(storage) };
}

function objectName(number: number): string {
  return `objects/1-${number}-0-${ID}`;
}

function bytesOf(length: number, first = 0): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = (i + first) % 251;
  return bytes;
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

async function putMany(store: ObjectStore, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, i) => objectName(i));
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await store.put(names[next++] as string, bytesOf(5));
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return names.sort();
}

/** Returns all names with a prefix, sorted, each once. */
async function listAll(store: ObjectStore, prefix: string): Promise<string[]> {
  return namesOf(await pagesOf(store, prefix, undefined));
}

async function pagesOf(store: ObjectStore, prefix: string, cursor: string | undefined): Promise<NamePage[]> {
  const pages: NamePage[] = [];
  for (let next = cursor; pages.length < 10_000; next = pages.at(-1)?.cursor) {
    pages.push(await store.list(prefix, next));
    if (pages.at(-1)?.cursor === undefined) return pages;
  }
  return fail('a listing has no end');
}

function namesOf(pages: readonly NamePage[]): string[] {
  return [...new Set(pages.flatMap(({ names }) => names))].sort();
}

/** Calls the optional method `commit`. */
async function commit(
  store: ObjectStore,
  objects: readonly StoredObject[],
  head: Uint8Array,
  expected: string,
): Promise<string | undefined> {
  return store.commit === undefined ? fail('the store has no commit') : store.commit(objects, head, expected);
}

/** Calls the optional method `deleteHead`. */
async function deleteHead(store: ObjectStore): Promise<void> {
  await (store.deleteHead === undefined ? fail('the store has no deleteHead') : store.deleteHead());
}

/** Replaces the head, which must succeed. */
async function swap(store: ObjectStore, bytes: Uint8Array, expected: string | undefined): Promise<string> {
  const tag = await store.swapHead(bytes, expected);
  ok(typeof tag === 'string', 'a swap of the head that is there returns a tag');
  return tag;
}

async function headOf(store: ObjectStore): Promise<StoredHead> {
  const head = await store.readHead(undefined);
  if (typeof head !== 'object') return fail(`there is a head, not ${head}`);
  return { tag: head.tag, bytes: head.bytes };
}

/** Waits until a condition holds, and fails if it does not within the time. */
async function until(isTrue: () => boolean, timeoutMs: number): Promise<void> {
  for (const end = performance.now() + timeoutMs; !isTrue(); ) {
    if (performance.now() > end) fail(`no watcher was called within ${timeoutMs} ms`);
    await nextTurn();
  }
}

/** Waits for a number of turns of the microtask queue. */
async function steps(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await undefined;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
