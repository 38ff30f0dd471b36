import { isFileSystemName } from '@scratchfs/core/internal';
import type { NamePage, ObjectStore, StoredHead } from '@scratchfs/core/object-tree';
import type { R2BucketBinding, R2Listing } from './r2-bucket.js';
import { toStorageError } from './r2-errors.js';

/** Prefix of every key. */
const ROOT = 'scratchfs/';
/** Names beside the objects, which `list` leaves out. An `S3Storage` may have left a probe. */
const HEAD_NAMES: readonly string[] = ['probe', 'head'];

/**
 * Stores the objects of a filesystem, and its head, as objects of a bucket. The keys are those of an `S3Storage` with
 * the prefix `scratchfs/<name>/`, which can therefore open the same filesystem through R2's S3 interface.
 */
export class R2ObjectStore implements ObjectStore {
  readonly #bucket: R2BucketBinding;
  readonly #prefix: string;

  constructor(bucket: R2BucketBinding, name: string) {
    this.#bucket = bucket;
    this.#prefix = `${ROOT}${name}/`;
  }

  async get(name: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    if (length === 0) return new Uint8Array(0);
    try {
      const found = await this.#bucket.get(this.#key(name), { range: { offset, length } });
      return found?.arrayBuffer && new Uint8Array(await found.arrayBuffer());
    } catch (error) {
      // A range that begins past the end is an error: with code 10039 in R2, without a code in miniflare.
      const size = (await attempt(() => this.#bucket.head(this.#key(name))))?.size;
      if (size !== undefined && size <= offset) return new Uint8Array(0);
      throw toStorageError(error);
    }
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    await attempt(() => this.#bucket.put(this.#key(name), bytes));
  }

  delete(names: readonly string[]): Promise<void> {
    return attempt(() => this.#bucket.delete(names.map((name) => this.#key(name))));
  }

  async list(prefix: string, cursor: string | undefined): Promise<NamePage> {
    const page = await listPage(this.#bucket, { prefix: this.#key(prefix) }, cursor);
    const names = page.objects.map(({ key }) => key.slice(this.#prefix.length));
    return { names: names.filter((name) => !HEAD_NAMES.includes(name)), cursor: cursorOf(page) };
  }

  async readHead(known: string | undefined): Promise<StoredHead | 'unchanged' | undefined> {
    return attempt(async () => {
      const condition = known === undefined ? {} : { onlyIf: { etagDoesNotMatch: known } };
      const found = await this.#bucket.get(this.#key('head'), condition);
      if (found === null) return undefined;
      if (found.arrayBuffer === undefined) return 'unchanged';
      return { tag: found.etag, bytes: new Uint8Array(await found.arrayBuffer()) };
    });
  }

  async swapHead(bytes: Uint8Array, expected: string | undefined): Promise<string | undefined> {
    const onlyIf = expected === undefined ? { etagDoesNotMatch: '*' } : { etagMatches: expected };
    return (await attempt(() => this.#bucket.put(this.#key('head'), bytes, { onlyIf })))?.etag;
  }

  deleteHead(): Promise<void> {
    return this.delete(HEAD_NAMES);
  }

  #key(name: string): string {
    return `${this.#prefix}${name}`;
  }
}

/** Returns the names of the filesystems in a bucket, sorted. */
export async function listFileSystems(bucket: R2BucketBinding): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await listPage(bucket, { prefix: ROOT, delimiter: '/' }, cursor);
    const names = page.delimitedPrefixes.map((prefix) => prefix.slice(ROOT.length, -1)).filter(isFileSystemName);
    for (const name of names) {
      // Objects without a head are not a filesystem. They may be left over from a deletion.
      if ((await attempt(() => bucket.head(`${ROOT}${name}/head`))) !== null) found.push(name);
    }
    cursor = cursorOf(page);
  } while (cursor !== undefined);
  return found.sort();
}

function listPage(
  bucket: R2BucketBinding,
  options: { readonly prefix: string; readonly delimiter?: string },
  cursor: string | undefined,
): Promise<R2Listing> {
  return attempt(() => bucket.list(cursor === undefined ? options : { ...options, cursor }));
}

function cursorOf({ truncated, cursor }: R2Listing): string | undefined {
  return truncated ? cursor : undefined;
}

async function attempt<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw toStorageError(error);
  }
}
