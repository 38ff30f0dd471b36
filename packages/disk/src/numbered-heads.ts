import { randomBytes } from 'node:crypto';
import { link, open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { StorageError } from '@scratchfs/core';
import type { StoredHead } from '@scratchfs/core/object-tree';
import { hasCode, unlinkIfPresent } from './disk-errors.js';
import { fileIdentity, readIdentified, type StoreDirectory } from './store-directory.js';

/** Minimum number of older heads that are kept besides the current one. */
const KEPT_HEADS = 32;
/** Commits between two deletions of older heads. */
const CLEANING_INTERVAL = 16;
/** Attempts to read or delete a head while others replace it. */
const MAX_ATTEMPTS = 100;

const FORMAT_VERSION = 1;
/** First line of a head: format, version, kind, and a random text that no other head has. */
const FIRST_LINE = /^scratchfs-disk (\d{1,9}) (head|deleted) ([0-9a-f]{32})\n/;
const FIRST_LINE_BYTES = 80;

interface HeadName {
  readonly number: number;
  /** Random text of this head. */
  readonly id: string;
}

interface Current extends HeadName {
  /** Undefined if the filesystem was deleted. */
  readonly bytes: Uint8Array | undefined;
  /** Identity of the file; see `fileIdentity`. */
  readonly identity: string;
}

/**
 * The heads of a filesystem: files named 1, 2, 3 …; the greatest number is the current one. The file n + 1 is created
 * by `link`, which fails if the name exists, so of several writers that have seen n only one succeeds. No lock is
 * needed, and no writer that was killed or stopped can block others.
 *
 * Older heads are deleted, which could let a writer that slept create a number for the second time. The writer does not
 * report that as a success: heads are deleted in ascending order, so as long as n is there, n + 1 was never deleted.
 * The writer therefore looks for n, with its random text, after it has created n + 1. If n is gone, the outcome is
 * unknown. The last head is never deleted: deleting a filesystem creates a head that says so.
 */
export class NumberedHeads {
  readonly #directory: StoreDirectory;
  /** The head that was read or written last, and the identity of its file. */
  #latest: { readonly tag: string; readonly identity: string } | undefined;

  constructor(directory: StoreDirectory) {
    this.#directory = directory;
  }

  async read(known: string | undefined): Promise<StoredHead | 'unchanged' | undefined> {
    if (known !== undefined && (await this.#isCurrent(known))) return 'unchanged';
    const current = await this.#current();
    if (current?.bytes === undefined) return undefined;
    const tag = tagOf(current);
    this.#latest = { tag, identity: current.identity };
    return tag === known ? 'unchanged' : { tag, bytes: current.bytes };
  }

  /**
   * Reports whether a head is certainly the current one, by two calls instead of a listing and a read. The next number
   * is looked for first: heads are deleted in ascending order, so if the head is there afterwards, the next one had not
   * been created before.
   */
  async #isCurrent(tag: string): Promise<boolean> {
    const latest = this.#latest;
    if (latest?.tag !== tag) return false;
    const { number } = parseTag(tag);
    if ((await fileIdentity(this.#path(number + 1))) !== undefined) return false;
    return (await fileIdentity(this.#path(number))) === latest.identity;
  }

  /** See `ObjectStore.swapHead`. */
  async swap(bytes: Uint8Array, expected: string | undefined): Promise<string | undefined> {
    if (expected !== undefined) return this.#append(parseTag(expected), 'head', bytes);
    const current = await this.#current();
    if (current?.bytes !== undefined) return undefined;
    return this.#append(current, 'head', bytes);
  }

  async delete(): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const current = await this.#current();
      if (current?.bytes === undefined) return;
      if ((await this.#append(current, 'deleted', new Uint8Array(0))) !== undefined) return;
    }
    throw new StorageError('conflict', 'Other processes replaced the head each time before it could be deleted');
  }

  /** Creates the head after `previous`, and returns its tag; undefined if another writer has created one. */
  async #append(
    previous: HeadName | undefined,
    kind: 'head' | 'deleted',
    bytes: Uint8Array,
  ): Promise<string | undefined> {
    await this.#directory.exists();
    const number = (previous?.number ?? 0) + 1;
    const id = randomBytes(16).toString('hex');
    const line = Buffer.from(`scratchfs-disk ${FORMAT_VERSION} ${kind} ${id}\n`);
    const path = this.#path(number);
    let isSent = false;
    let identity = '';
    try {
      const isCreated = await this.#directory.write(
        this.#directory.heads,
        Buffer.concat([line, bytes]),
        async (temporary) => {
          let isLinked = true;
          try {
            await link(temporary.path, path);
            isSent = true;
          } catch (error) {
            if (!hasCode(error, 'EEXIST')) throw error;
            isSent = true;
            // A network filesystem may repeat a call whose reply was lost, and finds the name that it has created.
            isLinked = (await this.#idOf(number)) === id;
          }
          await unlink(temporary.path).catch(() => {});
          if (isLinked) identity = temporary.identity;
          return isLinked;
        },
      );
      if (!isCreated) return undefined;
      if (!(await this.#wasNeverDeleted(number, previous))) throw new Error('Many other commits have happened since');
    } catch (error) {
      if (!isSent) throw error;
      throw new StorageError('unavailable', 'It is unknown whether the head of the filesystem was replaced', {
        retryable: false,
        mayHaveHappened: true,
        cause: error,
      });
    }
    if (number % CLEANING_INTERVAL === 0) await this.#clean(number);
    const tag = tagOf({ number, id });
    this.#latest = { tag, identity };
    return tag;
  }

  /** Reports whether the number of a head that was just created had certainly not been used before. */
  async #wasNeverDeleted(number: number, previous: HeadName | undefined): Promise<boolean> {
    if (previous !== undefined) return (await this.#idOf(previous.number)) === previous.id;
    // The first deletion happens when there are more heads than are kept.
    return Math.max(number, ...(await this.#numbers())) <= KEPT_HEADS;
  }

  async #current(): Promise<Current | undefined> {
    if (!(await this.#directory.exists())) return undefined;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const number = Math.max(0, ...(await this.#numbers()));
      if (number === 0) return undefined;
      try {
        const { identity, bytes } = await readIdentified(this.#path(number));
        return { ...parseHead(number, bytes), identity };
      } catch (error) {
        // Many commits have happened since the listing.
        if (!hasCode(error, 'ENOENT')) throw error;
      }
    }
    throw new StorageError('unavailable', 'Other processes replaced the head each time before it could be read', {
      mayHaveHappened: false,
    });
  }

  async #numbers(): Promise<number[]> {
    try {
      const names = await readdir(this.#directory.heads);
      return names.filter((name) => /^[1-9]\d{0,15}$/.test(name)).map(Number);
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return [];
      throw error;
    }
  }

  /** Returns the random text of a head; undefined if it does not exist or its first line is damaged. */
  async #idOf(number: number): Promise<string | undefined> {
    try {
      const file = await open(this.#path(number), 'r');
      try {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(FIRST_LINE_BYTES), 0, FIRST_LINE_BYTES, 0);
        return FIRST_LINE.exec(buffer.toString('latin1', 0, bytesRead))?.[3];
      } finally {
        await file.close();
      }
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined;
      throw error;
    }
  }

  /** Deletes older heads, in ascending order. */
  async #clean(current: number): Promise<void> {
    try {
      const old = (await this.#numbers()).filter((number) => number < current - KEPT_HEADS);
      for (const number of old.sort((a, b) => a - b)) await unlinkIfPresent(this.#path(number));
    } catch {
      // The commit has succeeded; a later one deletes them.
    }
  }

  #path(number: number): string {
    return join(this.#directory.heads, String(number));
  }
}

const tagOf = ({ number, id }: HeadName): string => `${number}-${id}`;

function parseTag(tag: string): HeadName {
  const [number, id = ''] = tag.split('-');
  return { number: Number(number), id };
}

/** @throws StorageError `version` for a head of another format, `corrupt` for anything else that is not a head */
function parseHead(number: number, file: Buffer): Omit<Current, 'identity'> {
  const found = FIRST_LINE.exec(file.toString('latin1', 0, FIRST_LINE_BYTES));
  if (found === null) throw new StorageError('corrupt', `The head ${number} of the filesystem is damaged`);
  if (Number(found[1]) !== FORMAT_VERSION) {
    throw new StorageError(
      'version',
      `The filesystem has format ${found[1]} of the disk storage; this version reads format ` +
        `${FORMAT_VERSION}. Update @scratchfs/disk`,
    );
  }
  const bytes = found[2] === 'deleted' ? undefined : new Uint8Array(file.subarray(found[0].length));
  return { number, id: found[3] as string, bytes };
}
