import { createHash } from 'node:crypto';
import {
  type CallOptions,
  type FileSystem,
  isFsError,
  type NewEntry,
  StorageError,
  systemClock,
} from '@scratchfs/core';
import type { ContentRef } from '../delta/delta-node.js';

/** Maximum number of bytes of stored contents that are kept in memory. */
const MAX_BYTES = 16 * 2 ** 20;

/**
 * Age in milliseconds of a content at which its time is renewed: much less than the default grace period of garbage
 * collection.
 */
export const RENEWAL_MS = 600_000;

/** The folder that is created last: if it exists, all do. */
const LAST_FOLDER = '/contents/f/f';

/** Maximum number of contents, and their bytes, that are stored in one step with a record. */
const MAX_FILES_PER_STEP = 16;
const MAX_BYTES_PER_STEP = 2 ** 20;

/** Returns the SHA-256 of a content in hexadecimal, its name in the store. */
export function hashOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Contents of files, kept by hash in a folder of the store. */
export class Contents {
  readonly #store: FileSystem;
  readonly #recent = new Map<string, Uint8Array>();
  /**
   * Contents that were added and not stored since. `holders` has the set of hashes of each call that may still need the
   * content.
   */
  readonly #pending = new Map<string, { readonly bytes: Uint8Array; readonly holders: Set<ReadonlySet<string>> }>();
  #bytes = 0;
  #hasFolders = false;

  constructor(store: FileSystem) {
    this.#store = store;
  }

  /**
   * Takes a content, without a copy. It can be read immediately, and is stored later, by {@link Contents.save} or with
   * {@link Contents.toStore}.
   * @param hashes receives the hash. A content that several calls have added stays until it is stored, or all have
   *   dropped it
   */
  add(bytes: Uint8Array, hashes: Set<string>): ContentRef {
    const hash = hashOf(bytes);
    let pending = this.#pending.get(hash);
    if (pending === undefined) this.#pending.set(hash, (pending = { bytes, holders: new Set() }));
    pending.holders.add(hashes.add(hash));
    return { hash, size: bytes.length };
  }

  /** Stores contents that were added. They stay readable. */
  async save(hashes: Iterable<string>, options: CallOptions = {}): Promise<void> {
    const saved: string[] = [];
    const writes: Promise<void>[] = [];
    for (const hash of new Set(hashes)) {
      const bytes = this.#pending.get(hash)?.bytes;
      if (bytes === undefined) continue;
      saved.push(hash);
      writes.push(this.#write(hash, bytes, options));
      if (writes.length === 64) await Promise.all(writes.splice(0));
    }
    await Promise.all(writes);
    this.stored(saved);
  }

  /**
   * Returns contents that were added, as files to be stored in one step with the record that names them; call
   * {@link Contents.stored} then. If they are too many or too large for one step, stores them now and returns none.
   */
  async toStore(hashes: Iterable<string>, options: CallOptions = {}): Promise<readonly NewEntry[]> {
    const entries: NewEntry[] = [];
    let bytes = 0;
    for (const hash of new Set(hashes)) {
      const content = this.#pending.get(hash)?.bytes;
      if (content === undefined) continue;
      bytes += content.length;
      entries.push({ path: pathOf(hash), content });
    }
    if (entries.length > MAX_FILES_PER_STEP || bytes > MAX_BYTES_PER_STEP) {
      await this.save(hashes, options);
      return [];
    }
    if (entries.length > 0 && !this.#hasFolders) {
      if (!(await this.#store.exists(LAST_FOLDER, options))) await this.#makeFolders(options);
      this.#hasFolders = true;
    }
    return entries;
  }

  /** Marks contents as stored. They stay readable. */
  stored(hashes: Iterable<string>): void {
    for (const hash of hashes) {
      const bytes = this.#pending.get(hash)?.bytes;
      this.#pending.delete(hash);
      if (bytes !== undefined) this.#remember(hash, bytes);
    }
  }

  /** Forgets contents that a call has added and does not need, unless another call has added them too. */
  drop(hashes: ReadonlySet<string>): void {
    for (const hash of hashes) {
      const holders = this.#pending.get(hash)?.holders;
      if (holders?.delete(hashes) === true && holders.size === 0) this.#pending.delete(hash);
    }
  }

  /** @throws StorageError `corrupt` if the content is missing or damaged */
  async read(hash: string, options: CallOptions = {}): Promise<Uint8Array> {
    const known = this.#pending.get(hash)?.bytes ?? this.#recent.get(hash);
    if (known !== undefined) return known;
    let bytes: Uint8Array;
    try {
      bytes = await this.#store.readFile(pathOf(hash), options);
    } catch (error) {
      if (!isFsError(error, 'ENOENT')) throw error;
      throw new StorageError('corrupt', `The content ${hash} is missing in the store of the workspace`);
    }
    if (hashOf(bytes) !== hash)
      throw new StorageError('corrupt', `The content ${hash} is damaged in the store of the workspace`);
    this.#remember(hash, bytes);
    return bytes;
  }

  async #write(hash: string, bytes: Uint8Array, options: CallOptions): Promise<void> {
    const path = pathOf(hash);
    try {
      await this.#store.writeFile(path, bytes, { ...options, flag: 'wx' });
    } catch (error) {
      if (isFsError(error, 'EEXIST')) return this.#renew(hash, bytes, options);
      if (!isFsError(error, 'ENOENT')) throw error;
      await this.#makeFolders(options);
      await this.#write(hash, bytes, options);
    }
  }

  /**
   * Creates the folders of all contents, in one step if the store has transactions: creating them one by one made the
   * first changes twice as slow.
   */
  async #makeFolders(options: CallOptions): Promise<void> {
    const make = async (store: FileSystem): Promise<void> => {
      for (let i = 0; i < 256; i++) await store.mkdir(folderOf(i.toString(16).padStart(2, '0')), { recursive: true });
    };
    if (this.#store.capabilities.transactions) await this.#store.transaction(make, options);
    else await make(this.#store);
  }

  /** Sets the time of an old content to now, so that garbage collection does not delete it before a record names it. */
  async #renew(hash: string, bytes: Uint8Array, options: CallOptions): Promise<void> {
    const now = systemClock();
    try {
      const { mtimeMs } = await this.#store.stat(pathOf(hash), options);
      if (now - mtimeMs > RENEWAL_MS) await this.#store.utimes(pathOf(hash), now / 1000, now / 1000, options);
    } catch (error) {
      if (!isFsError(error, 'ENOENT')) throw error;
      await this.#write(hash, bytes, options);
    }
  }

  #remember(hash: string, bytes: Uint8Array): void {
    if (bytes.length > MAX_BYTES / 4 || this.#recent.has(hash)) return;
    this.#recent.set(hash, bytes);
    this.#bytes += bytes.length;
    for (const [oldest, { length }] of this.#recent) {
      if (this.#bytes <= MAX_BYTES) break;
      this.#recent.delete(oldest);
      this.#bytes -= length;
    }
  }
}

/** Returns a content, or undefined if it is missing or damaged in the store. */
export async function ifReadable<T>(content: Promise<T>): Promise<T | undefined> {
  try {
    return await content;
  } catch (error) {
    if (error instanceof StorageError && error.kind === 'corrupt') return undefined;
    throw error;
  }
}

function pathOf(hash: string): string {
  return `${folderOf(hash)}/${hash}`;
}

/**
 * Returns the folder of contents by the first two digits of their hash: 16 folders with 16 folders each. A commit to a
 * disk writes all names of each folder above a new file: with 256 folders in one, that took a sixth of the time of an
 * edit.
 */
function folderOf(hash: string): string {
  return `/contents/${hash[0]}/${hash[1]}`;
}
